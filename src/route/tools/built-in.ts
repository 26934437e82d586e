import { LOCAL_PROVIDER } from '#/config/local-provider.ts';
import type { WorkloadConfig } from '#/config/snapshot.ts';
import { Stopped } from '#/call/facts.ts';
import { allowListReason, isDenial, notAllowed, offerOf, type Denial, type Providers, type Terms } from '../offer.ts';
import { denied, differences, refusalOf, unlistedTool, type RoutedTool } from '../tools.ts';

/** What clients, allow-lists and metrics call the server of the gateway's own tools. No MCPServer has this name. */
export const BUILT_IN = LOCAL_PROVIDER.slug;

/** A tool of the gateway's own, as policy decides on it. */
export interface RoutedFeature {
  readonly name: string;
  /** What allow-lists of models and price books call what it does: `gw/ocr`. */
  readonly model: string;
}

/**
 * Why a workload may not call a tool of the gateway's own: an allow-list of tools lacks it, or the workload could not call
 * the endpoint that does the same. `providers` absent: whether there is an engine is not asked.
 */
export function builtInDenial({ name, model }: RoutedFeature, terms: Terms, providers?: Providers): Denial | undefined {
  const unlisted = unlistedTool(`${BUILT_IN}/${name}`, terms.policy);
  if (unlisted) return unlisted;
  // A tool of the gateway's own says that nothing leaves.
  if (terms.organization.aliases.has(model))
    return denied(
      'tool_not_found',
      `not offered, because the organization has an alias ${model}: the call could leave`,
    );
  if (!providers) {
    const why = allowListReason([model], terms.policy);
    return why === undefined ? undefined : { ...notAllowed(why), param: 'params.name' };
  }
  const offer = offerOf(model, undefined, terms, providers);
  if (!isDenial(offer)) return undefined;
  const code = offer.code === 'model_not_found' ? 'tool_not_found' : offer.code;
  return { ...offer, code, param: 'params.name' };
}

/**
 * Decides whether a workload may call a tool of the gateway's own; the steps of what it does say the rest. Throws
 * `tool_not_found` or `permission_denied`, in a `Stopped` with how that was decided.
 */
export function routeBuiltIn(
  tool: RoutedFeature,
  { organization, policy, shadow }: WorkloadConfig,
  providers?: Providers,
): RoutedTool {
  const id = `mcp/${BUILT_IN}/${tool.name}`;
  const denial = builtInDenial(tool, { organization, policy }, providers);
  if (!denial) {
    const watched = shadow && unlistedTool(`${BUILT_IN}/${tool.name}`, shadow);
    return { route: [], shadow: watched ? differences(id, undefined, watched) : [] };
  }
  const watched = shadow && builtInDenial(tool, { organization, policy: shadow }, providers);
  throw new Stopped(refusalOf(denial), {
    route: [`${id}: refused: ${denial.why}`],
    shadow: shadow ? differences(id, denial, watched) : [],
  });
}
