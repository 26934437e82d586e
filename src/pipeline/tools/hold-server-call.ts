import type { CallContext } from '#/call/call.ts';
import type { CallFacts } from '#/call/facts.ts';
import type { DebitedTarget } from '#/call/target.ts';
import type { McpServerConfig } from '#/config/snapshot.ts';
import { hold } from '#/meter/meter.ts';
import type { Limits } from '#/ports/limit-counters.ts';
import { toolSlug } from '#/route/tools.ts';
import type { LedgerWriter } from '#/seal/ledger-writer.ts';

interface HeldCall {
  readonly target: DebitedTarget;
  readonly limits: Limits;
  readonly facts: CallFacts;
}

/** Holds the price of one request to a server. `id`: what prices and rows call it, after the server. Throws as `hold` does. */
export async function holdServerCall(
  request: CallContext,
  server: McpServerConfig,
  id: string,
  { writer, meter }: { readonly writer: Pick<LedgerWriter, 'requireRoom'>; readonly meter: Parameters<typeof hold>[4] },
): Promise<HeldCall> {
  writer.requireRoom();
  const config = { slug: toolSlug(server), keyOwnership: 'organization' as const };
  const provider = { config, jurisdiction: () => server.jurisdiction };
  const target: DebitedTarget = { provider, model: id, family: 'mcp' };
  const bounds = { ceiling: { calls: 1 }, quantities: ['calls'] as const, reservedTokens: 0 };
  const held = await hold(request, { model: `${config.slug}/${id}`, stream: false }, [target], bounds, meter);
  return { target, limits: held.limits, facts: { hold: held.money } };
}
