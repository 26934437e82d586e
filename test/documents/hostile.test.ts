import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openDocumentEngine } from '#/adapters/inference/documents.ts';
import { DocumentFault, type DocumentEngine, type DocumentFile } from '#/ports/documents.ts';
import { startDocumentEngine, type EngineProcess } from '../harness/document-engine.ts';
import { letter } from '../harness/pdfs.ts';
import { HOSTILE } from './hostile-files.ts';

const STEP_SECONDS = 10;
const JOB_SECONDS = 60;
/**
 * Of the process while it works, and when it rests again: what ended threads have freed is not all given back. A second
 * and a third time of all these files add some hundred at most.
 */
const MOST_MIB = 3072;
const RESTING_MIB = 1152;
/** Seconds of processors that reading and rewriting may take together, whatever the file says. */
const MOST_WORK = 24;
/** A job that is ended is ended by a clock that looks now and then. */
const GRACE_SECONDS = 5;

const { signal } = new AbortController();

describe('hostile files', () => {
  let process: EngineProcess;
  let engine: DocumentEngine & { close(): Promise<void> };
  beforeAll(async () => {
    process = await startDocumentEngine({
      GW_INFERENCE_STEP_SECONDS: String(STEP_SECONDS),
      GW_INFERENCE_JOB_SECONDS: String(JOB_SECONDS),
      GW_INFERENCE_MAX_RSS_MIB: String(MOST_MIB - 512),
    });
    engine = openDocumentEngine({ url: () => process.url });
    await process.ready();
  });
  afterAll(async () => {
    await engine.close();
    await process.stop();
  });

  test.each(HOSTILE)(
    '$what: ends as it is documented, within its time and memory, and the next one is served',
    async ({ name, make, ends }) => {
      const file: DocumentFile = { name, mediaType: 'application/octet-stream', bytes: await make() };
      const begun = performance.now();
      const workBefore = work();
      const end = await anonymize(file);
      const worked = work() - workBefore;
      const seconds = (performance.now() - begun) / 1000;
      const next = await engine.read(fileOf(await letter(['Good morning'])), { recognize: 'never' }, signal);
      expect(ends).toContain(end);
      expect(next.units.map(({ text }) => text)).toContain('Good morning');
      // Reading and rewriting are a job each.
      expect(seconds).toBeLessThan(2 * (JOB_SECONDS + GRACE_SECONDS));
      expect(worked, 'seconds of processors').toBeLessThan(MOST_WORK);
      expect(memory('VmHWM')).toBeLessThan(MOST_MIB);
    },
    200_000,
  );

  test('the process is the one that it was, and has let go of its memory', async () => {
    await expect.poll(() => memory('VmRSS'), { timeout: 30_000 }).toBeLessThan(RESTING_MIB);
    expect(process.log.join('\n')).not.toMatch(/Ada|Hello/);
    expect((await fetch(`${process.url}/livez`)).status).toBe(200);
  });

  /** Reads, rewrites with nothing to replace, and tells how that ended. */
  async function anonymize(file: DocumentFile): Promise<string> {
    try {
      const { layout } = await engine.read(file, { recognize: 'auto' }, signal);
      const { bytes } = await engine.redact(file, { layout, replacements: [], originals: [] }, signal);
      expect(Buffer.from(bytes).includes('Ada Lovelace')).toBe(false);
      return 'done';
    } catch (error) {
      if (error instanceof DocumentFault) return error.kind;
      throw error;
    }
  }

  /** Seconds that the engine's process has had of all processors. */
  function work(): number {
    const fields = readFileSync(`/proc/${process.pid}/stat`, 'utf8')
      .replace(/^.*\) /, '')
      .split(' ');
    return (Number(fields[11]) + Number(fields[12])) / 100;
  }

  /** Mebibytes of the engine's process: the most it had since it began, or what it has. */
  function memory(field: 'VmHWM' | 'VmRSS'): number {
    const status = readFileSync(`/proc/${process.pid}/status`, 'utf8');
    return Number(new RegExp(`${field}:\\s*(\\d+)`).exec(status)?.[1]) / 1024;
  }
});

const fileOf = (bytes: Uint8Array): DocumentFile => ({ name: 'a.pdf', mediaType: 'application/pdf', bytes });
