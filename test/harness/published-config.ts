import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { Redis } from 'ioredis';
import { accept } from '../../operators/resources/accept.ts';
import { Publication } from '../../operators/publish/publication.ts';
import { Sealer } from '../../operators/publish/sealer.ts';
import { documentTexts, keyTexts, secretTexts } from '../../operators/publish/texts.ts';
import { World } from '../../operators/resources/world.ts';
import { openPublishedConfig } from '../../src/adapters/redis/published-config.ts';
import { createConfigKeys, type ConfigKeys } from '../../src/config/published/config-keys.ts';
import { readMasterKeys } from '../../src/config/master-keys.ts';
import type { PublishedHead } from '../../src/config/published/config-store.ts';

/** A line of a file of configuration keys. */
export function newConfigKey(id = randomBytes(4).toString('hex')): string {
  return `${id}:${randomBytes(32).toString('base64')}\n`;
}

/** The keys of such a text, and a file of them. */
export function configKeys(text: string, file?: string): ConfigKeys {
  if (file !== undefined) writeFileSync(file, text, { mode: 0o600 });
  return createConfigKeys(readMasterKeys(text, 'configuration keys'));
}

/** Publishes resources as a controller would that was given them all at once. */
export interface TestPublisher extends AsyncDisposable {
  publish(resources: readonly object[], epoch?: number): Promise<PublishedHead>;
  readonly redis: Redis;
}

export async function openTestPublisher(redisUrl: string, keys: ConfigKeys): Promise<TestPublisher> {
  const store = openPublishedConfig({ url: redisUrl });
  await store.ping();
  const redis = new Redis(redisUrl, { enableOfflineQueue: true });
  redis.on('error', () => {});
  const publication = new Publication(store, keys);
  const sealer = new Sealer(keys);
  return {
    redis,
    async publish(resources, epoch = 1) {
      await store.ping();
      const world = new World();
      for (const one of resources as readonly Parameters<World['put']>[0][]) world.put(one);
      const accepted = accept(world.documents(), {
        usdToEur: '0.92',
        platformNamespace: 'default',
        secret: (namespace, name, key) => world.secret(namespace, name, key),
        lastGood: new Map(),
        checked: new WeakMap(),
      });
      for (const name of publication.names) publication.set(new Map([[name, '[]']]));
      publication.set(documentTexts(accepted.documents, []));
      publication.set(secretTexts(sealer.rows(accepted.secrets)));
      publication.set(keyTexts(world.keys.takeDirty((id) => world.hasWorkload(id))));
      return publication.publish(epoch);
    },
    async [Symbol.asyncDispose]() {
      redis.disconnect();
      await store.close();
    },
  };
}
