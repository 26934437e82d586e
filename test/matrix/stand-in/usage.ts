import type { UsageStyle } from '../kinds/kind.ts';
import { at, list, type Body } from '../vocabulary.ts';
import type { Frame } from './framing.ts';
import type { ExitFamily } from '../exits/read-asked.ts';

/** What every answer of the stand-in costs: 60 tokens read afresh, 40 from a cache, 20 written, 5 of them in thought. */
export const COUNTS = { fresh: 60, cached: 40, output: 20 } as const;
const THOUGHT = 5;

const PROMPT = COUNTS.fresh + COUNTS.cached;
const TOTAL = PROMPT + COUNTS.output;
const CACHED = { prompt_tokens_details: { cached_tokens: COUNTS.cached } };
const THOUGHTS = { completion_tokens_details: { reasoning_tokens: THOUGHT } };

const CHAT: Readonly<Record<UsageStyle, Body>> = {
  openai: { prompt_tokens: PROMPT, completion_tokens: COUNTS.output, total_tokens: TOTAL, ...CACHED, ...THOUGHTS },
  deepseek: {
    prompt_tokens: PROMPT,
    completion_tokens: COUNTS.output,
    total_tokens: TOTAL,
    prompt_cache_hit_tokens: COUNTS.cached,
    prompt_cache_miss_tokens: COUNTS.fresh,
    ...THOUGHTS,
  },
  // Reasoning is not part of the completion there. // wire-formats 3.2
  xai: {
    prompt_tokens: PROMPT,
    completion_tokens: COUNTS.output - THOUGHT,
    total_tokens: TOTAL,
    ...CACHED,
    ...THOUGHTS,
  },
  mistral: {
    prompt_tokens: PROMPT,
    completion_tokens: COUNTS.output,
    total_tokens: TOTAL,
    num_cached_tokens: COUNTS.cached,
  },
  groq: { prompt_tokens: PROMPT, completion_tokens: COUNTS.output, total_tokens: TOTAL, ...CACHED, ...THOUGHTS },
  silent: { prompt_tokens: PROMPT, completion_tokens: COUNTS.output, total_tokens: TOTAL, ...CACHED },
};

/** `COUNTS` in a family's words, at the end of an answer. */
export function usageIn(family: ExitFamily, style: UsageStyle): Body {
  switch (family) {
    case 'chat':
      return CHAT[style];
    case 'responses':
      return {
        input_tokens: PROMPT,
        input_tokens_details: { cached_tokens: COUNTS.cached },
        output_tokens: COUNTS.output,
        output_tokens_details: { reasoning_tokens: THOUGHT },
        total_tokens: TOTAL,
      };
    case 'messages':
      return {
        input_tokens: COUNTS.fresh,
        cache_read_input_tokens: COUNTS.cached,
        cache_creation_input_tokens: 0,
        output_tokens: COUNTS.output,
      };
    case 'gemini':
      return {
        promptTokenCount: PROMPT,
        cachedContentTokenCount: COUNTS.cached,
        candidatesTokenCount: COUNTS.output - THOUGHT,
        thoughtsTokenCount: THOUGHT,
        totalTokenCount: TOTAL,
      };
    case 'converse':
      return {
        inputTokens: COUNTS.fresh,
        cacheReadInputTokens: COUNTS.cached,
        cacheWriteInputTokens: 0,
        outputTokens: COUNTS.output,
        totalTokens: TOTAL,
      };
  }
}

/** A buffered answer with its usage told as the vendor does. */
export function withUsage(body: unknown, family: ExitFamily, style: UsageStyle): unknown {
  const member = family === 'gemini' ? 'usageMetadata' : 'usage';
  return { ...(body as object), [member]: usageIn(family, style) };
}

/** A stream with its usage told where the vendor tells it; `asked`: by `include_usage`. */
export function streamWithUsage(
  frames: readonly Frame[],
  family: ExitFamily,
  style: UsageStyle,
  asked: boolean,
): readonly Frame[] {
  const usage = usageIn(family, style);
  if (family === 'chat') return chatWithUsage(frames, style, asked);
  return frames.map((frame, index) => {
    const { data } = frame;
    if (family === 'gemini') return { data: { ...(data as object), usageMetadata: usage } };
    if (family === 'converse') return frame.event === 'metadata' ? put(frame, { usage }) : frame;
    if (family === 'responses') {
      const response = at(data, 'response') as object | undefined;
      const ends = at(data, 'response', 'usage') !== undefined;
      return put(frame, { sequence_number: index, ...(ends && { response: { ...response, usage } }) });
    }
    const started = { ...usage, output_tokens: 1 };
    const message = at(data, 'message') as object | undefined;
    if (message !== undefined) return put(frame, { message: { ...message, usage: started } });
    return at(data, 'usage') === undefined ? frame : put(frame, { usage: { output_tokens: COUNTS.output } });
  });
}

function put(frame: Frame, members: object): Frame {
  return { ...frame, data: { ...(frame.data as object), ...members } };
}

/** In an event of its own where it was asked for; on the last one by itself; below a name of its own; or never. */
function chatWithUsage(frames: readonly Frame[], style: UsageStyle, asked: boolean): readonly Frame[] {
  const usage = CHAT[style];
  const chunks = frames.filter(({ data }) => list(at(data, 'choices')).length > 0);
  const last = chunks.at(-1);
  if (!last) return frames;
  const done: Frame = { data: '[DONE]' };
  if (style === 'silent' || (style === 'openai' && !asked)) return [...chunks, done];
  if (style === 'openai' || style === 'deepseek') return [...chunks, put(last, { choices: [], usage }), done];
  return [...chunks.slice(0, -1), put(last, style === 'groq' ? { x_groq: { usage } } : { usage }), done];
}
