import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { openConfigCopy } from '#/adapters/disk/config-copy.ts';
import { openPublishedConfig } from '#/adapters/redis/published-config.ts';
import type { ConfigEvent, ConfigSource } from '#/config/config-source.ts';
import type { Fault, SourceDocument } from '#/config/fault.ts';
import { ownPorts } from './own-ports.ts';
import { openFolderSource } from '#/config/folder/folder-source.ts';
import { readMasterKeys } from '#/config/master-keys.ts';
import { createConfigKeys } from '#/config/published/config-keys.ts';
import { openPublishedSource } from '#/config/published/published-source.ts';
import type { Settings } from '#/settings/gateway-settings.ts';

export interface ConfigOptions {
  /** Resources in addition to those of a folder. */
  readonly extra: (() => readonly SourceDocument[]) | undefined;
  readonly onEvent: (event: ConfigEvent) => void;
}

/** Most faults that a process names as it ends. */
const MOST_TOLD = 20;

/** A configuration that serves no call: a process with it would answer everything with 503. */
class ConfigRefused extends Error {
  override readonly name = 'ConfigRefused';

  constructor(faults: readonly Fault[]) {
    const told = faults.slice(0, MOST_TOLD).map(({ file, object, field, message }) => {
      return `${[file, object, field].filter((part) => part !== '').join(': ')} ${message}`;
    });
    const more = faults.length > MOST_TOLD ? `; and ${faults.length - MOST_TOLD} more` : '';
    super(`the configuration is refused: ${told.join('; ')}${more}. To see every fault, run: gwctl config check DIR`);
  }
}

/** A source and what it stands on. */
export interface OpenConfig {
  readonly source: ConfigSource;
  readonly close: () => Promise<void>;
}

/** Opens where the settings say that the configuration is: what a controller publishes, a folder, or the samples. */
export async function openConfig(settings: Settings, options: ConfigOptions): Promise<OpenConfig> {
  const { configDir, secretsDir, usdToEur, published, platformNamespace } = settings;
  if (published) return openPublished(settings, published, options);
  const source = await openFolderSource({
    dir: configDir ?? fileURLToPath(new URL('../../k8s/samples/local', import.meta.url)),
    usdToEur,
    platformNamespace,
    ownPorts: ownPorts(settings),
    ...(secretsDir !== undefined && { secretsDir }),
    ...(options.extra && { extra: options.extra }),
    onEvent: options.onEvent,
  });
  if (!source.current()) {
    source.close();
    throw new ConfigRefused(source.faults());
  }
  return { source, close: async () => source.close() };
}

async function openPublished(
  { redisUrl, redisCluster, dataDir, usdToEur, platformNamespace }: Settings,
  { keyFile, gateway }: NonNullable<Settings['published']>,
  { onEvent }: ConfigOptions,
): Promise<OpenConfig> {
  const keys = createConfigKeys(readMasterKeys(await readFile(keyFile, 'utf8'), 'configuration keys'));
  const feed = openPublishedConfig({ url: redisUrl!, cluster: redisCluster });
  await feed.ping().catch(() => {}); // the source says that it is unreachable
  const copy = openConfigCopy(`${dataDir}/config`);
  const source = await openPublishedSource({ feed, copy, keys, gateway, usdToEur, platformNamespace, onEvent });
  return {
    source,
    async close() {
      source.close();
      await feed.leave(gateway).catch(() => {}); // its report expires
      await feed.close();
    },
  };
}
