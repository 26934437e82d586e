import { parseArgs } from 'node:util';
import { startPostgres } from '../harness/postgres.ts';
import { startRedis } from '../harness/redis.ts';
import { answerCodecs, requestCodecs } from './codecs.ts';
import { fuzzDocuments } from './documents.ts';
import { evidenceTargets } from './evidence.ts';
import { fuzzHttp1Answers } from './http1-answers.ts';
import { fuzzHttp1Connections } from './http1-connections.ts';
import { fuzzAnswers, fuzzRequests, type FuzzLimits, type FuzzReport } from './http-targets.ts';
import { fuzzPure } from './pure-run.ts';
import { resources } from './resources.ts';

/** `make fuzz TARGET=… SECONDS=… SEED=…`: runs one target, or all one after the other, and prints what was found. */

const HTTP = { requests: fuzzRequests, answers: fuzzAnswers };
const PURE = [requestCodecs, answerCodecs, resources];
const EVIDENCE = ['exports', 'proofs'];
/** Those that need no stores. */
const ALONE = {
  documents: fuzzDocuments,
  'http1-answers': fuzzHttp1Answers,
  'http1-connections': fuzzHttp1Connections,
};
const TARGETS = [...Object.keys(HTTP), ...PURE.map(({ name }) => name), ...EVIDENCE, ...Object.keys(ALONE)];

const { values } = parseArgs({
  options: {
    target: { type: 'string', default: '' },
    seconds: { type: 'string', default: '60' },
    seed: { type: 'string', default: String(Date.now() % 2 ** 31) },
    attempts: { type: 'string', default: String(Number.MAX_SAFE_INTEGER) },
  },
});
const limits: FuzzLimits = {
  seed: Number(values.seed),
  seconds: Number(values.seconds),
  attempts: Number(values.attempts),
};
if (values.target !== '' && !TARGETS.includes(values.target)) {
  process.stderr.write(`TARGET must be one of ${TARGETS.join(', ')}; it is ${values.target}\n`);
  process.exit(2);
}
const names = values.target === '' ? TARGETS : [values.target];
for (const name of names) {
  const { attempts, faults, outcomes = {} } = await run(name);
  process.stdout.write(`${name}: ${attempts} attempts, seed ${limits.seed}, ${faults.length} faults\n`);
  for (const [outcome, times] of Object.entries(outcomes)) process.stdout.write(`  ${outcome}: ${times}\n`);
  for (const fault of faults) process.stdout.write(`\n${fault}\n`);
  if (faults.length > 0) process.exitCode = 1;
}

async function run(name: string): Promise<FuzzReport> {
  const pure = PURE.find((target) => target.name === name);
  if (pure) return fuzzPure(pure, limits);
  if (name in ALONE) return ALONE[name as keyof typeof ALONE](limits);
  const postgres = await startPostgres();
  await using servers = new AsyncDisposableStack();
  servers.defer(() => postgres.stop());
  if (EVIDENCE.includes(name)) {
    const target = (await evidenceTargets(postgres.url)).find((one) => one.name === name);
    if (!target) throw new Error(`the target ${name} is missing`);
    return await fuzzPure(target, limits);
  }
  const redis = await startRedis();
  servers.defer(() => redis.stop());
  return await HTTP[name as keyof typeof HTTP](limits, { redisUrl: redis.url, databaseUrl: postgres.url });
}
