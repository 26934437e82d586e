import type { Frame } from './frames.ts';

/** A tool call of a scripted answer; `arguments` is JSON text, or the pieces it is streamed in. */
export interface ScriptedToolCall {
  readonly id: string;
  readonly name: string;
  readonly arguments: string | readonly string[];
}

/** What the stand-in says in the chat-completions format. */
export interface ChatScript {
  /** The text, or the pieces it is streamed in. */
  readonly content?: string | readonly string[];
  readonly toolCalls?: readonly ScriptedToolCall[];
  /** Default: `tool_calls` when there are some, else `stop`. Null leaves the stream without one. */
  readonly finishReason?: string | null;
  /** Default: 10 in, 5 out. Null: the provider does not tell. */
  readonly usage?: Readonly<Record<string, unknown>> | null;
  readonly id?: string;
  readonly model?: string;
}

export const DEFAULT_USAGE = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 } as const;

/** The body of a buffered answer. */
export function completion(script: ChatScript): Readonly<Record<string, unknown>> {
  const calls = script.toolCalls?.map((call) => ({
    id: call.id,
    type: 'function',
    function: { name: call.name, arguments: pieces(call.arguments).join('') },
  }));
  const content = script.content === undefined ? null : pieces(script.content).join('');
  const message = { role: 'assistant', content, ...(calls ? { tool_calls: calls } : {}) };
  return {
    ...envelope(script, 'chat.completion'),
    choices: [{ index: 0, message, finish_reason: finishReason(script), logprobs: null }],
    ...(script.usage === null ? {} : { usage: script.usage ?? DEFAULT_USAGE }),
  };
}

/** The same answer as the events of a stream, without usage and `[DONE]`. */
export function completionFrames(script: ChatScript): Frame[] {
  const chunk = (delta: unknown, finish: string | null = null): Frame => ({
    data: { ...envelope(script, 'chat.completion.chunk'), choices: [{ index: 0, delta, finish_reason: finish }] },
  });
  const frames = [chunk({ role: 'assistant', content: '' })];
  for (const content of pieces(script.content ?? [])) frames.push(chunk({ content }));
  for (const [index, call] of (script.toolCalls ?? []).entries()) {
    const head = { index, id: call.id, type: 'function', function: { name: call.name, arguments: '' } };
    frames.push(chunk({ tool_calls: [head] }));
    for (const text of pieces(call.arguments)) {
      frames.push(chunk({ tool_calls: [{ index, function: { arguments: text } }] }));
    }
  }
  const finish = finishReason(script);
  return finish === null ? frames : [...frames, chunk({}, finish)];
}

/** The event that tells the usage: no choices. */
export function usageFrame(script: ChatScript): Frame {
  return { data: { ...envelope(script, 'chat.completion.chunk'), choices: [], usage: script.usage ?? DEFAULT_USAGE } };
}

/** A text cut at the given UTF-16 positions. */
export function cutText(text: string, positions: readonly number[]): string[] {
  const at = [0, ...positions.toSorted((a, b) => a - b), text.length];
  return at.slice(1).map((end, index) => text.slice(at[index], end));
}

function envelope(script: ChatScript, object: string): Readonly<Record<string, unknown>> {
  return { id: script.id ?? 'chatcmpl-standin', object, created: 1_700_000_000, model: script.model ?? 'stand-in-1' };
}

function finishReason(script: ChatScript): string | null {
  return script.finishReason === undefined ? (script.toolCalls ? 'tool_calls' : 'stop') : script.finishReason;
}

function pieces(text: string | readonly string[]): readonly string[] {
  return typeof text === 'string' ? [text] : text;
}
