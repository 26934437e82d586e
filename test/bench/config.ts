import { randomBytes } from 'node:crypto';
import { accept } from '../../operators/resources/accept.ts';
import { Publication } from '../../operators/publish/publication.ts';
import { Sealer } from '../../operators/publish/sealer.ts';
import { documentTexts, keyTexts, secretTexts } from '../../operators/publish/texts.ts';
import { World } from '../../operators/resources/world.ts';
import { createAssembler } from '../../src/config/published/assemble.ts';
import { createConfigKeys } from '../../src/config/published/config-keys.ts';
import { readHead } from '../../src/config/published/manifest.ts';
import { readSegment } from '../../src/config/published/segment.ts';
import { make, sha256 } from '../../src/config/testing/resources.ts';
import type { ClusterObject } from '../../src/ports/cluster.ts';
import type { ConfigPublisher, PublishedHead } from '../../src/config/published/config-store.ts';

/** What a change of configuration costs the controller and a gateway, with many workloads and keys. Prints CPU time, which other work on the machine does not move. */

const WORKLOADS = Number(process.argv[2] ?? 1000);
const KEYS = Number(process.argv[3] ?? 100_000);
const ORGANIZATIONS = 50;
const USD_TO_EUR = '0.92';

const keys = createConfigKeys([{ id: 'bench', secret: randomBytes(32) }]);
const world = new World();
const put = (object: object): void => void world.put(object as ClusterObject);
for (let index = 0; index < ORGANIZATIONS; index++) {
  for (const one of [
    make('Organization', `ns${index}/acme`),
    make('Provider', `ns${index}/vendor`),
    make('Policy', `ns${index}/p`),
  ])
    put(one);
}
const workload = (index: number, spec = {}) => make('Workload', `ns${index % ORGANIZATIONS}/w${index}`, spec);
const virtualKey = (index: number, spec = {}) => {
  const owner = index % WORKLOADS;
  return make('VirtualKey', `ns${owner % ORGANIZATIONS}/k${index}`, { workloadRef: { name: `w${owner}` }, ...spec });
};
const timed = async <T>(what: string, action: () => T | Promise<T>): Promise<T> => {
  const before = process.cpuUsage();
  const result = await action();
  const { user, system } = process.cpuUsage(before);
  process.stdout.write(`${what.padEnd(62)} ${((user + system) / 1000).toFixed(1).padStart(9)} ms\n`);
  return result;
};

await timed(`controller: told of ${WORKLOADS} workloads and ${KEYS} keys`, () => {
  for (let index = 0; index < WORKLOADS; index++) put(workload(index));
  for (let index = 0; index < KEYS; index++) put(virtualKey(index));
});
const segments = new Map<string, Uint8Array>();
const store: ConfigPublisher = {
  head: async () => undefined,
  segments: async () => segments,
  put: async (fresh) => fresh.forEach((bytes, digest) => segments.set(digest, bytes)),
  async publish(head) {
    const { segments: named } = JSON.parse(head.manifest) as { segments: Record<string, string> };
    const digests = Object.values(named).filter((digest) => !segments.has(digest));
    return digests.length > 0 ? { kind: 'missing', digests } : { kind: 'published', over: undefined };
  },
  gateways: async () => new Map(),
};
const publication = new Publication(store, keys);
const sealer = new Sealer(keys);
const checked = new WeakMap<object, never>();
const secret = (namespace: string, name: string, key: string) => world.secret(namespace, name, key);
const publish = async (documents: boolean): Promise<PublishedHead> => {
  if (documents) {
    const accepted = accept(world.documents(), {
      usdToEur: USD_TO_EUR,
      platformNamespace: 'default',
      secret,
      lastGood: new Map(),
      checked,
    });
    publication.set(documentTexts(accepted.documents, []));
    publication.set(secretTexts(sealer.rows(accepted.secrets)));
  }
  publication.set(keyTexts(world.keys.takeDirty((id) => world.hasWorkload(id))));
  return publication.publish(1);
};
const assembler = createAssembler({ keys, usdToEur: USD_TO_EUR });
const take = (head: PublishedHead): number => {
  const manifest = readHead(head, keys)!;
  const lacking = assembler.lacks(manifest);
  const texts = new Map(lacking.map(([, digest]) => [digest, readSegment(digest, segments.get(digest))!]));
  const { snapshot } = assembler.assemble(manifest, texts);
  if (!snapshot) throw new Error('the configuration does not compile');
  if (!snapshot.keys.get(sha256('k7'))) throw new Error('a key is missing');
  return lacking.length;
};

const first = await timed('controller: first publication', () => publish(true));
process.stdout.write(`segments ${publication.names.length}, ${(publication.bytes / 1e6).toFixed(1)} MB compressed\n`);
await timed('gateway: first configuration', () => take(first));
for (let round = 1; round <= 3; round++) {
  put(virtualKey(7, { revoked: round % 2 === 1 }));
  const head = await timed('controller: one key changed', () => publish(false));
  await timed('gateway: one key changed', () => take(head));
}
for (let round = 1; round <= 3; round++) {
  put(workload(7, { limits: { requestsPerMinute: round } }));
  const head = await timed('controller: one workload changed', () => publish(true));
  await timed('gateway: one workload changed', () => take(head));
}
process.stdout.write(
  `resident ${(process.memoryUsage.rss() / 1e6).toFixed(0)} MB, controller's and gateway's share together\n`,
);
