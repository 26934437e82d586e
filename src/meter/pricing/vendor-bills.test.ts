import { expect, test } from 'vitest';
import { chatCodec } from '#/wire/chat/codec.ts';
import type { JsonObject } from '#/wire/document/json.ts';
import { converseUpstream } from '#/wire/converse/codec.ts';
import { geminiUpstream } from '#/wire/gemini/codec.ts';
import { messagesCodec } from '#/wire/messages/codec.ts';
import { responsesCodec } from '#/wire/responses/codec.ts';
import type { Usage } from '#/wire/answer/usage.ts';
import { fraction, times } from './fraction.ts';
import { sheetOf } from './price-list.ts';
import { createPrice } from './price-sheet.ts';
import { cost } from './price.ts';

/** Bills as vendors' price pages have them added up, from an answer in the vendor's words. Amounts are dollars. */

const MILLION_NANO = { numerator: 1_000_000_000n, denominator: 1n };

function bill(usage: Usage | undefined, dollars: Readonly<Record<string, string>>): bigint {
  const usd = new Map(Object.entries(dollars).map(([name, amount]) => [name, fraction(amount)]));
  return cost(createPrice(sheetOf(usd, times(fraction('1'), MILLION_NANO), 'page')!, false), usage!);
}
const nano = (dollars: number): bigint => BigInt(Math.round(dollars * 1e9));

const GPT_5 = {
  input: '1.25',
  cacheRead: '0.125',
  output: '10',
  'flex:input': '0.625',
  'flex:cacheRead': '0.0625',
  'flex:output': '5',
  'priority:input': '2.5',
  'priority:cacheRead': '0.25',
  'priority:output': '20',
};
const CLAUDE = {
  input: '3',
  cacheRead: '0.3',
  cacheWrite5m: '3.75',
  cacheWrite1h: '6',
  output: '15',
  'batch:input': '1.5',
  'batch:output': '7.5',
};

const chatUsage = {
  prompt_tokens: 2006,
  completion_tokens: 300,
  total_tokens: 2306,
  prompt_tokens_details: { cached_tokens: 1920, audio_tokens: 0 },
  completion_tokens_details: { reasoning_tokens: 128, audio_tokens: 0 },
};

test.each([
  // 86 fresh, 1,920 cached, 300 out.
  ['default', nano((86 * 1.25 + 1920 * 0.125 + 300 * 10) / 1e6)],
  ['flex', nano((86 * 0.625 + 1920 * 0.0625 + 300 * 5) / 1e6)],
  ['priority', nano((86 * 2.5 + 1920 * 0.25 + 300 * 20) / 1e6)],
])('OpenAI, chat and responses, in the tier that was given: %s', (service_tier, amount) => {
  const body = {
    id: 'c',
    service_tier,
    choices: [{ message: { content: 'x' }, finish_reason: 'stop' }],
    usage: chatUsage,
  };
  expect(bill(chatCodec.readAnswer(body).usage, GPT_5)).toBe(amount);
  const usage = {
    input_tokens: 2006,
    input_tokens_details: { cached_tokens: 1920 },
    output_tokens: 300,
    output_tokens_details: { reasoning_tokens: 128 },
  };
  expect(bill(responsesCodec.readAnswer({ id: 'r', object: 'response', service_tier, usage }).usage, GPT_5)).toBe(
    amount,
  );
});

test('OpenAI, sound in and out: 100 text and 400 sound sent, 20 text and 180 sound said', () => {
  const usage = {
    prompt_tokens: 500,
    completion_tokens: 200,
    total_tokens: 700,
    prompt_tokens_details: { cached_tokens: 0, audio_tokens: 400, text_tokens: 100 },
    completion_tokens_details: { reasoning_tokens: 0, audio_tokens: 180, text_tokens: 20 },
  };
  const read = chatCodec.readAnswer({ id: 'c', choices: [{ message: {} }], usage }).usage;
  expect(read).toMatchObject({ input: 100, inputAudio: 400, output: 20, outputAudio: 180 });
  const dollars = { input: '2.5', inputAudio: '32', output: '10', outputAudio: '64' };
  expect(bill(read, dollars)).toBe(nano((100 * 2.5 + 400 * 32 + 20 * 10 + 180 * 64) / 1e6));
});

test.each([
  ['standard', nano((50 * 3 + 100_000 * 0.3 + 248 * 3.75 + 456 * 6 + 503 * 15) / 1e6)],
  // What the page does not say of a batch is billed as the list says.
  ['batch', nano((50 * 1.5 + 100_000 * 1.5 + 248 * 3.75 + 456 * 6 + 503 * 7.5) / 1e6)],
])('Anthropic, cache writes for five minutes and an hour: %s', (service_tier, amount) => {
  const usage = {
    input_tokens: 50,
    cache_read_input_tokens: 100_000,
    cache_creation_input_tokens: 704,
    cache_creation: { ephemeral_5m_input_tokens: 248, ephemeral_1h_input_tokens: 456 },
    output_tokens: 503,
    service_tier,
  };
  const answer = { id: 'm', type: 'message', role: 'assistant', content: [], usage };
  expect(bill(messagesCodec.readAnswer(answer).usage, CLAUDE)).toBe(amount);
});

const GEMINI = {
  input: '0.3',
  inputAudio: '1',
  cacheRead: '0.03',
  cacheReadAudio: '0.1',
  output: '2.5',
  outputImage: '30',
  'flex:input': '0.15',
  'flex:output': '1.25',
};
const gemini = (usageMetadata: object, parts: readonly object[] = [{ text: 'x' }]): Usage | undefined =>
  geminiUpstream.decodeAnswer({
    candidates: [{ content: { parts }, finishReason: 'STOP' }],
    usageMetadata,
  } as unknown as JsonObject)?.usage;

test('Gemini, sound sent and partly cached, thoughts beside the answer', () => {
  const read = gemini({
    promptTokenCount: 1000,
    cachedContentTokenCount: 300,
    promptTokensDetails: [
      { modality: 'TEXT', tokenCount: 400 },
      { modality: 'AUDIO', tokenCount: 600 },
    ],
    cacheTokensDetails: [
      { modality: 'TEXT', tokenCount: 100 },
      { modality: 'AUDIO', tokenCount: 200 },
    ],
    candidatesTokenCount: 50,
    thoughtsTokenCount: 70,
  });
  expect(read).toEqual({
    input: 300,
    inputAudio: 400,
    cacheRead: 100,
    cacheReadAudio: 200,
    cacheWrite5m: 0,
    cacheWrite1h: 0,
    output: 50,
    reasoning: 70,
  });
  expect(bill(read, GEMINI)).toBe(nano((300 * 0.3 + 400 * 1 + 100 * 0.03 + 200 * 0.1 + 120 * 2.5) / 1e6));
});

test('Gemini, a picture made: 1,290 tokens of it and 12 of text; without a word about them all are the picture', () => {
  const picture = [{ text: 'Here' }, { inlineData: { mimeType: 'image/png', data: 'AAAA' } }];
  const counts = { promptTokenCount: 10, candidatesTokenCount: 1302 };
  const candidatesTokensDetails = [
    { modality: 'IMAGE', tokenCount: 1290 },
    { modality: 'TEXT', tokenCount: 12 },
  ];
  expect(bill(gemini({ ...counts, candidatesTokensDetails }, picture), GEMINI)).toBe(
    nano((10 * 0.3 + 1290 * 30 + 12 * 2.5) / 1e6),
  );
  expect(bill(gemini(counts, picture), GEMINI)).toBe(nano((10 * 0.3 + 1302 * 30) / 1e6));
});

test.each(['flex', 'SERVICE_TIER_FLEX', 'FLEX'])('Gemini says %s for flex', (serviceTier) => {
  const read = gemini({ promptTokenCount: 1000, candidatesTokenCount: 100, serviceTier });
  expect(bill(read, GEMINI)).toBe(nano((1000 * 0.15 + 100 * 1.25) / 1e6));
});

test('Vertex says so of the traffic', () => {
  const told = (trafficType: string) =>
    gemini({ promptTokenCount: 1, candidatesTokenCount: 1, trafficType })?.serviceTier;
  expect(['ON_DEMAND', 'ON_DEMAND_FLEX', 'ON_DEMAND_PRIORITY', 'TRAFFIC_TYPE_UNSPECIFIED'].map(told)).toEqual([
    undefined,
    'flex',
    'priority',
    undefined,
  ]);
});

test('Bedrock, cached input beside the fresh one, in the tier that was given', () => {
  const body = {
    output: { message: { role: 'assistant', content: [{ text: 'x' }] } },
    stopReason: 'end_turn',
    usage: { inputTokens: 50, outputTokens: 20, cacheReadInputTokens: 1000, cacheWriteInputTokens: 30 },
    serviceTier: { type: 'priority' },
  };
  const dollars = { ...CLAUDE, 'priority:input': '5.25', 'priority:output': '26.25' };
  // Cached input has no rate of its own in this tier: it is no cheaper than fresh input there.
  expect(bill(converseUpstream.decodeAnswer(body)?.usage, dollars)).toBe(
    nano((50 * 5.25 + 1000 * 5.25 + 30 * 5.25 + 20 * 26.25) / 1e6),
  );
});
