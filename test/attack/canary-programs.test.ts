import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { COMPILED } from '../harness/compile-cache.ts';
import { startControllerProcess, type ControllerProcess } from '../harness/controller.ts';
import { startFakeCluster } from '../harness/fake-cluster.ts';
import { newKey, resource, tenant } from '../harness/gateway.ts';
import { runGwctl } from '../harness/gwctl.ts';
import { configKeys, newConfigKey } from '../harness/published-config.ts';
import { startRedis } from '../harness/redis.ts';
import { tally } from './tally.ts';

/** Secrets and content that the controller, the command line and threads of the gateway may not repeat in any output. */

const tried = tally('canaries of other programs');
/** At each more than at the next; what is logged at higher levels is logged at these. */
const LEVELS = ['trace', 'info'] as const;
const CANARY = 'canarysecretZq7x9TrB';
const THREADS = join(import.meta.dirname, '../../src/inspect/search/detection-pool.ts');
let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'gatewarden-canary-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function keepsQuiet(text: string, what: string): void {
  if (text.includes(CANARY)) tried.passed(what);
  else tried.held(what);
  expect(text, what).not.toContain(CANARY);
}

function written(name: string, text: string): string {
  const file = join(folder, name);
  writeFileSync(file, text);
  return file;
}

const config = (cluster: string, user: string): string =>
  `apiVersion: v1\nkind: Config\ncurrent-context: c\nclusters: [{name: k, cluster: ${cluster}}]\nusers: [{name: u, user: ${user}}]\ncontexts: [{name: c, context: {cluster: k, user: u}}]\n`;
const LOCAL = '{server: "https://127.0.0.1:9"}';
/** What a kubeconfig may look like that is of no use; each holds the secret. */
const KUBECONFIGS: Readonly<Record<string, string>> = {
  'one that is left open': `users:\n- name: a\n  user: {token: ${CANARY}\nclusters: [`,
  'one with tabs': `users:\n\t- token: ${CANARY}`,
  'one with a key twice': `token: ${CANARY}\ntoken: ${CANARY}\n`,
  'a bare token': CANARY,
  'one without names': `clusters: [{nam: ${CANARY}}]\nusers: [{user: {token: ${CANARY}}}]\ncontexts: [{}]`,
  'one whose server is no URL': config(`{server: "https://u:${CANARY}@["}`, `{token: ${CANARY}}`),
  'one with a token of two lines': config(LOCAL, `{token: "${CANARY}\\n${CANARY}"}`),
  'one with a broken certificate': config(LOCAL, `{client-certificate-data: ${CANARY}, client-key-data: ${CANARY}}`),
  'one whose program fails': config(
    LOCAL,
    `{exec: {apiVersion: client.authentication.k8s.io/v1, command: sh, args: ["-c", "echo ${CANARY} >&2; echo ${CANARY}; exit 3"]}}`,
  ),
};

test.each(Object.entries(KUBECONFIGS))(
  'the controller and gwctl tell nothing of %s',
  async (what, text) => {
    const kubeconfig = written('kubeconfig', text);
    configKeys(newConfigKey(), join(folder, 'config-keys'));
    const controller = await controllerOutput({ KUBECONFIG: kubeconfig, LOG_LEVEL: 'trace' });
    keepsQuiet(controller, `${what}, given to the controller`);
    const args = ['key', 'create', '--workload', 'app', '--apply', '--kubeconfig', kubeconfig];
    const { output, status } = await gwctl(args);
    expect(status).toBe(2);
    keepsQuiet(output, `${what}, given to gwctl`);
  },
  60_000,
);

test('the controller tells nothing of keys and settings at fault', async () => {
  for (const [name, text] of Object.entries({ keys: CANARY, half: `main:${CANARY}`, binary: `a:${CANARY}\0` })) {
    const env = { KUBECONFIG: written('kubeconfig', ''), GW_CONFIG_KEY_FILE: written(name, text) };
    keepsQuiet(await controllerOutput(env), `a file of keys: ${name}`);
  }
  for (const url of [CANARY, `redis://u:${CANARY}@[`, `http://u:${CANARY}@x`])
    keepsQuiet(await controllerOutput({ REDIS_URL: url }), 'an address of Redis at fault');
  const env = { GW_USD_TO_EUR: CANARY, LOG_LEVEL: CANARY, GW_LEASE_SECONDS: CANARY, GW_WATCH_NAMESPACES: `${CANARY}!` };
  keepsQuiet(await controllerOutput(env), 'settings at fault');
});

test.each(LEVELS)(
  'resources at fault and a store that is away are told by the controller at level %s without values',
  async (level) => {
    await using all = new AsyncDisposableStack();
    const cluster = all.use(await startFakeCluster());
    const store = await startRedis({ control: true });
    all.defer(() => store.stop());
    configKeys(newConfigKey(), join(folder, 'config-keys'));
    cluster.apply(...atFault());
    const controller = await startControllerProcess({
      REDIS_URL: store.url,
      KUBECONFIG: cluster.kubeconfig(join(folder, 'kubeconfig')),
      GW_CONFIG_KEY_FILE: join(folder, 'config-keys'),
      GW_CONTROLLER_NAMESPACE: 'default',
      LOG_LEVEL: level,
    });
    all.defer(() => controller.kill());
    const eventually = (read: () => unknown) => expect.poll(read, { timeout: 60_000, interval: 100 });
    await eventually(() => cluster.condition('Provider', 'broken', 'Accepted')).toMatch(/^False/);
    await eventually(() => cluster.condition('Workload', 'app', 'Accepted')).toMatch(/^True/);
    cluster.answerWith(() => ({ status: 500, headers: { 'retry-after': CANARY } }));
    cluster.cutWatches();
    await eventually(() => controller.log.some((line) => line.includes('cluster.fault'))).toBe(true);
    keepsQuiet(controller.log.join('\n'), `resources at fault, at level ${level}`);
    for (const path of ['/metrics', '/readyz', `/${CANARY}`]) {
      const answer = await fetch(`${controller.adminUrl}${path}`);
      keepsQuiet(await answer.text(), `${path.replace(CANARY, '')} of the controller`);
    }
    const kinds = ['Provider', 'Workload', 'Organization', 'VirtualKey', 'Policy'];
    const states = kinds.map((kind) => [...NAMES].map((name) => cluster.get(kind, name)?.status));
    const said = JSON.stringify([cluster.events, states]);
    keepsQuiet(said, 'conditions and events of resources at fault');
  },
  120_000,
);

const NAMES = ['broken', 'app', 'acme', 'app-key', 'lost'] as const;

function atFault(): readonly object[] {
  const secret = (name: string, fields: object): object => ({
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name, namespace: 'default' },
    ...fields,
  });
  const credentials = [{ name: 'k', type: 'APIKey', secretKeyRef: { name: 'keys', key: 'key' } }];
  return [
    ...tenant({ upstreamUrl: 'http://127.0.0.1:9/v1', key: newKey(), provider: { credentials } }),
    secret('keys', { data: { key: Buffer.from(`${CANARY}\n${CANARY}`).toString('base64'), other: `${CANARY}!!` } }),
    resource('Provider', 'broken', {
      slug: 'broken',
      protocol: CANARY,
      endpoint: { url: `http://u:${CANARY}@[`, headers: { 'x-key': CANARY } },
      jurisdiction: CANARY,
      credentials: [{ name: 'k', type: CANARY, secretKeyRef: { name: 'keys', key: 'key' }, value: CANARY }],
    }),
    resource('Provider', 'lost', {
      slug: 'lost',
      protocol: 'Custom',
      endpoint: { url: `https://user:${CANARY}@example.com/?key=${CANARY}` },
      jurisdiction: 'EU',
      credentials: [{ name: 'k', type: 'APIKey', secretKeyRef: { name: 'absent', key: 'key' } }],
    }),
    resource('Workload', 'broken', { organizationRef: { name: [CANARY] }, budget: { amount: CANARY, period: CANARY } }),
    resource('Policy', 'broken', { targetRefs: [{ kind: 'Workload', name: 'app' }], defaults: { dlp: CANARY } }),
  ];
}

test('gwctl tells nothing of what it reads', async () => {
  const resources = join(folder, 'resources');
  mkdirSync(resources);
  const texts = [...atFault().map((one) => JSON.stringify(one)), `: ${CANARY}\n bad: [`, `- ${CANARY}: *${CANARY}`];
  writeFileSync(join(resources, 'all.yaml'), texts.join('\n---\n'));
  const json = written('bad.json', `{"a": ${CANARY}}`);
  const proof = written('proof.json', JSON.stringify({ proof: 1, row: CANARY, path: [CANARY] }));
  const lines = written('lines.json', `{"organization":"${CANARY}"}\n${CANARY}\n`);
  const pem = written('bad.pem', `-----BEGIN PRIVATE KEY-----\n${CANARY}\n-----END PRIVATE KEY-----\n`);
  const pub = written('bad.pub', `-----BEGIN PUBLIC KEY-----\n${CANARY}\n-----END PUBLIC KEY-----\n`);
  const call = '019aaaaa-aaaa-7aaa-8aaa-aaaaaaaaaaaa';
  const database = inject('databaseUrl');
  const own = ['--organization', 'default/acme'];
  const commands: readonly (readonly string[])[] = [
    ...[json, proof, lines, pem].map((file) => ['audit', 'verify', file]),
    ['audit', 'verify', '--public-key', pub, '--database-url', database],
    ['audit', 'export', ...own, '--out', join(folder, 'out'), '--database-url', `postgres://u:${CANARY}@127.0.0.1:9/x`],
    ['audit', 'prove', call, '--database-url', `postgres://u:${CANARY}@[/x`],
    ['usage', ...own, '--database-url', `postgres://u:${CANARY}%ZZ@localhost:9/x`],
    ['usage', ...own, '--database-url', database.replace(/\/\/[^@]*@?/, `//nobody:${CANARY}@`)],
    ['credit', 'list', ...own, '--database-url', `https://u:${CANARY}@x`],
    ['credit', 'balance', ...own, '--database-url', `${CANARY}://x`],
    ['content', 'show', call, '--key-file', json, '--database-url', database],
    ['content', 'erase', ...own, '--key-file', pem, '--database-url', database],
    ['migrate', '--database-url', `postgres://u:${CANARY}@nowhere.invalid/x`],
    ['reconcile', '--config', resources, '--redis-url', `redis://u:${CANARY}@127.0.0.1:9`, '--database-url', database],
    ['config', 'check', resources],
    ['config', 'check', resources, '--secrets-dir', folder],
    ['explain', '--config', resources, '--workload', 'app', '--model', 'lost/m'],
    ['price', 'explain', 'openai/gpt-4o', '--prices', json, '--public-key', pub],
    ['price', 'snapshot', '--key', pem, '--out', join(folder, 'prices'), '--litellm', json],
    ['price', 'verify', json, '--public-key', pub],
    ['decode', json, '--quiet'],
  ];
  const outcomes = await Promise.all(commands.map((args) => gwctl(args)));
  for (const [at, { output, status }] of outcomes.entries()) {
    const what = commands[at]!.slice(0, 2).join(' ');
    expect(status, `${what}: ${output}`).toBeGreaterThan(0);
    keepsQuiet(output, `gwctl ${what}, number ${at}`);
  }
}, 120_000);

test('a thread of a search that fails prints nothing of its texts', async () => {
  const thread = written(
    'thread.mjs',
    `import { parentPort } from 'node:worker_threads';
     parentPort.on('message', ({ search }) => {
       const { texts } = search;
       const error = new TypeError('cannot read ' + JSON.stringify(texts));
       if (texts.at(-1) === 'later') void Promise.reject(error);
       else if (texts.at(-1) === 'value') throw texts;
       else throw error;
     });`,
  );
  const program = written(
    'program.ts',
    `import { createDetectionPool } from ${JSON.stringify(THREADS)};
     import { createLog, logUncaught } from ${JSON.stringify(join(import.meta.dirname, '../../src/telemetry/log.ts'))};
     const log = createLog('trace');
     logUncaught(log);
     const pool = createDetectionPool({ thresholdChars: 0, triedChars: 0, threadModule: new URL(${JSON.stringify(`file://${thread}`)}) });
     for (const how of ['now', 'later', 'value'])
       await pool.find(['${CANARY}', how]).catch((error) => {
         log.error({ event: 'search.failed', err: error });
         process.stdout.write(error.message + '\\n');
       });
     await pool.close();`,
  );
  const { output, status } = await run([program], {});
  expect(status).toBe(0);
  expect(output.match(/failed twice on the same texts/g)).toHaveLength(3);
  keepsQuiet(output, 'a search whose thread fails');
});

interface Outcome {
  readonly output: string;
  readonly status: number;
}

async function gwctl(args: readonly string[]): Promise<Outcome> {
  const env = { PATH: process.env['PATH'], GW_DATA_DIR: join(folder, 'data') };
  const { out, err, status } = await runGwctl(args, { env });
  return { output: out + err, status };
}

async function run(args: readonly string[], env: Readonly<Record<string, string>>): Promise<Outcome> {
  const options = { env: { PATH: process.env['PATH'], ...COMPILED, ...env } };
  try {
    const { stdout, stderr } = await promisify(execFile)(process.execPath, args, options);
    return { output: stdout + stderr, status: 0 };
  } catch (error) {
    const { stdout, stderr, code } = error as { stdout: string; stderr: string; code: number };
    return { output: stdout + stderr, status: code };
  }
}

/** What a controller printed until it ended, or for a moment where it goes on. */
async function controllerOutput(env: Readonly<Record<string, string>>): Promise<string> {
  const defaults = { REDIS_URL: 'redis://127.0.0.1:9', GW_CONFIG_KEY_FILE: join(folder, 'config-keys') };
  let controller: ControllerProcess;
  try {
    controller = await startControllerProcess({ ...defaults, ...env });
  } catch (error) {
    return (error as Error).message;
  }
  const { log } = controller;
  await expect.poll(() => log.some((line) => line.includes('fault')), { timeout: 30_000 }).toBe(true);
  await controller.kill();
  return log.join('\n');
}
