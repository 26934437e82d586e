import { parseSse } from '../../harness/sse.ts';
import { at, count, list, text, type Body, type Call, type Counts, type Item, type Told } from '../vocabulary.ts';
import type { Surface } from './surface.ts';

/** Responses, as their clients write and read them. */
export const responses: Surface = {
  name: 'responses',
  family: 'responses',
  path: '/v1/responses',
  id: /^resp_[A-Za-z0-9-]{20,}$/,
  headers: (key) => ({ authorization: `Bearer ${key}` }),
  // The format has no such member: these cells have nothing to pass on.
  stops: false,
  ask: ({ system, turns, tools, effort, schema, ceiling }, model, stream) => ({
    model,
    ...(system !== undefined && { instructions: system }),
    input: turns.flatMap(({ role, items }) => (role === 'user' ? userItems(items) : assistantItems(items))),
    max_output_tokens: ceiling,
    ...(tools && {
      tools: tools.map(({ name, description, schema: parameters }) => ({
        type: 'function',
        name,
        description,
        parameters,
        strict: false,
      })),
    }),
    ...(effort && { reasoning: { effort, summary: 'auto' } }),
    ...(schema && { text: { format: { type: 'json_schema', name: 'city', schema, strict: true } } }),
    ...(stream && { stream: true }),
  }),
  read: (bytes) => readResponse(JSON.parse(Buffer.from(bytes).toString('utf8'))),
  readStream,
  counts: (usage): Counts => {
    const cached = count(at(usage, 'input_tokens_details', 'cached_tokens'));
    return { fresh: count(at(usage, 'input_tokens')) - cached, cached, output: count(at(usage, 'output_tokens')) };
  },
  finishes: (ending, refusedInWords) => {
    if (ending === 'length') return 'incomplete:max_output_tokens';
    return ending === 'refusal' && !refusedInWords ? 'incomplete:content_filter' : 'completed';
  },
  error: (body) => ({ type: at(body, 'error', 'type'), message: at(body, 'error', 'message') }),
  errorType: { 400: 'invalid_request_error', 404: 'not_found_error', 502: 'api_error', 503: 'api_error' },
  failed: 'upstream_error',
  overloaded: 'upstream_overloaded',
};

function userItems(items: readonly Item[]): object[] {
  const results = items.flatMap((item) =>
    'result' in item ? [{ type: 'function_call_output', call_id: item.result.id, output: item.result.text }] : [],
  );
  const content = items.flatMap((item): object[] => {
    if ('text' in item) return [{ type: 'input_text', text: item.text }];
    if ('image' in item) return [{ type: 'input_image', detail: 'auto', image_url: dataUrl(item.image) }];
    if (!('document' in item)) return [];
    return [{ type: 'input_file', filename: 'report.pdf', file_data: dataUrl(item.document) }];
  });
  return content.length > 0 ? [...results, { type: 'message', role: 'user', content }] : results;
}

function assistantItems(items: readonly Item[]): object[] {
  return items.flatMap((item): object[] => {
    if ('text' in item) {
      const content = [{ type: 'output_text', text: item.text, annotations: [] }];
      return [{ type: 'message', id: 'msg_1', status: 'completed', role: 'assistant', content }];
    }
    if ('thought' in item) {
      return [{ type: 'reasoning', id: 'rs_1', summary: [{ type: 'summary_text', text: item.thought }] }];
    }
    if (!('call' in item)) return [];
    const { id, name, input } = item.call;
    return [{ type: 'function_call', call_id: id, name, arguments: JSON.stringify(input) }];
  });
}

function dataUrl(media: string): string {
  return `data:${media.replace(';', ';base64,')}`;
}

function readResponse(body: unknown): Told {
  if (at(body, 'object') !== 'response') throw new TypeError('not a response');
  const output = list(at(body, 'output'));
  const content = output.flatMap((item) => (at(item, 'type') === 'message' ? list(at(item, 'content')) : []));
  const texts = (type: string, member: string): string =>
    content.flatMap((part) => (at(part, 'type') === type ? [text(at(part, member))] : [])).join('');
  const thoughts = output.filter((item) => at(item, 'type') === 'reasoning');
  const status = text(at(body, 'status'));
  const reason = at(body, 'incomplete_details', 'reason');
  return {
    id: at(body, 'id'),
    model: at(body, 'model'),
    text: texts('output_text', 'text'),
    refusal: texts('refusal', 'refusal'),
    reasoning: thoughts
      .flatMap((item) => [...list(at(item, 'summary')), ...list(at(item, 'content'))])
      .map((part) => text(at(part, 'text')))
      .join(''),
    calls: output.flatMap((item): Call[] => (at(item, 'type') === 'function_call' ? [readCall(item)] : [])),
    finish: typeof reason === 'string' ? `${status}:${reason}` : status,
    usage: (at(body, 'usage') ?? undefined) as Body | undefined,
  };
}

function readCall(item: unknown): Call {
  const input: unknown = JSON.parse(text(at(item, 'arguments')));
  return { id: text(at(item, 'call_id')), name: text(at(item, 'name')), input };
}

const TERMINAL = new Set(['response.completed', 'response.incomplete', 'response.failed']);
const DELTAS = new Set(['response.output_text', 'response.refusal', 'response.function_call_arguments']);

/** Throws where numbers have gaps, items overlap, or the deltas of an item are not what it says in the end. */
function readStream(bytes: Uint8Array): Told {
  let expected = 0;
  let over: unknown;
  let error: Told['error'];
  let open: { readonly id: unknown; readonly said: Map<string, string> } | undefined;
  const items: unknown[] = [];
  const names: string[] = [];
  for (const event of parseSse(bytes)) {
    if (event.type === 'comment') continue;
    const data: unknown = JSON.parse(event.data);
    const type = text(at(data, 'type'));
    if (event.event !== type) throw new TypeError(`event ${event.event} holds ${type}`);
    if (at(data, 'sequence_number') !== expected++) throw new TypeError(`${type} has a wrong sequence_number`);
    if (over !== undefined || error) throw new TypeError(`${type} after the end`);
    names.push(type);
    const [, base = '', step] = /^(.*)\.(delta|done|added)$/.exec(type) ?? [];
    if (type === 'error') error = { type: at(data, 'code'), message: at(data, 'message') };
    else if (TERMINAL.has(type)) over = at(data, 'response');
    else if (base === 'response.output_item') {
      if ((step === 'added') === (open !== undefined)) throw new TypeError(`${type} out of order`);
      if (at(data, 'output_index') !== items.length) throw new TypeError(`${type} has a wrong output_index`);
      if (step === 'done') items.push(closed(at(data, 'item'), open));
      open = step === 'added' ? { id: at(data, 'item', 'id'), said: new Map() } : undefined;
    } else if (step !== undefined) {
      if (!open || at(data, 'item_id') !== open.id) throw new TypeError(`${type} of an item that is not open`);
      if (step === 'delta') open.said.set(base, (open.said.get(base) ?? '') + text(at(data, 'delta')));
    } else if (!['response.created', 'response.in_progress'].includes(type)) throw new TypeError(`unknown: ${type}`);
  }
  if (names[0] !== 'response.created' && !error) throw new TypeError('the stream does not begin with response.created');
  if (over === undefined && !error) throw new TypeError('the stream has no terminal event');
  if (over === undefined) {
    const told = readResponse({ object: 'response', output: items });
    const begun = open?.said.get('response.output_text') ?? '';
    return { ...told, text: told.text + begun, finish: undefined, ...(error && { error }) };
  }
  if (list(at(over, 'output')).length !== items.length) throw new TypeError('the terminal event has other items');
  return readResponse(over);
}

/** An item as it is in the end, if that is what its deltas said. */
function closed(
  item: unknown,
  open: { readonly id: unknown; readonly said: Map<string, string> } | undefined,
): unknown {
  if (!open || at(item, 'id') !== open.id) throw new TypeError('an item closed under another id');
  const whole = readResponse({ object: 'response', output: [item] });
  const said = [...DELTAS].map((base) => open.said.get(base) ?? '').join('');
  const told = whole.text + whole.refusal + text(at(item, 'arguments'));
  if (said !== told) throw new TypeError(`deltas said ${said}, the item says ${told}`);
  return item;
}
