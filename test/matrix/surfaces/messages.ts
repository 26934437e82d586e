import { parseSse } from '../../harness/sse.ts';
import { at, count, list, text, type Body, type Call, type Counts, type Item, type Told } from '../vocabulary.ts';
import type { Surface } from './surface.ts';

/** Tokens that a model with a budget is given to think. */
export const BUDGET = 4096;

/** The messages vendor's protocol, as its clients write and read it. */
export const messages: Surface = {
  name: 'messages',
  family: 'messages',
  path: '/v1/messages',
  id: /^msg_[A-Za-z0-9-]{20,}$/,
  headers: (key) => ({ 'x-api-key': key, 'anthropic-version': '2023-06-01' }),
  stops: true,
  ask: ({ system, turns, tools, effort, schema, stop, ceiling }, model, stream, thinking) => {
    const budget = effort && thinking === 'budget';
    const config = {
      ...(effort && !budget && { effort }),
      ...(schema && { format: { type: 'json_schema', schema } }),
    };
    return {
      model,
      max_tokens: ceiling,
      ...(system !== undefined && { system }),
      messages: turns.map(({ role, items }) => ({ role, content: items.map(block) })),
      ...(tools && {
        tools: tools.map(({ name, description, schema: input_schema }) => ({ name, description, input_schema })),
      }),
      ...(effort && { thinking: budget ? { type: 'enabled', budget_tokens: BUDGET } : { type: 'adaptive' } }),
      ...(Object.keys(config).length > 0 && { output_config: config }),
      ...(stop !== undefined && { stop_sequences: [stop] }),
      ...(stream && { stream: true }),
    };
  },
  read(bytes) {
    const body: unknown = JSON.parse(Buffer.from(bytes).toString('utf8'));
    if (at(body, 'type') !== 'message' || at(body, 'role') !== 'assistant') throw new TypeError('not a message');
    return readMessage(body, list(at(body, 'content')));
  },
  readStream,
  counts: (usage): Counts => ({
    fresh: count(at(usage, 'input_tokens')),
    cached: count(at(usage, 'cache_read_input_tokens')),
    output: count(at(usage, 'output_tokens')),
  }),
  finishes: (ending) => {
    if (ending === 'calls') return 'tool_use';
    if (ending === 'length') return 'max_tokens';
    return ending === 'refusal' ? 'refusal' : 'end_turn';
  },
  error: (body) => ({ type: at(body, 'error', 'type'), message: at(body, 'error', 'message') }),
  errorType: { 400: 'invalid_request_error', 404: 'not_found_error', 502: 'api_error', 503: 'api_error' },
  failed: 'api_error',
  overloaded: 'overloaded_error',
};

function block(item: Item): object {
  if ('text' in item) return { type: 'text', text: item.text };
  if ('thought' in item) return { type: 'thinking', thinking: item.thought, signature: '' };
  if ('image' in item) return { type: 'image', source: source(item.image) };
  if ('document' in item) return { type: 'document', source: source(item.document), title: 'report.pdf' };
  if ('call' in item) return { type: 'tool_use', ...item.call };
  const { id, text: content, failed } = item.result;
  return { type: 'tool_result', tool_use_id: id, content, ...(failed && { is_error: true }) };
}

function source(media: string): object {
  const [media_type, data] = media.split(';');
  return { type: 'base64', media_type, data };
}

function readMessage(body: unknown, blocks: readonly unknown[]): Told {
  const texts = (type: string, member: string): string =>
    blocks.flatMap((one) => (at(one, 'type') === type ? [text(at(one, member))] : [])).join('');
  const sequence = at(body, 'stop_sequence');
  const reason = at(body, 'stop_reason');
  return {
    id: at(body, 'id'),
    model: at(body, 'model'),
    text: texts('text', 'text'),
    reasoning: texts('thinking', 'thinking'),
    refusal: '',
    calls: blocks.flatMap((one): Call[] =>
      at(one, 'type') === 'tool_use'
        ? [{ id: text(at(one, 'id')), name: text(at(one, 'name')), input: at(one, 'input') }]
        : [],
    ),
    finish: typeof reason === 'string' ? (typeof sequence === 'string' ? `${reason}:${sequence}` : reason) : undefined,
    usage: at(body, 'usage') as Body | undefined,
  };
}

/** Throws where events are not in the protocol's order: blocks one after the other, the message around them. */
function readStream(bytes: Uint8Array): Told {
  const blocks: Record<string, unknown>[] = [];
  let open: { readonly index: unknown; source: string } | undefined;
  let message: Record<string, unknown> | undefined;
  let error: Told['error'];
  let over = false;
  let pinged = false;
  for (const event of parseSse(bytes)) {
    if (event.type === 'comment') continue;
    const data: unknown = JSON.parse(event.data);
    const type = at(data, 'type');
    if (event.event !== type) throw new TypeError(`event ${event.event} holds ${String(type)}`);
    if (over || error) throw new TypeError(`${String(type)} after the end`);
    if (type === 'ping') {
      pinged = true;
      continue;
    }
    if (type === 'error') error = messages.error(data);
    else if (type === 'message_start' && !message) {
      message = { ...(at(data, 'message') as object) };
      if (list(message['content']).length > 0) throw new TypeError('a message that starts with content');
    } else if (!message) throw new TypeError(`${String(type)} before message_start`);
    else if (type === 'content_block_start' && !open && at(data, 'index') === blocks.length) {
      blocks.push({ ...(at(data, 'content_block') as object) });
      open = { index: at(data, 'index'), source: '' };
    } else if (type === 'content_block_delta' && open && at(data, 'index') === open.index) {
      open.source += grow(blocks.at(-1) ?? {}, at(data, 'delta'));
    } else if (type === 'content_block_stop' && open && at(data, 'index') === open.index) {
      const last = blocks.at(-1);
      if (last?.['type'] === 'tool_use') last['input'] = JSON.parse(open.source === '' ? '{}' : open.source);
      open = undefined;
    } else if (type === 'message_delta' && !open && at(message, 'stop_reason') === null) {
      const usage = { ...(message['usage'] as object), ...(at(data, 'usage') as object) };
      message = { ...message, ...(at(data, 'delta') as object), usage };
    } else if (type === 'message_stop' && typeof at(message, 'stop_reason') === 'string') over = true;
    else throw new TypeError(`${String(type)} out of order`);
  }
  if (!pinged) throw new TypeError('the stream has no ping');
  if (!over && !error) throw new TypeError('the stream has no message_stop');
  return { ...readMessage(message, blocks), ...(error && { error }) };
}

/** Adds a delta to its block; gives the source text of tool arguments. */
function grow(last: Record<string, unknown>, delta: unknown): string {
  const kinds: Readonly<Record<string, readonly [string, string]>> = {
    text_delta: ['text', 'text'],
    thinking_delta: ['thinking', 'thinking'],
    signature_delta: ['thinking', 'signature'],
    input_json_delta: ['tool_use', 'partial_json'],
  };
  const [type, member] = kinds[text(at(delta, 'type'))] ?? [];
  if (type === undefined || member === undefined || last['type'] !== type) {
    throw new TypeError(`a ${text(at(delta, 'type'))} in a block of type ${String(last['type'])}`);
  }
  if (type === 'tool_use') return text(at(delta, member));
  last[member] = text(last[member]) + text(at(delta, member));
  return '';
}
