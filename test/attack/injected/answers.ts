import { writeEvent } from '#/wire/answer/sse.ts';
import type { Surface } from './conversation.ts';

/** What a model says: a text, or a tool and what it is told. */
export type Filled = { readonly text: string } | { readonly tool: string; readonly told: string };

/** Whole answers. */
export const ANSWERS: Readonly<Record<Surface, (said: Filled) => object>> = {
  chat: (said) => ({
    choices: [
      {
        message:
          'text' in said
            ? { content: said.text }
            : { tool_calls: [{ id: 'c', function: { name: said.tool, arguments: said.told } }] },
      },
    ],
  }),
  messages: (said) => ({
    type: 'message',
    content: [
      'text' in said
        ? { type: 'text', text: said.text }
        : { type: 'tool_use', id: 'c', name: said.tool, input: JSON.parse(said.told) as object },
    ],
  }),
  responses: (said) => ({
    output: [
      'text' in said
        ? { type: 'message', content: [{ type: 'output_text', text: said.text }] }
        : { type: 'function_call', name: said.tool, arguments: said.told },
    ],
  }),
  completions: (said) => ({ choices: [{ text: 'text' in said ? said.text : '' }] }),
};

const event = (body: object): string => writeEvent(JSON.stringify(body), (body as { type?: string }).type);
const chunk = (delta: object, finish: string | null = null): string =>
  writeEvent(JSON.stringify({ id: 'c', choices: [{ index: 0, delta, finish_reason: finish }] }));

/** Streamed ones, in these pieces. */
export const STREAMS: Readonly<Record<Surface, (said: Filled, pieces: readonly string[]) => string>> = {
  chat: (said, pieces) =>
    ('text' in said
      ? ''
      : chunk({ tool_calls: [{ index: 0, id: 'c', function: { name: said.tool, arguments: '' } }] })) +
    pieces
      .map((text) =>
        chunk('text' in said ? { content: text } : { tool_calls: [{ index: 0, function: { arguments: text } }] }),
      )
      .join('') +
    chunk({}, 'stop'),
  messages: (said, pieces) =>
    event({
      type: 'content_block_start',
      index: 0,
      content_block:
        'text' in said ? { type: 'text', text: '' } : { type: 'tool_use', id: 'c', name: said.tool, input: {} },
    }) +
    pieces
      .map((text) =>
        event({
          type: 'content_block_delta',
          index: 0,
          delta: 'text' in said ? { type: 'text_delta', text } : { type: 'input_json_delta', partial_json: text },
        }),
      )
      .join('') +
    event({ type: 'content_block_stop', index: 0 }),
  responses: (said, pieces) =>
    event({
      type: 'response.output_item.added',
      output_index: 0,
      item:
        'text' in said ? { type: 'message', content: [] } : { type: 'function_call', name: said.tool, arguments: '' },
    }) +
    pieces
      .map((delta) =>
        event({
          type: 'text' in said ? 'response.output_text.delta' : 'response.function_call_arguments.delta',
          output_index: 0,
          ...('text' in said && { content_index: 0 }),
          delta,
        }),
      )
      .join('') +
    event(
      'text' in said
        ? { type: 'response.output_text.done', output_index: 0, content_index: 0, text: said.text }
        : { type: 'response.function_call_arguments.done', output_index: 0, arguments: said.told },
    ),
  completions: (_, pieces) =>
    pieces.map((text) => writeEvent(JSON.stringify({ choices: [{ index: 0, text }] }))).join('') +
    writeEvent(JSON.stringify({ choices: [{ index: 0, text: '', finish_reason: 'stop' }] })),
};

/** Everything that an event tells: what is put together from the pieces, and what repeats it. */
export function pieceOf(data: string): string {
  if (!data.startsWith('{')) return '';
  const body = JSON.parse(data) as Record<string, never> & { choices?: readonly Record<string, unknown>[] };
  const { delta } = body as { delta?: unknown };
  if (typeof delta === 'string') return delta;
  const object = (delta ?? body.choices?.[0]?.['delta'] ?? body.choices?.[0] ?? {}) as Record<string, unknown>;
  const calls = object['tool_calls'] as readonly { function?: { arguments?: string } }[] | undefined;
  for (const text of [object['text'], object['content'], object['partial_json'], calls?.[0]?.function?.arguments]) {
    if (typeof text === 'string') return text;
  }
  return (body as { type?: string }).type?.endsWith('.done') ? `\u0000${data}\u0000` : '';
}
