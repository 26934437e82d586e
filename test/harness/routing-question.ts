import type { VirtualKeyConfig } from '#/config/snapshot.ts';
import { createPriceBook } from '#/meter/pricing/price-book.ts';
import { createProviders } from '#/providers/registry.ts';
import { createTransport } from '#/providers/http/transport.ts';
import type { Codec } from '#/wire/hub/codec.ts';
import { readDocument } from '#/wire/document/document.ts';
import { toolServersIn } from '#/wire/request/tool-servers.ts';
import type { RouteDeps } from '#/route/plan.ts';
import type { RouteQuestion } from '#/route/route-question.ts';

/** Real ways out, of which none is taken, and the built-in prices. */
export const DEPS: RouteDeps = {
  providers: createProviders(createTransport()),
  prices: createPriceBook({ usdToEur: '0.92' }),
};

/** A request as routing sees it once it was inspected. */
export function questionOf(
  key: VirtualKeyConfig,
  codec: Codec,
  body: object,
  headers: RouteQuestion['headers'] = {},
): RouteQuestion {
  const text = JSON.stringify(body);
  const document = readDocument(codec.family, text);
  const { media } = codec.contents(document);
  const ask = codec.ask(document);
  const toolServers = toolServersIn(document);
  return { key, codec, document, ask, toolServers, headers, media, startedAt: Date.UTC(2026, 10, 21) };
}
