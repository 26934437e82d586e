import type { ProviderConfig } from '#/config/snapshot.ts';
import type { PassthroughCall } from '#/call/passthrough-call.ts';
import { UpstreamFault, type Incoming } from '#/ports/provider.ts';
import { readDocument, render, setString, type Edit } from '#/wire/document/document.ts';
import type { JsonObject } from '#/wire/document/json.ts';
import { madeBeside } from '#/wire/kept/find-made.ts';
import { member, type JsonNode } from '#/wire/document/scan.ts';
import { answerFault } from '../relay/answer-fault.ts';
import type { Ownership } from '../kept/ownership.ts';
import type { PassedAnswer } from './passed-answer.ts';

/** A JSON answer up to this size is looked at for its usage; a larger one is pictures. */
export const MAX_LOOKED_AT = 8 * 1024 * 1024;

/** Created objects belong to the workload before any client learns their ids: the answer itself, and objects in it. */
export async function recordMade(
  call: PassthroughCall,
  config: ProviderConfig,
  credential: string,
  text: string,
  ownership: Ownership,
): Promise<void> {
  const { objects } = call;
  if (objects === 'none') return;
  const body = JSON.parse(text) as JsonObject;
  const { id } = body;
  const itself = objects.act.startsWith('make') && typeof id === 'string' ? [{ kind: objects.kind, id }] : [];
  const made = [...itself, ...madeBeside(objects.kind, body)];
  if (made.length > 0) await ownership.made(call, config, credential, made);
}

/** A list of a shared account, without objects of other organizations. It is read completely, or refused. */
export async function sharedList(
  incoming: Incoming,
  { key }: PassthroughCall,
  config: ProviderConfig,
  answer: PassedAnswer,
  ownership: Ownership,
): Promise<string> {
  const text = isJson(incoming) ? await incoming.text(MAX_LOOKED_AT) : '';
  answer.add(Buffer.byteLength(text));
  if (!answer.read(text)) throw new UpstreamFault('protocol', 'the list is not JSON, or too long');
  const root = rootOf(text);
  const data = member(root, 'data');
  if (data?.kind !== 'array') throw new UpstreamFault('protocol', 'the list has no data');
  const idOf = (item: JsonNode): string => {
    const id = member(item, 'id');
    return id?.kind === 'string' ? id.value : '';
  };
  const { id: own } = key.workload.organization;
  const records = await ownership.find(
    config,
    data.items.map(idOf).filter((id) => id !== ''),
  );
  const foreign = new Set(records.filter(({ organization }) => organization !== own).map(({ id }) => id));
  if (foreign.size === 0) return text;
  const left = data.items.filter((item) => !foreign.has(idOf(item)));
  const items = left.map(({ start, end }) => text.slice(start, end)).join(',');
  const ends = { first_id: left[0] && idOf(left[0]), last_id: left.at(-1) && idOf(left.at(-1)!) };
  const edits = Object.entries(ends).flatMap(([name, id]): Edit[] => {
    const node = member(root, name);
    return node ? [{ start: node.start, end: node.end, text: JSON.stringify(id ?? null) }] : [];
  });
  return render(text, [{ start: data.start, end: data.end, text: `[${items}]` }, ...edits]);
}

/** Throws `UpstreamFault` for an answer that cannot be read. */
function rootOf(text: string): JsonNode {
  try {
    return readDocument('passthrough', text, { lenient: true }).root;
  } catch (thrown) {
    throw answerFault(thrown);
  }
}

/** Puts the provider before the ids of the answer, so that a later call by one of them finds its way. // design 11 */
export function prefixed(text: string, slug: string): string {
  const root = rootOf(text);
  const edits: Edit[] = [];
  const prefix = (node: JsonNode | undefined): void => {
    if (node?.kind === 'string' && node.value !== '') edits.push(setString(node, `${slug}~${node.value}`));
  };
  const ofObject = (object: JsonNode): void => {
    for (const name of ['id', 'input_file_id', 'output_file_id', 'error_file_id', 'upload_id'])
      prefix(member(object, name));
    prefix(member(member(object, 'file'), 'id'));
  };
  ofObject(root);
  for (const name of ['first_id', 'last_id']) prefix(member(root, name));
  const data = member(root, 'data');
  if (data?.kind === 'array') for (const item of data.items) ofObject(item);
  return render(text, edits);
}

export function isJson(incoming: Incoming): boolean {
  return /^application\/(?:[\w.-]+\+)?json\b/i.test(incoming.header('content-type') ?? '');
}
