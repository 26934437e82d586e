import type { ProviderConfig } from '#/config/snapshot.ts';
import type { FitContext } from '#/ports/provider.ts';
import type { Lose } from '#/wire/hub/canonical.ts';
import { BadRequestShape } from '#/wire/hub/codec.ts';
import { removeItems, type Edit, type WireDocument } from '#/wire/document/document.ts';
import { member, type JsonNode, type ObjectNode } from '#/wire/document/scan.ts';
import type { Traits } from '#/wire/hub/traits.ts';
import { isInOwnWords, type ClaudeHost } from '../catalogue/claude-hosts.ts';
import { fitCache } from './cache.ts';
import { fitThinking } from './thinking.ts';
import { fitBlockToolIds } from './tool-ids.ts';
import { Fitting } from './fitting.ts';

/** What clouds know of a messages request; anything else is answered with 400. // wire-formats 1.4, 1.5 */
const KNOWN = new Set([
  'messages',
  'system',
  'max_tokens',
  'temperature',
  'top_p',
  'top_k',
  'stop_sequences',
  'metadata',
  'tools',
  'tool_choice',
  'thinking',
  'output_config',
  'output_format',
  'context_management',
  'cache_control',
]);

/** Told to a host elsewhere: in the address, or as the version of the protocol that goes with the host. */
const TOLD_ELSEWHERE = ['model', 'anthropic_version'];
/** Of another cloud's clients: the header tells it too. */
const BETAS = 'anthropic_beta';

/**
 * Edits that make a messages request one that a cloud's Claude takes. What can be left out is dropped and named; throws
 * `BadRequestShape` for files that the host would have to fetch.
 */
export function fitClaudeHost(
  document: WireDocument,
  host: ClaudeHost,
  target: { readonly config: ProviderConfig; readonly traits: Traits; readonly context: FitContext },
  lose: Lose,
): readonly Edit[] {
  const { config, traits, context } = target;
  refuseRemoteFiles(document.root);
  const fitting = new Fitting(document, lose);
  fitCache(fitting, document, config, traits, context);
  fitThinking(fitting);
  fitBlockToolIds(fitting);
  if (!host.streamInBody) fitting.remove(fitting.root, 'stream');
  if (isInOwnWords(host, config, context.dialect)) {
    fitting.remove(fitting.root, 'model');
    for (const name of traits.rejects) fitting.drop(name);
    return fitting.edits();
  }
  for (const name of TOLD_ELSEWHERE) fitting.remove(fitting.root, name);
  if (context.dialect) fitting.remove(fitting.root, BETAS);
  for (const { key } of fitting.root.members) {
    const known = KNOWN.has(key.value) || TOLD_ELSEWHERE.includes(key.value) || key.value === 'stream';
    if (!known || traits.rejects.has(key.value)) fitting.drop(key.value);
  }
  fitTools(fitting, host);
  return fitting.edits();
}

/** Drops tools that the model's maker defines and this host does not have. */
function fitTools(fitting: Fitting, host: ClaudeHost): void {
  const tools = fitting.node('tools');
  if (tools?.kind !== 'array') return;
  const unknown = new Set(tools.items.filter((tool) => !knows(host, textOf(member(tool, 'type')))));
  if (unknown.size === 0) return;
  for (const tool of unknown) fitting.lose(`tools[${textOf(member(tool, 'type')) ?? ''}]`);
  if (unknown.size === tools.items.length) {
    fitting.remove(fitting.root, 'tools');
    fitting.drop('tool_choice');
    return;
  }
  for (const edit of removeItems(tools, (item) => unknown.has(item))) fitting.edit(edit);
  const chosen = textOf(member(fitting.node('tool_choice'), 'name'));
  if (chosen === undefined || ![...unknown].some((tool) => textOf(member(tool, 'name')) === chosen)) return;
  fitting.lose('tool_choice');
  fitting.set('tool_choice', '{"type":"auto"}');
}

function knows(host: ClaudeHost, type: string | undefined): boolean {
  return type === undefined || type === 'custom' || host.tools.some((prefix) => type.startsWith(prefix));
}

/** Silently dropping a file would change the question. */
function refuseRemoteFiles(root: ObjectNode): void {
  const look = (content: JsonNode | undefined): void => {
    for (const block of itemsOf(content)) {
      const source = member(block, 'source');
      const kind = textOf(member(source, 'type'));
      if (kind === 'url' || kind === 'file') {
        throw new BadRequestShape(
          'This provider does not take addresses or ids of files: send their bytes',
          'messages',
        );
      }
      look(member(block, 'content'));
      look(member(source, 'content'));
    }
  };
  for (const message of itemsOf(member(root, 'messages'))) look(member(message, 'content'));
}

function itemsOf(node: JsonNode | undefined): readonly JsonNode[] {
  return node?.kind === 'array' ? node.items : [];
}

function textOf(node: JsonNode | undefined): string | undefined {
  return node?.kind === 'string' ? node.value : undefined;
}
