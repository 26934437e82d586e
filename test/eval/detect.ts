import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { createDecodedScanner } from '#/inspect/decoding/decoded-scanner.ts';
import { scoreDetection } from './detectors.ts';

/**
 * The detectors alone, as JSON: `node test/eval/detect.ts --data DIR --out FILE`, with
 * `--beside OTHER/src/inspect/detectors/scanner.ts` to measure an older checkout in the same run; `--misses KIND` lists
 * what goes wrong.
 */
const { values: options } = parseArgs({
  options: {
    data: { type: 'string', default: path.join(import.meta.dirname, '../../../shared/data') },
    out: { type: 'string', default: path.join(import.meta.dirname, '../../eval-results/detectors.json') },
    beside: { type: 'string' },
    corpus: { type: 'string', default: 'pii/synth_eu.dev.jsonl.gz' },
    misses: { type: 'string' },
  },
});

const { data, corpus, misses } = options;
const report: Record<string, object> = {
  own: scoreDetection(createDecodedScanner(), data, { corpus, ...(misses !== undefined && { misses }) }),
};
if (options.beside !== undefined) {
  const other = (await import(pathToFileURL(path.resolve(options.beside)).href)) as {
    readonly createScanner: typeof createDecodedScanner;
  };
  report['beside'] = scoreDetection(other.createScanner(), data, { corpus });
}
mkdirSync(path.dirname(options.out), { recursive: true });
writeFileSync(options.out, `${JSON.stringify(report, null, 2)}\n`);
process.stdout.write(`${JSON.stringify(report, null, 1)}\n`);
