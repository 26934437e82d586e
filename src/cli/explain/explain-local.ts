import { LOCAL_PROVIDER } from '#/config/local-provider.ts';
import type { WorkloadConfig } from '#/config/snapshot.ts';
import { GatewayError } from '#/errors/gateway-error.ts';
import type { PriceBook } from '#/meter/pricing/price-book.ts';
import { allowListReason } from '#/route/offer.ts';

/** What the gateway does under each of its own names, and where it is asked. */
const WORK: Readonly<Record<string, string>> = {
  ocr: 'called on /v1/ocr: the document engine reads the text of documents sent as data: URLs',
  anonymize: 'called on /v1/documents/anonymize and for its jobs: done by the document engine',
};

/**
 * Writes how the gateway answers a call that it serves itself, outside the surfaces of models. Returns 0; throws the
 * `GatewayError` that the client would receive. `model`: with its provider.
 */
export function explainLocal(
  model: string,
  { policy, shadow, organization }: WorkloadConfig,
  prices: PriceBook,
  at: number,
  write: (line: string) => void,
): number {
  const id = model.slice(LOCAL_PROVIDER.slug.length + 1);
  write(`  ${model}: ${WORK[id] ?? 'answered by the gateway itself'}`);
  const unlisted = allowListReason([model], policy);
  if (unlisted) throw new GatewayError('permission_denied', `The model is ${unlisted}.`);
  write(`  ${model}: selected: nothing leaves the gateway, so residency and data protection do not apply`);
  const unwatched = shadow && allowListReason([model], shadow);
  if (unwatched) write(`  shadow: allowedModels: ${model} would be refused: ${unwatched}`);
  const price = prices.find(organization, LOCAL_PROVIDER, id, at, id in WORK ? ['pages'] : undefined);
  if (!price) throw new GatewayError('price_unknown', 'Models without a price are refused.');
  write(`  ${model}: price from ${price.source}`);
  return 0;
}
