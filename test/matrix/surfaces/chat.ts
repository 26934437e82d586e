import { sseData } from '../../harness/sse.ts';
import { at, count, list, text, type Body, type Call, type Counts, type Item, type Told } from '../vocabulary.ts';
import type { Surface } from './surface.ts';

/** Chat completions, as their clients write and read them. */
export const chat: Surface = {
  name: 'chat',
  family: 'chat',
  path: '/v1/chat/completions',
  id: /^chatcmpl-[A-Za-z0-9-]{20,}$/,
  headers: (key) => ({ authorization: `Bearer ${key}` }),
  stops: true,
  ask: ({ system, turns, tools, effort, schema, stop, ceiling }, model, stream) => ({
    model,
    messages: [
      ...(system === undefined ? [] : [{ role: 'system', content: system }]),
      ...turns.flatMap(({ role, items }) => (role === 'user' ? userMessages(items) : [assistantMessage(items)])),
    ],
    max_completion_tokens: ceiling,
    ...(tools && {
      tools: tools.map(({ name, description, schema: parameters }) => ({
        type: 'function',
        function: { name, description, parameters },
      })),
    }),
    ...(effort && { reasoning_effort: effort }),
    ...(schema && { response_format: { type: 'json_schema', json_schema: { name: 'city', schema, strict: true } } }),
    ...(stop !== undefined && { stop: [stop] }),
    ...(stream && { stream: true, stream_options: { include_usage: true } }),
  }),
  read(bytes) {
    const body: unknown = JSON.parse(Buffer.from(bytes).toString('utf8'));
    if (at(body, 'object') !== 'chat.completion') throw new TypeError('not a chat completion');
    const message = at(body, 'choices', 0, 'message');
    const usage = at(body, 'usage');
    return {
      id: at(body, 'id'),
      model: at(body, 'model'),
      text: judgedText(at(message, 'content')),
      reasoning: thoughtIn(message),
      refusal: text(at(message, 'refusal')),
      calls: list(at(message, 'tool_calls')).map(readCall),
      finish: at(body, 'choices', 0, 'finish_reason') as string | undefined,
      usage: usage as Body | undefined,
    };
  },
  readStream,
  counts: (usage): Counts => {
    const cached = count(at(usage, 'prompt_tokens_details', 'cached_tokens'));
    return { fresh: count(at(usage, 'prompt_tokens')) - cached, cached, output: count(at(usage, 'completion_tokens')) };
  },
  finishes: (ending, refusedInWords) => {
    if (ending === 'calls') return 'tool_calls';
    if (ending === 'length') return 'length';
    return ending === 'refusal' && !refusedInWords ? 'content_filter' : 'stop';
  },
  error: (body) => ({ type: at(body, 'error', 'type'), message: at(body, 'error', 'message') }),
  errorType: { 400: 'invalid_request_error', 404: 'not_found_error', 502: 'api_error', 503: 'api_error' },
  failed: 'api_error',
  overloaded: 'api_error',
};

/** Results first, then what the user says. */
function userMessages(items: readonly Item[]): object[] {
  const results = items.flatMap((item) =>
    'result' in item ? [{ role: 'tool', tool_call_id: item.result.id, content: item.result.text }] : [],
  );
  const parts = items.flatMap((item): object[] => {
    if ('text' in item) return [{ type: 'text', text: item.text }];
    if ('image' in item) return [{ type: 'image_url', image_url: { url: dataUrl(item.image) } }];
    if (!('document' in item)) return [];
    return [{ type: 'file', file: { filename: 'report.pdf', file_data: dataUrl(item.document) } }];
  });
  const [only] = items;
  const content = items.length === 1 && only && 'text' in only ? only.text : parts;
  return parts.length > 0 ? [...results, { role: 'user', content }] : results;
}

function assistantMessage(items: readonly Item[]): object {
  const calls = items.flatMap((item) => ('call' in item ? [item.call] : []));
  const said = items.flatMap((item) => ('text' in item ? [item.text] : [])).join('');
  const thought = items.flatMap((item) => ('thought' in item ? [item.thought] : [])).join('');
  return {
    role: 'assistant',
    ...(thought !== '' && { reasoning_content: thought }),
    content: said === '' ? null : said,
    ...(calls.length > 0 && {
      tool_calls: calls.map(({ id, name, input }) => ({
        id,
        type: 'function',
        function: { name, arguments: JSON.stringify(input) },
      })),
    }),
  };
}

function dataUrl(media: string): string {
  return `data:${media.replace(';', ';base64,')}`;
}

/** Content is a text, whatever lists a vendor makes of it. // spec 2.3 */
function judgedText(content: unknown): string {
  if (Array.isArray(content)) throw new TypeError('a list where clients look for a text');
  return text(content);
}

/** Vendors call thoughts by two names. */
function thoughtIn(message: unknown): string {
  return text(at(message, 'reasoning_content') ?? at(message, 'reasoning'));
}

function readCall(call: unknown): Call {
  return {
    id: text(at(call, 'id')),
    name: text(at(call, 'function', 'name')),
    input: JSON.parse(text(at(call, 'function', 'arguments'))) as unknown,
  };
}

/** Throws where the order of chunks is not the format's: an end twice, usage before it, anything after `[DONE]`. */
function readStream(bytes: Uint8Array): Told {
  const told = { text: '', reasoning: '', refusal: '' };
  let head: unknown;
  let role: unknown;
  const calls: { id: string; name: string; source: string }[] = [];
  let finish: string | undefined;
  let usage: Body | undefined;
  let error: Told['error'];
  let done = false;
  for (const data of sseData(bytes)) {
    if (done || error) throw new TypeError(`something after the end: ${data}`);
    if (data === '[DONE]') {
      done = true;
      continue;
    }
    const chunk: unknown = JSON.parse(data);
    if (at(chunk, 'error') !== undefined) {
      error = chat.error(chunk);
      continue;
    }
    if (at(chunk, 'object') !== 'chat.completion.chunk') throw new TypeError(`not a chunk: ${data}`);
    const choice = at(chunk, 'choices', 0);
    if (choice !== undefined) head ??= chunk;
    if (choice !== undefined && at(chunk, 'id') !== at(head, 'id')) throw new TypeError('a chunk of another answer');
    const delta = at(choice, 'delta');
    if (finish !== undefined && text(at(delta, 'content')) !== '') throw new TypeError('text after the end');
    role ??= at(delta, 'role');
    told.text += judgedText(at(delta, 'content'));
    told.reasoning += thoughtIn(delta);
    told.refusal += text(at(delta, 'refusal'));
    for (const call of list(at(delta, 'tool_calls'))) readCallDelta(calls, call);
    const ended = at(choice, 'finish_reason');
    if (typeof ended === 'string' && finish !== undefined) throw new TypeError('ended twice');
    if (typeof ended === 'string') finish = ended;
    const said = at(chunk, 'usage') ?? at(chunk, 'x_groq', 'usage') ?? undefined;
    if (said !== undefined && finish === undefined) throw new TypeError('usage before the end');
    usage = (said as Body | undefined) ?? usage;
  }
  if (role !== 'assistant') throw new TypeError('nobody says who speaks');
  if (!done && !error) throw new TypeError('the stream has no [DONE]');
  return {
    ...told,
    id: at(head, 'id'),
    model: at(head, 'model'),
    calls: calls.map(({ id, name, source }) => ({ id, name, input: JSON.parse(source) as unknown })),
    finish,
    usage,
    ...(error && { error }),
  };
}

function readCallDelta(calls: { id: string; name: string; source: string }[], delta: unknown): void {
  const index = at(delta, 'index') as number;
  const name = at(delta, 'function', 'name');
  if (typeof name === 'string' && !calls[index]) calls[index] = { id: text(at(delta, 'id')), name, source: '' };
  const call = calls[index];
  if (!call) throw new TypeError('a piece of a call that was never opened');
  call.source += text(at(delta, 'function', 'arguments'));
}
