import { describe, expect, test } from 'vitest';
import { UPSTREAM_CODECS } from '#/route/plan.ts';
import { cost } from '#/meter/pricing/price.ts';
import { createPrice } from '#/meter/pricing/price-sheet.ts';
import type { Finish, ModelAnswer, Part, StreamEvent } from '#/wire/hub/canonical.ts';
import { chatCodec } from '#/wire/chat/codec.ts';
import type { AnswerContext } from '#/wire/hub/codec.ts';
import { readDocument, type HubFamily } from '#/wire/document/document.ts';
import { collectAnswer } from '#/wire/hub/collect-answer.ts';
import { messagesCodec } from '#/wire/messages/codec.ts';
import { responsesCodec } from '#/wire/responses/codec.ts';
import { NO_USAGE, totalTokens } from '#/wire/answer/usage.ts';
import { decodeAnswer, type RecordingForm } from '../../src/cli/decode/decode-answer.ts';
import { allRecordings, NO_RECORDINGS, decodeAll, recordedText as textOf } from '../harness/recordings.ts';
import { skipUnless } from '../harness/skip.ts';

/** Every recording there is: decoded, billed, and written again for every surface. */

const files = allRecordings();
const where = skipUnless(files.length > 0, NO_RECORDINGS);

/** Recordings that are no answer of a conversation, and what they are. */
const NO_CONVERSATION: Readonly<Record<string, string>> = {
  'google/google-429-retry-info.json': 'an error body',
  'openai/responses/openai-error.1.json': 'an error body',
  'groq/groq-transcription-text.json': 'a transcription: passed on',
  'openai/openai-transcription.json': 'a transcription: passed on',
  'openai/openai-realtime-speech-translation.chunks.txt': 'a realtime session: not served',
  'openai/openai-completion-text.json': 'a legacy completion: no family that calls are translated to',
  'openai/openai-completion-text.chunks.txt': 'a legacy completion: no family that calls are translated to',
  'anthropic/anthropic-skill-create.json': 'an answer of the skills API: not served',
};

const answers = files.filter((name) => !(name in NO_CONVERSATION));

/** Streams recorded up to the provider's own error, or cut off: they have no finish to be written again. */
const UNFINISHED = new Set(['openai/responses/openai-error.1.chunks.txt']);

function formOf(name: string): RecordingForm {
  if (name.endsWith('.sse')) return 'wire';
  return name.endsWith('.json') ? 'body' : 'payloads';
}

function sseOf(name: string): string {
  const text = textOf(name);
  if (formOf(name) === 'wire') return text;
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  return lines.map((line) => `data: ${line}\n\n`).join('');
}

describe('recordings', where, () => {
  test.each(Object.entries(NO_CONVERSATION))('%s is %s', (name) => {
    expect(decodeAnswer(textOf(name), formOf(name))).toBeUndefined();
  });

  test.each(answers)('%s decodes without a warning', (name) => {
    const decoded = decodeAnswer(textOf(name), formOf(name))!;
    expect(decoded.warnings).toEqual([]);
    const told = new Set(decoded.events.map(({ type }) => type));
    expect(told.has('finish') || told.has('error')).toBe(true);
  });

  test.each(answers.filter((name) => formOf(name) !== 'body'))('%s is the same in pieces of any size', (name) => {
    const { family } = decodeAnswer(textOf(name), formOf(name))!;
    const bytes = Buffer.from(sseOf(name));
    const whole = decodeAll(UPSTREAM_CODECS[family].streamDecoder(), [bytes]);
    for (const size of [1, 2, 3, 7, 61, 1021]) {
      const pieces = Array.from({ length: Math.ceil(bytes.length / size) }, (_, index) =>
        bytes.subarray(index * size, (index + 1) * size),
      );
      expect(decodeAll(UPSTREAM_CODECS[family].streamDecoder(), pieces)).toEqual(whole);
    }
  });

  describe.each([chatCodec, messagesCodec, responsesCodec].map((door) => [door.family, door] as const))(
    'written for a client of %s',
    (family, door) => {
      test.each(answers.filter((name) => !UNFINISHED.has(name)))('%s says the same', (name) => {
        const { events } = decodeAnswer(textOf(name), formOf(name))!;
        const whole = wholeOf(events);
        const answer = { ...whole, usage: whole.usage ?? NO_USAGE };
        const buffered = UPSTREAM_CODECS[family as HubFamily].decodeAnswer(door.encodeAnswer(answer, context))!;
        expect(said(buffered)).toEqual(said(answer));
        const encoder = door.streamEncoder(context);
        const streamed = [...events.filter(({ type }) => type !== 'end' && type !== 'error'), ...ending(answer)]
          .map((event) => encoder.encode(event))
          .join('');
        const reader = UPSTREAM_CODECS[family as HubFamily].streamDecoder();
        const again = decodeAll(reader, [Buffer.from(streamed)]);
        expect(again.filter(({ type }) => type === 'warning')).toEqual([]);
        expect(said(wholeOf(again))).toEqual(said(answer));
      });
    },
  );
});

const request = '{"model":"p/m","messages":[{"role":"user","content":"x"}],"input":"x","max_tokens":9}';
const context: AnswerContext = {
  callId: '01890000-0000-7000-8000-000000000000',
  model: 'm',
  createdAt: 1,
  request: readDocument('chat', request),
  includeUsage: true,
  estimatedInput: 1,
};

function ending({ usage = NO_USAGE }: ModelAnswer): readonly StreamEvent[] {
  return [{ type: 'usage', usage }, { type: 'end' }];
}

function wholeOf(events: readonly StreamEvent[]): ModelAnswer {
  const { finish, ...rest } = collectAnswer(events);
  return { ...rest, finish: finish ?? ({ reason: 'stop' } satisfies Finish) };
}

/** What every family can say: words, calls, how it ended, and what is billed. Where parts begin and end is its own. */
function said({ parts, finish, usage }: ModelAnswer): unknown {
  const words = (type: Part['type']): string =>
    parts.flatMap((part) => (part.type === type && 'text' in part ? [part.text] : [])).join('');
  const calls = parts.flatMap((part) =>
    part.type === 'tool-call' ? [{ name: part.name, input: JSON.parse(part.argumentsJson || '{}') as unknown }] : [],
  );
  const counted = usage ?? NO_USAGE;
  return {
    text: words('text') + words('refusal'),
    calls,
    // Families tell ends apart that others don't; where calls were made, that is what it ended for.
    ended: finish.reason === 'length' ? 'length' : calls.length > 0 ? 'tool-calls' : 'otherwise',
    input: counted.input + counted.cacheWrite5m + counted.cacheWrite1h,
    cacheRead: counted.cacheRead,
    output: counted.output + counted.reasoning,
    total: totalTokens(counted),
  };
}

/** One euro per million of uncached input, and no two buckets alike. */
const per = (euro: string) => ({ numerator: BigInt(Number(euro) * 1_000_000_000), denominator: 1n });
const price = createPrice(
  {
    source: 'test',
    tiers: [
      {
        above: 0,
        perMillion: {
          input: per('1'),
          cacheRead: per('0.1'),
          cacheWrite5m: per('1.25'),
          cacheWrite1h: per('2'),
          output: per('5'),
          reasoning: per('7'),
        },
      },
    ],
  },
  false,
);

/** Computed by hand from the recorded figures, in nano-euro: fresh, read, written, output, reasoning. */
const BILLS: readonly (readonly [name: string, sum: bigint])[] = [
  // 6 × 1000 + 6289 × 100 + 3337 × 1250 + 198 × 5000
  ['anthropic/anthropic-code-execution-20260120-prompt-cache.1.chunks.txt', 5_796_150n],
  // (682 + 60385 compacted) × 1000 + (1320 + 592) × 5000
  ['anthropic/anthropic-compaction.1.json', 70_627_000n],
  // (4727 + 2728 advised) × 1000 + (3391 + 3880) × 5000
  ['anthropic/anthropic-advisor-20250301.1.chunks.txt', 43_810_000n],
  // 412 × 1000 + 264 × 5000: the fallback's figures are in the totals already
  ['anthropic/anthropic-fallback.json', 1_732_000n],
  // 51 × 1000 + 78 × 5000
  ['amazon-bedrock/amazon-bedrock-reasoning.json', 441_000n],
  // (3700 − 2560) × 1000 + 2560 × 100 + (741 − 640) × 5000 + 640 × 7000
  ['azure/openai-file-search-tool.1.json', 6_381_000n],
  // 175 × 1000 + 320 × 100 + (144 − 118) × 5000 + 118 × 7000
  ['deepseek/deepseek-json.json', 1_163_000n],
  // 9 × 1000 + 28 × 5000 + 244 × 7000: thoughts are beside the candidates
  ['google/google-text.json', 1_857_000n],
  // 17 × 1000 + (649 − 570) × 5000 + 570 × 7000
  ['groq/groq-reasoning.json', 4_402_000n],
  // (171 − 128) × 1000 + 128 × 100 + 14 × 5000
  ['mistral/mistral-incremental-tool-call.chunks.txt', 125_800n],
  // 16 × 1000 + 363 × 5000
  ['openai/openai-text.json', 1_831_000n],
  // (12 − 11) × 1000 + 11 × 100 + 1 × 5000 + 290 × 7000: reasoning is beside the completion
  ['xai/xai-text.chunks.txt', 2_037_100n],
  // (1941 − 947) × 1000 + 947 × 100 + (583 − 380) × 5000 + 380 × 7000: here it is inside
  ['xai/responses/xai-web-search-tool.1.json', 4_763_700n],
];

describe('bills', where, () => {
  test.each(BILLS)('%s costs what the hand-made sum says', (name, sum) => {
    const { usage } = decodeAnswer(textOf(name), formOf(name))!;
    expect(cost(price, usage!)).toBe(sum);
  });

  // That vendor tells what it bills, in ten-billionths of a dollar: at its own prices the buckets must add up to it.
  test.each(['xai-text.json', 'xai-text.chunks.txt', 'xai-tool-call.json', 'xai-tool-call.chunks.txt'])(
    'xai/%s costs what the vendor itself bills',
    (name) => {
      const text = textOf(`xai/${name}`);
      const ticks = Number(/"cost_in_usd_ticks":\s*(\d+)(?![\s\S]*"cost_in_usd_ticks")/.exec(text)![1]);
      const usage = decodeAnswer(text, formOf(name))!.usage!;
      const dollars = createPrice(
        {
          source: 'grok-3-mini',
          tiers: [{ above: 0, perMillion: { input: per('0.3'), cacheRead: per('0.075'), output: per('0.5') } }],
        },
        false,
      );
      expect(cost(dollars, usage)).toBe(BigInt(Math.ceil(ticks / 10)));
    },
  );
});
