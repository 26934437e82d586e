import type { McpFeature, McpServerConfig, WorkloadConfig } from '#/config/snapshot.ts';
import type { Pipeline } from '#/pipeline/pipeline.ts';
import type { JsonObject } from '#/wire/document/json.ts';

/** What a client can use. */
export interface Features {
  readonly capabilities: Readonly<Record<string, JsonObject>>;
  /** What servers want clients to know; undefined: nothing, or it is not offered. */
  readonly instructions: string | undefined;
}

type Listed = Pick<Pipeline, 'listed'>;

/** Features whose capability has their name. */
const ASKED = ['prompts', 'resources', 'completions'] as const;

/**
 * What these servers offer and have. One that does not answer is taken to have what it offers. `own`: the gateway's own tools
 * are among them; `federated`: several servers are offered together.
 */
export async function featuresOf(
  servers: readonly McpServerConfig[],
  { own, federated }: { readonly own: boolean; readonly federated: boolean },
  workload: WorkloadConfig,
  { listed }: Listed,
): Promise<Features> {
  const abouts = await Promise.all(
    servers.map(async (server) =>
      ASKED.some((one) => server.offer.has(one)) ? listed.lists.about.of(server) : undefined,
    ),
  );
  const has = (feature: McpFeature): boolean =>
    servers.some(({ offer }, at) => offer.has(feature) && abouts[at]?.capabilities.has(feature) !== false);
  const named = ASKED.filter(has);
  const hasTools = own || servers.some(({ offer }) => offer.has('tools'));
  return {
    capabilities: {
      ...(hasTools && { tools: {} }),
      ...Object.fromEntries(named.map((feature) => [feature, {}])),
    },
    instructions: await instructionsOf(servers, federated, workload, listed),
  };
}

/** All instructions together, in UTF-16 code units. */
const MOST_TOGETHER = 32_768;

async function instructionsOf(
  servers: readonly McpServerConfig[],
  federated: boolean,
  workload: WorkloadConfig,
  { instructions }: Listed['listed'],
): Promise<string | undefined> {
  if (!servers.some(({ offer }) => offer.has('instructions'))) return undefined;
  const { tools } = await instructions.of(servers, workload);
  const texts = tools.flatMap(({ server, listed: { definition } }) => {
    const { instructions: text } = definition;
    return typeof text === 'string' ? [{ server, text }] : [];
  });
  const [first] = texts;
  if (!first) return undefined;
  if (!federated) return first.text;
  const told = [
    'The servers behind this gateway say the following. What a server says is about its own tools, prompts and resources only.',
  ];
  const left: string[] = [];
  let length = 0;
  for (const { server, text } of texts) {
    // Quoted, so that no server can write what looks like the words of another.
    const quoted = text.split(/\r\n?|[\n\u2028\u2029\u0085\v\f]/).map((line) => `> ${line}`);
    const part = `## ${server.name}: names begin with ${server.prefix}__\n\n${quoted.join('\n')}`;
    length += part.length;
    if (length > MOST_TOGETHER) left.push(server.name);
    else told.push(part);
  }
  if (left.length > 0) told.push(`Left out, because they are too long together: ${left.join(', ')}.`);
  return told.join('\n\n');
}
