import type { McpFeature, McpServerConfig, ResolvedPolicy, ToolDefinitionsConfig } from '#/config/snapshot.ts';
import { pinnedListOf } from '#/ports/tool-pins.ts';
import type { Denial } from '#/route/offer.ts';
import { promptDenial } from '#/route/tools/reads.ts';
import { toolDenial } from '#/route/tools.ts';
import type { JsonObject } from '#/wire/document/json.ts';

/** Things of servers that have names and pinned definitions. */
export interface OfferKind {
  readonly feature: McpFeature;
  /** What its pins are kept under. */
  readonly pinnedAs: (server: McpServerConfig) => string;
  readonly definitions: (server: McpServerConfig) => ToolDefinitionsConfig;
  /** Why policy keeps one from a workload. */
  readonly denial: (
    server: McpServerConfig,
    name: string,
    policy: ResolvedPolicy,
    definition: JsonObject,
  ) => Denial | undefined;
}

export const TOOLS: OfferKind = {
  feature: 'tools',
  pinnedAs: ({ id }) => id,
  definitions: ({ definitions }) => definitions,
  denial: toolDenial,
};

export const PROMPTS: OfferKind = {
  feature: 'prompts',
  pinnedAs: ({ id }) => pinnedListOf(id, 'prompts'),
  definitions: ({ promptDefinitions }) => promptDefinitions,
  denial: promptDenial,
};

/** What a server tells clients when they connect: a list of one. */
export const INSTRUCTIONS: OfferKind = {
  feature: 'instructions',
  pinnedAs: ({ id }) => pinnedListOf(id, 'instructions'),
  definitions: ({ instructionDefinitions }) => instructionDefinitions,
  denial: () => undefined,
};
