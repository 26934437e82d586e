import { LOCAL_PROVIDER } from '#/config/local-provider.ts';
import type { WorkloadConfig } from '#/config/snapshot.ts';
import type { Providers } from '#/route/offer.ts';
import { BUILT_IN, builtInDenial } from '#/route/tools/built-in.ts';
import { federatedName } from '#/wire/mcp/names.ts';
import type { ListedTool } from '#/ports/mcp-servers.ts';
import type { Offer, OfferedTool } from '../offered-tools.ts';
import { BUILT_IN_TOOLS } from './list.ts';
import type { BuiltInTool } from './tool.ts';

/** A tool as lists say it. */
export interface OfferedName {
  readonly server: Pick<OfferedTool['server'], 'name' | 'prefix'>;
  readonly listed: Pick<ListedTool, 'name' | 'definition'>;
  readonly federated: string;
}

/** What a workload is offered, by servers and by the gateway itself. */
export interface ListedOffer {
  /** By prefix, then in the order of the server. */
  readonly tools: readonly OfferedName[];
  /** Names of those whose tools cannot be listed now. */
  readonly unavailable: readonly string[];
  /** How many were asked. */
  readonly sources: number;
}

/** Tools of the gateway's own that policy opens to a workload, and those among them that can be called now. */
interface BuiltInOffer {
  readonly isOpen: boolean;
  readonly tools: readonly BuiltInTool[];
}

/** What a workload is offered of the gateway's own tools: like a model, a tool is listed while it can answer. */
export function offerBuiltIn({ organization, policy }: WorkloadConfig, providers: Providers): BuiltInOffer {
  const open = BUILT_IN_TOOLS.filter((tool) => !builtInDenial(tool, { organization, policy }, providers));
  const answers = (tool: BuiltInTool): boolean =>
    providers(LOCAL_PROVIDER)?.answers?.(tool.model.slice(LOCAL_PROVIDER.slug.length + 1)) !== false;
  return { isOpen: open.length > 0, tools: open.filter(answers) };
}

const SERVER = { name: BUILT_IN, prefix: BUILT_IN };
const LISTED: ReadonlyMap<BuiltInTool, OfferedName> = new Map(
  BUILT_IN_TOOLS.map((tool) => {
    const { name, definition } = tool;
    return [tool, { server: SERVER, listed: { name, definition }, federated: federatedName(BUILT_IN, name) }];
  }),
);

/** Offers as they were put together before, by that of the servers: the same ones are listed again and again. */
const MERGED = new WeakMap<Offer, { readonly names: string; readonly offer: ListedOffer }>();

/** The offer of `servers` servers with the gateway's own tools among them. */
export function withBuiltIn(offer: Offer, servers: number, { isOpen, tools }: BuiltInOffer): ListedOffer {
  const names = `${servers} ${isOpen} ${tools.map(({ name }) => name).join(' ')}`;
  const known = MERGED.get(offer);
  if (known?.names === names) return known.offer;
  const own = tools.map((tool) => LISTED.get(tool)!);
  const behind = offer.tools.findIndex(({ server }) => server.prefix > BUILT_IN);
  const at = behind < 0 ? offer.tools.length : behind;
  const merged = {
    tools: [...offer.tools.slice(0, at), ...own, ...offer.tools.slice(at)],
    unavailable: isOpen && tools.length === 0 ? [...offer.unavailable, BUILT_IN] : offer.unavailable,
    sources: servers + (isOpen ? 1 : 0),
  };
  MERGED.set(offer, { names, offer: merged });
  return merged;
}
