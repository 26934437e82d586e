import { describe, expect, test } from 'vitest';
import { frameFacts } from '../../../test/harness/frame-facts.ts';
import { NO_RECORDINGS, recordedBody, recordedStream, recordingsOf } from '../../../test/harness/recordings.ts';
import { skipUnless } from '../../../test/harness/skip.ts';
import type { ModelRequest, StreamEvent } from '../hub/canonical.ts';
import type { AnswerContext, BadRequestShape } from '../hub/codec.ts';
import { readDocument, render } from '../document/document.ts';
import { SseDecoder } from '../answer/sse.ts';
import { completionsCodec } from './codec.ts';

const document = (more: object) => readDocument('completions', JSON.stringify({ model: 'p/m', prompt: 'x', ...more }));
const context: AnswerContext = {
  callId: 'a-b',
  model: 'm',
  createdAt: 7,
  request: document({}),
  includeUsage: true,
  estimatedInput: 1,
};
const usage = { input: 2, cacheRead: 1, cacheWrite5m: 0, cacheWrite1h: 0, output: 3, reasoning: 4 };
const written = {
  prompt_tokens: 3,
  completion_tokens: 7,
  total_tokens: 10,
  prompt_tokens_details: { cached_tokens: 1 },
  completion_tokens_details: { reasoning_tokens: 4 },
};

describe('requests', () => {
  test.each([
    [{}, 1, undefined],
    [{ max_tokens: 5 }, 1, 5],
    [{ prompt: ['a', 'b'], n: 3, max_tokens: 5 }, 6, 30],
    [{ prompt: [1, 2, 3] }, 1, undefined],
    [{ prompt: [[1], [2, 3]], max_tokens: 5, best_of: 4, n: 2 }, 8, 40],
    [{ max_tokens: 0 }, 1, 0],
  ])('%j asks for %s answers of %s tokens in all', (more, answers, maxOutputTokens) => {
    expect(completionsCodec.ask(document(more))).toMatchObject({ model: 'p/m', answers, maxOutputTokens });
  });

  test.each([
    [{ model: '' }, 'model'],
    [{ prompt: null }, 'prompt'],
    [{ prompt: [] }, 'prompt'],
    [{ prompt: 7 }, 'prompt'],
    [{ n: 0 }, 'n'],
    [{ best_of: 1000 }, 'best_of'],
    [{ stream: 'yes' }, 'stream'],
    [{ stream_options: 7 }, 'stream_options'],
    [{ PROMPT: 'x' }, 'prompt'],
  ])('%j is refused, naming %s', (more, param) => {
    expect(() => completionsCodec.ask(document(more))).toThrow(
      expect.objectContaining({ name: 'BadRequestShape', param }) as BadRequestShape,
    );
  });

  test('are inspected whole, the prompt first', () => {
    const { leaves, media } = completionsCodec.contents(document({ user: 'u', suffix: 's', gw: { remove: ['x'] } }));
    expect(leaves.map(({ text }) => text)).toEqual(['prompt', 'x', 'suffix', 's', 'model', 'user', 'u']);
    expect(media).toEqual([]);
  });

  test('say to another family what the user says', () => {
    const losses: string[] = [];
    const lose = (what: string): void => void losses.push(what);
    const asked = document({
      prompt: ['p'],
      suffix: 's',
      echo: true,
      best_of: 2,
      logprobs: 1,
      stop: 'z',
      max_tokens: 4,
    });
    expect(completionsCodec.decodeRequest(asked, lose)).toEqual({
      model: 'p/m',
      stream: false,
      system: [],
      turns: [{ role: 'user', parts: [{ type: 'text', text: 'p' }] }],
      tools: [],
      maxOutputTokens: 4,
      stop: ['z'],
    } satisfies ModelRequest);
    expect(losses).toEqual(['suffix', 'echo', 'best_of', 'logprobs']);
    for (const more of [{ prompt: ['a', 'b'] }, { prompt: [1, 2] }, { prompt: [[1]] }, { n: 2 }]) {
      expect(() => completionsCodec.decodeRequest(document(more), lose)).toThrow(
        expect.objectContaining({ name: 'BadRequestShape', param: Object.keys(more)[0] }) as BadRequestShape,
      );
    }
  });
});

describe('answers', () => {
  const events: StreamEvent[] = [
    { type: 'start' },
    { type: 'part-start', index: 0, part: { type: 'reasoning', text: 'r' } },
    { type: 'part-delta', index: 0, text: 'r' },
    { type: 'part-end', index: 0 },
    { type: 'part-start', index: 1, part: { type: 'text', text: '' } },
    { type: 'part-delta', index: 1, text: 'a' },
    { type: 'part-end', index: 1 },
    { type: 'finish', finish: { reason: 'length' } },
    { type: 'usage', usage },
    { type: 'end' },
  ];
  const envelope = { id: 'cmpl-ab', object: 'text_completion', created: 7, model: 'm' };
  const choice = (text: string, finish: string | null) => [{ text, index: 0, logprobs: null, finish_reason: finish }];

  test('are texts, whole or in a stream', () => {
    const parts = [
      { type: 'text', text: 'a' },
      { type: 'reasoning', text: 'r' },
    ] as const;
    expect(completionsCodec.encodeAnswer({ parts, finish: { reason: 'stop' }, usage }, context)).toEqual({
      ...envelope,
      choices: choice('a', 'stop'),
      usage: written,
    });
    const encoder = completionsCodec.streamEncoder(context);
    const frames = events.map((event) => encoder.encode(event)).join('');
    expect(frames.split('\n\n')).toEqual([
      `data: ${JSON.stringify({ ...envelope, choices: choice('a', null) })}`,
      `data: ${JSON.stringify({ ...envelope, choices: choice('', 'length') })}`,
      `data: ${JSON.stringify({ ...envelope, choices: [], usage: written })}`,
      'data: [DONE]',
      '',
    ]);
  });

  test('have frames of their own for text that was held back, and for usage', () => {
    const like = { id: 'i', created: 1, model: 'm' };
    const held = completionsCodec.deltaFrame(like, '1/text', 'x');
    expect(held).toEqual({
      ...like,
      object: 'text_completion',
      choices: [{ text: 'x', index: 1, logprobs: null, finish_reason: null }],
    });
    const frame = readDocument('completions', JSON.stringify(held));
    expect(completionsCodec.deltas(frame, false)).toMatchObject([{ channel: '1/text', kind: 'text' }]);
    expect(completionsCodec.usageFrame(like, usage)).toMatchObject({
      object: 'text_completion',
      choices: [],
      usage: written,
    });
  });

  test('show no cache where none is to be seen', () => {
    const answer = readDocument('completions', JSON.stringify({ choices: [], usage: written }));
    const shown = JSON.parse(render(answer.text, completionsCodec.hideCacheCounts(answer))) as typeof answer.body;
    expect(shown['usage']).toMatchObject({ prompt_tokens: 3, prompt_tokens_details: { cached_tokens: 0 } });
  });
});

describe('recordings', skipUnless(recordingsOf('openai', 'completion-text.json').length > 0, NO_RECORDINGS), () => {
  const counted = { input: 14, cacheRead: 0, cacheWrite5m: 0, cacheWrite1h: 0, output: 16, reasoning: 0 };

  test('a whole answer', () => {
    const body = recordedBody('openai', 'openai-completion-text.json');
    expect(completionsCodec.readAnswer(body)).toEqual({
      id: body['id'],
      usage: counted,
      choices: 1,
      says: true,
      complete: true,
    });
  });

  test('a stream, cut at every byte', () => {
    const bytes = Buffer.from(recordedStream('openai', 'openai-completion-text.chunks.txt'));
    const readIn = (pieces: readonly Uint8Array[]) => {
      const decoder = new SseDecoder(2 ** 20);
      const reader = completionsCodec.streamReader();
      const found = [...pieces.flatMap((piece) => decoder.push(piece)), ...decoder.end()];
      return [...found.map((event) => frameFacts(completionsCodec, reader, event)), reader.finished];
    };
    const whole = readIn([bytes]);
    expect(whole.at(-1)).toBe(true);
    expect(whole.at(-2)).toMatchObject({ kind: 'usage', usage: counted });
    expect(whole[0]).toMatchObject({ kind: 'content', outputBytes: 'The'.length });
    for (let at = 1; at < bytes.length; at++) {
      const cut = readIn([bytes.subarray(0, at), bytes.subarray(at)]);
      if (JSON.stringify(cut) !== JSON.stringify(whole)) expect(cut, `cut at ${at}`).toEqual(whole);
    }
  });
});
