import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { compile } from '#/config/compile/compile.ts';
import { parseYaml } from '#/config/folder/yaml-documents.ts';
import { law, type PureTarget } from './pure-target.ts';

const SAMPLES = join(import.meta.dirname, '../../k8s/samples');
const SETTINGS = { usdToEur: '0.92', secretFile: () => 'secret-value', platformNamespace: 'gatewarden' };
/** Longest message about a fault; it may name a field of the caller's, never repeat its text. */
const LONGEST_MESSAGE = 2_000;

/** Resources as YAML: a snapshot, or faults that say where; never an exception, and the same the second time. */
export const resources: PureTarget = {
  name: 'resources',
  async corpus() {
    const files = globSync('**/*.yaml', { cwd: SAMPLES });
    return files.map((file) => readFileSync(join(SAMPLES, file)));
  },
  async run(data) {
    const { documents, faults } = await parseYaml('input.yaml', data.toString('utf8'));
    const first = compile(documents, SETTINGS);
    const again = compile(documents, SETTINGS);
    law(first.snapshot?.revision === again.snapshot?.revision, 'the same resources have two revisions');
    law((first.snapshot === undefined) === (first.faults !== undefined), 'neither a snapshot nor faults');
    for (const { message } of [...faults, ...(first.faults ?? [])]) {
      law(message.length <= LONGEST_MESSAGE, 'a fault is told at length');
      law(!message.includes('secret-value'), 'a fault tells a secret');
    }
  },
};
