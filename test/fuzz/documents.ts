import { readFileSync } from 'node:fs';
import { openDocumentEngine } from '#/adapters/inference/documents.ts';
import { DocumentFault, type DocumentEngine, type DocumentFile, type Replacement } from '#/ports/documents.ts';
import { unpacked } from '../documents/leaks/means.ts';
import { readings } from '../documents/leaks/search.ts';
import { startDocumentEngine, type EngineProcess } from '../harness/document-engine.ts';
import { randomFor, type Random } from '../harness/random.ts';
import { documentSeeds, seedOf, type DocumentSeed } from './document-seeds.ts';
import type { FuzzLimits, FuzzReport } from './http-targets.ts';
import { mutateDocument } from './mutate-document.ts';

const JOB_SECONDS = 40;
/** A job that is ended is ended by a clock that looks now and then, on a machine that is busy. */
const GRACE_SECONDS = 20;
/** Of the engine's process, whatever it is handed. */
const MOST_MIB = 3072;
const MOST_FAULTS = 10;
/** Recognizing text takes seconds: most attempts go without. */
const RECOGNIZED = 0.02;
/** Documents that were changed and could still be read; changes begin with them too. */
const MOST_KEPT = 400;

/** Changed documents of every format, read, drawn and rewritten by an engine. */
export async function fuzzDocuments({ seed, seconds, attempts }: FuzzLimits): Promise<FuzzReport> {
  const corpus = [...(await documentSeeds())];
  const given = corpus.length;
  const world = await startWorld();
  try {
    const end = performance.now() + seconds * 1000;
    let made = 0;
    while (made < attempts && performance.now() < end && world.faults.size < MOST_FAULTS) {
      const random = randomFor(seed, `document ${made}`);
      const base = made < given ? corpus[made] : random.weighted(corpus);
      if (!base) throw new Error('there is no document to begin with');
      const bytes = Buffer.from(base.file.bytes);
      const changed = { ...base.file, bytes: mutateDocument(bytes, random) };
      const next = made < given ? base : seedOf(changed, base.secrets);
      const isRead = await world.attempt(next, `document ${made} of seed ${seed}, ${base.file.name}`, random);
      if (isRead && made >= given && corpus.length < MOST_KEPT && random.chance(0.2)) corpus.push(next);
      made += 1;
    }
    return { attempts: made, faults: [...world.faults.values()], outcomes: world.outcomes };
  } finally {
    await world.close();
  }
}

interface DocumentWorld {
  /** What did not hold so far, each once. */
  readonly faults: ReadonlyMap<string, string>;
  /** How attempts ended, and how often. */
  readonly outcomes: Readonly<Record<string, number>>;
  /** Whether the document could be read. */
  attempt(seed: DocumentSeed, where: string, random: Random): Promise<boolean>;
  close(): Promise<void>;
}

async function startWorld(): Promise<DocumentWorld> {
  const faults = new Map<string, string>();
  const outcomes: Record<string, number> = {};
  const engine = await startDocumentEngine({
    GW_INFERENCE_JOB_SECONDS: String(JOB_SECONDS),
    GW_INFERENCE_STEP_SECONDS: String(JOB_SECONDS / 2),
    GW_INFERENCE_MAX_RSS_MIB: String(MOST_MIB - 512),
  });
  await engine.ready();
  const documents = openDocumentEngine({ url: () => engine.url });
  return {
    faults,
    outcomes,
    async attempt(seed, where, random) {
      const heard = engine.log.length;
      const fault = (kind: string, detail = ''): void => {
        const input = Buffer.from(seed.file.bytes).toString('base64');
        if (!faults.has(kind)) faults.set(kind, `${where}: ${kind} ${detail}\n${input.slice(0, 20_000)}`);
      };
      const begun = performance.now();
      const outcome = await outcomeOf(documents, seed, random, fault);
      const took = (performance.now() - begun) / 1000;
      const said = engine.log.slice(heard).join('\n');
      const why = /"cause":"(\w+)"/.exec(said)?.[1];
      const killed = /"worker.killed","reason":"(\w+)"/.exec(said)?.[1];
      const name = [outcome, why, killed].filter((one) => one !== undefined).join(' ');
      outcomes[name] = (outcomes[name] ?? 0) + 1;
      if (killed === 'crash') fault('a thread crashed', said);
      // To read, to draw, to rewrite and to read again are a job each.
      if (took > 4 * (JOB_SECONDS + GRACE_SECONDS)) fault('took longer than it may', `${Math.round(took)} s`);
      if (memoryOf(engine) > MOST_MIB) fault('the engine has more memory than it may', `${memoryOf(engine)} MiB`);
      if (seed.secrets.some((secret) => said.includes(secret))) fault('the log tells what a document says', said);
      return outcome === 'done';
    },
    async close() {
      await documents.close();
      await engine.stop();
    },
  };
}

const { signal } = new AbortController();
type Fault = (kind: string, detail?: string) => void;

/** Does with a document what the gateway does to anonymize it, and looks at what comes out. */
async function outcomeOf(engine: DocumentEngine, seed: DocumentSeed, random: Random, fault: Fault): Promise<string> {
  const { file, secrets } = seed;
  let rewritten: DocumentFile;
  try {
    if (random.chance(0.2)) await engine.render(file, { maxPages: 4 }, signal).catch(ignoreTyped);
    const { units, layout } = await engine.read(
      file,
      { recognize: random.chance(RECOGNIZED) ? 'auto' : 'never' },
      signal,
    );
    const replacements = units.flatMap(({ id, text }) => replacementsIn(id, text, secrets));
    const originals = secrets.filter((secret) => units.some(({ text }) => text.includes(secret)));
    const { bytes, mediaType } = await engine.redact(file, { layout, replacements, originals }, signal);
    rewritten = { name: file.name, mediaType, bytes };
    for (const { by, bytes: seen } of unpacked(bytes, mediaType)) {
      const texts = readings(seen);
      const left = originals.find((secret) => texts.some((text) => text.includes(secret)));
      if (left !== undefined) fault(`a secret is left in a rewritten ${mediaType}`, `${left} in ${by}`);
    }
    const again = await engine.read(rewritten, { recognize: 'never' }, signal);
    const left = originals.find((secret) => again.units.some(({ text }) => text.includes(secret)));
    if (left !== undefined) fault(`a secret is read in a rewritten ${mediaType}`, left);
    return 'done';
  } catch (error) {
    if (error instanceof DocumentFault && error.kind !== 'unavailable') return error.kind;
    fault('the engine gave no answer', String(error));
    return 'no answer';
  }
}

function ignoreTyped(error: unknown): void {
  if (!(error instanceof DocumentFault) || error.kind === 'unavailable') throw error;
}

/** Every secret in a text, each place once. */
function replacementsIn(unit: string, text: string, secrets: readonly string[]): readonly Replacement[] {
  const found: Replacement[] = [];
  for (const [number, secret] of secrets.entries()) {
    for (let start = text.indexOf(secret); start >= 0; start = text.indexOf(secret, start + secret.length)) {
      const end = start + secret.length;
      if (found.some((one) => one.start < end && start < one.end)) continue;
      found.push({ unit, start, end, tag: `«PERSON_${number + 1}»` });
    }
  }
  return found;
}

/** Mebibytes that the engine's process had at most. */
function memoryOf({ pid }: EngineProcess): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return Math.round(Number(/VmHWM:\s*(\d+)/.exec(status)?.[1]) / 1024);
}
