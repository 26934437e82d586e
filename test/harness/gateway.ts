import { spawn, type ChildProcess } from 'node:child_process';
import { hash, randomBytes } from 'node:crypto';
import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { COMPILED } from './compile-cache.ts';

/** The gateway as its own process, configured by resources in a folder of its own. */
export interface GatewayProcess {
  /** `http://127.0.0.1:port`. */
  readonly url: string;
  readonly adminUrl: string;
  readonly pid: number;
  readonly configDir: string;
  readonly dataDir: string;
  /** Lines of its log so far. */
  readonly log: readonly string[];
  /** Replaces the resources it reads; takes effect when it notices. */
  configure(resources: readonly object[]): void;
  signal(name: 'SIGTERM' | 'SIGSTOP' | 'SIGCONT'): void;
  /** SIGTERM, and its exit code. */
  stop(): Promise<number | null>;
  /** SIGKILL. */
  kill(): Promise<void>;
  /** Resolves with the exit code once it has ended. */
  readonly exited: Promise<number | null>;
}

export interface GatewayOptions {
  /** None: it follows what is published in Redis, and `env` says by which keys. */
  readonly resources?: readonly object[];
  readonly redisUrl?: string;
  readonly databaseUrl?: string;
  /** Where the document engine is; without one documents are not processed. */
  readonly documentsUrl?: string;
  /** Kept when given, else a new temporary folder that is removed at the end. */
  readonly dataDir?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Of Node.js; without them, those that its image and `make run` have. */
  readonly flags?: readonly string[];
}

const MAIN = new URL('../../src/start.js', import.meta.url).pathname;
/** As its image and `make run` start it. */
const FLAGS = ['--max-semi-space-size=32'];
const running = new Set<ChildProcess>();
process.on('exit', () => {
  for (const child of running) child.kill('SIGKILL');
});

/** Starts `src/start.js` on free ports and waits until it listens. Rejects with its log when it ends before. */
export async function startGateway(options: GatewayOptions): Promise<GatewayProcess> {
  const configDir = mkdtempSync(join(tmpdir(), 'gatewarden-config-'));
  const ownData = options.dataDir === undefined;
  const dataDir = options.dataDir ?? mkdtempSync(join(tmpdir(), 'gatewarden-data-'));
  const configure = (resources: readonly object[]): void => {
    const next = join(dataDir, 'next-resources');
    writeFileSync(next, resources.map((one) => JSON.stringify(one)).join('\n---\n'));
    renameSync(next, join(configDir, 'resources.yaml'));
  };
  if (options.resources) configure(options.resources);
  const child = spawn(process.execPath, [...(options.flags ?? FLAGS), MAIN], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      PATH: process.env['PATH'],
      HOME: process.env['HOME'],
      ...COMPILED,
      PORT: '0',
      ADMIN_PORT: '0',
      ...(options.resources ? { GW_CONFIG_DIR: configDir } : { GW_CONFIG_SOURCE: 'redis' }),
      GW_DATA_DIR: dataDir,
      // Stand-ins count what they are asked: who tests lists turns them on.
      GW_MODEL_LIST_SECONDS: '0',
      // An engine is a process of its own: who needs one names it.
      GW_INFERENCE: options.documentsUrl === undefined ? 'off' : 'on',
      ...(options.documentsUrl !== undefined && { GW_INFERENCE_URL: options.documentsUrl }),
      ...(options.redisUrl !== undefined && { REDIS_URL: options.redisUrl }),
      ...(options.databaseUrl !== undefined && { DATABASE_URL: options.databaseUrl }),
      ...options.env,
    },
  });
  running.add(child);
  const exited = new Promise<number | null>((resolve) => {
    child.once('exit', (code) => {
      running.delete(child);
      rmSync(configDir, { recursive: true, force: true });
      if (ownData) rmSync(dataDir, { recursive: true, force: true });
      resolve(code);
    });
  });
  const log: string[] = [];
  const listening = await whenListening(child, log, exited);
  return {
    ...listening,
    pid: child.pid!,
    configDir,
    dataDir,
    log,
    configure,
    exited,
    signal: (name) => void child.kill(name),
    stop() {
      child.kill('SIGTERM');
      return exited;
    },
    async kill() {
      child.kill('SIGKILL');
      await exited;
    },
  };
}

function whenListening(
  child: ChildProcess,
  log: string[],
  exited: Promise<number | null>,
): Promise<{ url: string; adminUrl: string }> {
  return new Promise((resolve, reject) => {
    let rest = '';
    const read = (chunk: Buffer): void => {
      const lines = (rest + chunk.toString('utf8')).split('\n');
      rest = lines.pop()!;
      for (const line of lines) {
        log.push(line);
        if (!line.includes('"gateway.listening"')) continue;
        const { url, admin } = JSON.parse(line) as { url: string; admin: string };
        resolve({ url, adminUrl: admin });
      }
    };
    child.stdout!.on('data', read);
    child.stderr!.on('data', read);
    void exited.then((code) =>
      reject(new Error(`the gateway ended with ${code} before it listened:\n${log.join('\n')}`)),
    );
  });
}

/** A key as an application holds it. */
export function newKey(): string {
  return `gw_test_${randomBytes(32).toString('base64url')}`;
}

/** A resource of Gatewarden's API group in namespace `default`. */
export function resource(kind: string, name: string, spec: object): object {
  return { apiVersion: 'gatewarden.dev/v1alpha1', kind, metadata: { name, namespace: 'default' }, spec };
}

export interface TenantOptions {
  /** Base address of the provider `upstream`, which serves any model. */
  readonly upstreamUrl: string;
  readonly key: string;
  readonly workload?: object;
  readonly organization?: object;
  /** The `defaults` of a policy on the workload. */
  readonly policy?: object;
  readonly provider?: object;
  readonly prices?: readonly object[];
}

/** One organization with one workload, one key and one provider `upstream`: what most tests need. */
export function tenant(options: TenantOptions): object[] {
  const { upstreamUrl, key, workload, organization, policy, provider, prices } = options;
  return [
    resource('Organization', 'acme', {
      contact: { email: 'ops@acme.example' },
      priceBookRef: { name: 'prices' },
      ...organization,
    }),
    resource('Workload', 'app', { organizationRef: { name: 'acme' }, ...workload }),
    resource('VirtualKey', 'app-key', {
      workloadRef: { name: 'app' },
      hash: { algorithm: 'SHA256', value: hash('sha256', key, 'hex') },
    }),
    resource('Provider', 'upstream', {
      slug: 'upstream',
      protocol: 'Custom',
      endpoint: { url: upstreamUrl, allowInsecure: true },
      jurisdiction: 'EU',
      ...provider,
    }),
    resource('PriceBook', 'prices', { prices: prices ?? [{ model: 'upstream/*', input: '2', output: '8' }] }),
    ...(policy
      ? [resource('Policy', 'app-policy', { targetRefs: [{ kind: 'Workload', name: 'app' }], defaults: policy })]
      : []),
  ];
}
