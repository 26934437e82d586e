import { json, sse } from '../harness/answers.ts';
import type { Answer } from '../harness/exchange.ts';

/** What a vendor of the responses format answers with these items, buffered or as a stream, as it is asked. */
export function response(output: readonly object[], status = 'completed'): Answer {
  return (exchange) => {
    const { stream } = JSON.parse(exchange.request.body) as { readonly stream?: boolean };
    const whole = { ...SETTINGS, status, output, usage: USAGE };
    if (stream !== true) return json(whole)(exchange);
    const begun = { ...SETTINGS, status: 'in_progress', output: [], usage: null };
    const events: Event[] = [
      { type: 'response.created', response: begun },
      { type: 'response.in_progress', response: begun },
      ...output.flatMap((item, at) => eventsOf(item as Item, at)),
      { type: `response.${status}`, response: whole },
    ];
    return sse(
      events.map((event, sequence_number) => ({
        raw: `event: ${event.type}\ndata: ${JSON.stringify({ ...event, sequence_number })}\n\n`,
      })),
    )(exchange);
  };
}

/** A call of a function. */
export function functionCall(call_id: string, name: string, args: unknown): object {
  const written = typeof args === 'string' ? args : JSON.stringify(args);
  return { id: `fc_${call_id}`, type: 'function_call', status: 'completed', call_id, name, arguments: written };
}

let messages = 0;

/** What the model says, with an id of its own. */
export function message(text: string): object {
  const content = [{ type: 'output_text', text, annotations: [], logprobs: [] }];
  return { id: `msg_${++messages}`, type: 'message', status: 'completed', role: 'assistant', content };
}

const SETTINGS = {
  id: 'resp_vendor',
  object: 'response',
  created_at: 1,
  model: 'gpt-5',
  error: null,
  incomplete_details: null,
  tools: [],
  tool_choice: 'auto',
  parallel_tool_calls: true,
};
const USAGE = {
  input_tokens: 10,
  input_tokens_details: { cached_tokens: 2 },
  output_tokens: 5,
  output_tokens_details: { reasoning_tokens: 1 },
  total_tokens: 15,
};

interface Event {
  readonly type: string;
  readonly [member: string]: unknown;
}

interface Item {
  readonly id: string;
  readonly type: string;
  readonly arguments?: string;
  readonly content?: readonly { readonly text: string }[];
}

function eventsOf(item: Item, output_index: number): Event[] {
  const at = { item_id: item.id, output_index };
  const done = { type: 'response.output_item.done', output_index, item };
  const begun = { ...item, status: 'in_progress' };
  if (item.type === 'function_call') {
    const { arguments: whole = '' } = item;
    return [
      { type: 'response.output_item.added', output_index, item: { ...begun, arguments: '' } },
      { type: 'response.function_call_arguments.delta', ...at, delta: whole.slice(0, 3) },
      { type: 'response.function_call_arguments.delta', ...at, delta: whole.slice(3) },
      { type: 'response.function_call_arguments.done', ...at, arguments: whole },
      done,
    ];
  }
  if (item.type !== 'message') return [{ type: 'response.output_item.added', output_index, item: begun }, done];
  const [part] = item.content ?? [];
  const text = part?.text ?? '';
  const inside = { ...at, content_index: 0 };
  return [
    { type: 'response.output_item.added', output_index, item: { ...begun, content: [] } },
    { type: 'response.content_part.added', ...inside, part: { ...part, text: '' } },
    { type: 'response.output_text.delta', ...inside, delta: text, logprobs: [] },
    { type: 'response.output_text.done', ...inside, text, logprobs: [] },
    { type: 'response.content_part.done', ...inside, part },
    done,
  ];
}
