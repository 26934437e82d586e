import type { ConfigSource } from '#/config/config-source.ts';
import type { VendorLists } from '#/dispatch/vendor-lists.ts';
import type { Detection } from '#/inspect/detection.ts';
import { withNames } from '#/inspect/names/detect-names.ts';
import { createNameSearch } from '#/inspect/names/name-search.ts';
import { createDetectionPool } from '#/inspect/search/detection-pool.ts';
import { withMemory } from '#/inspect/search/with-memory.ts';
import { createPriceBook, type PriceBook } from '#/meter/pricing/price-book.ts';
import { openSnapshotFile, type SnapshotFile } from '#/meter/pricing/price-snapshot-file.ts';
import { IMPLEMENTATION } from '../version.ts';
import type { AccessTokenChecker } from '#/ports/access-tokens.ts';
import type { McpServers } from '#/ports/mcp-servers.ts';
import type { MediaFetcher } from '#/ports/media.ts';
import { createMcpServers } from '#/providers/mcp/servers.ts';
import { createMediaFetcher } from '#/providers/http/media.ts';
import { createTransport } from '#/providers/http/transport.ts';
import { createTokenChecker } from '#/providers/issuer/token-checker.ts';
import { createLocalProvider } from '#/providers/local/local.ts';
import { createProviders } from '#/providers/registry.ts';
import type { Providers } from '#/route/offer.ts';
import type { Settings } from '#/settings/gateway-settings.ts';
import type { Observer } from '#/telemetry/observe/observer.ts';
import { ownPorts } from './own-ports.ts';
import { openInference, type Inference } from './inference.ts';
import { openVendorLists } from './vendor-lists.ts';

/** The means to inspect, route, price and send calls. */
export interface CallTools {
  /** Absent: no documents, and no local models. */
  readonly inference: Inference | undefined;
  readonly detection: Detection;
  readonly providers: Providers;
  /** Vendors' own lists of models; absent where the settings turn them off. */
  readonly lists: VendorLists | undefined;
  readonly prices: PriceBook;
  /** Prices that come in a file besides those that are built in. */
  readonly priceFile: SnapshotFile | undefined;
  readonly media: MediaFetcher;
  readonly mcpServers: McpServers;
  /** Absent: no access tokens are taken. */
  readonly tokenChecker: AccessTokenChecker | undefined;
  /** Stops the work in the background. */
  stop(): void;
  /** Closes all but the inference process. */
  close(): Promise<unknown>;
}

/** Opens what the settings name. Rejects if neither the file of prices nor its last good copy can be read. */
export async function openCallTools(
  settings: Settings,
  config: Pick<ConfigSource, 'current'>,
  observer: Observer,
): Promise<CallTools> {
  const transport = createTransport(settings);
  const pool = createDetectionPool(settings.phoneRegions ? { phoneRegions: settings.phoneRegions } : {});
  const inference = openInference(settings, observer.onInference);
  const detection = withNames(
    withMemory(pool),
    inference && createNameSearch(inference.models),
    () => inference?.knows('names') ?? false,
  );
  const local = inference && createLocalProvider({ ...inference, answers: (model) => answersFor(inference, model) });
  const providers = createProviders(transport, local);
  const lists = openVendorLists(settings, providers, () => config.current(), observer);
  const priceFile =
    settings.prices &&
    (await openSnapshotFile({
      ...settings.prices,
      lastGoodFile: `${settings.dataDir}/prices.last-good.json`,
      onEvent: observer.onPrices,
    }));
  const prices = createPriceBook({
    usdToEur: settings.usdToEur,
    ...(priceFile && { snapshot: () => priceFile.current() }),
  });
  const media = createMediaFetcher();
  const toServers = createTransport({ ...settings, ownPorts: () => ownPorts(settings, inference?.url()) });
  return {
    inference,
    detection,
    providers,
    lists,
    prices,
    priceFile,
    media,
    mcpServers: createMcpServers(toServers, IMPLEMENTATION, settings.mcpIssuer?.tokenOrigins),
    tokenChecker: settings.mcpIssuer && createTokenChecker(settings.mcpIssuer, transport),
    stop() {
      lists?.stop();
      priceFile?.close();
    },
    close: () => Promise.allSettled([pool, transport, toServers, media].map(async (one) => one.close())),
  };
}

/** Whether one of the gateway's own models can answer now, as far as is known. */
function answersFor(inference: Inference, model: string): boolean {
  if (model === 'typed') return inference.has('typed');
  return model === 'typed/router' ? inference.has('router') : inference.answers();
}
