import { describe, expect, test } from 'vitest';
import type { Surface } from '#/call/call.ts';
import type { PassthroughCall } from '#/call/passthrough-call.ts';
import { AnswerTally } from '../answer-tally.ts';
import { PassedAnswer, type SentBody } from './passed-answer.ts';

const NO_BODY: SentBody = { textLength: 0, images: 1, seconds: undefined, isForm: false };

/** The notes on an answer of so many bytes, or of this text. */
function meter(
  surface: Surface,
  sent: Partial<SentBody>,
  { sentBytes = 0, bytes = 0, text = '', type = '' },
): Pick<AnswerTally, 'seen' | 'usage' | 'units'> {
  const tally = new AnswerTally();
  const call = { surface, quantities: ['tokens', 'seconds', 'images'] } as unknown as PassthroughCall;
  const answer = new PassedAnswer(call, { ...NO_BODY, ...sent }, tally, type);
  answer.begin(sentBytes);
  for (let left = bytes; left > 0; left -= 100) answer.add(Math.min(left, 100));
  if (text !== '') answer.read(text);
  return tally;
}

describe('our own count', () => {
  test('of a recording follows its bytes', () => {
    const { seen, units } = meter('audio', { isForm: true, textLength: 40 }, { sentBytes: 160_040, bytes: 80 });
    expect(seen).toMatchObject({ input: 10, inputAudio: 170, output: 20 });
    expect(units).toEqual({ seconds: 10 });
  });

  test.each([
    ['audio/mpeg', 6],
    ['audio/wav', 2],
    ['audio/pcm;rate=24000', 2],
  ])('of speech follows the bytes of its kind (%s)', (type, seconds) => {
    const { seen, units } = meter('audio', { textLength: 8 }, { bytes: 96_000, type });
    expect(seen).toMatchObject({ input: 2, output: 0, outputAudio: seconds * 17 });
    expect(units).toEqual({ seconds });
  });

  test.each([
    [8, 8],
    [undefined, 4],
  ])('of a video follows the request (%s)', (seconds, billed) => {
    expect(meter('videos', { seconds }, { text: '{"id":"v"}' }).units).toEqual({ seconds: billed });
  });

  test('of pictures follows the request', () => {
    expect(meter('images', { images: 3, isForm: true }, { sentBytes: 9 })).toMatchObject({
      units: { images: 3 },
      seen: { output: 0, outputImage: 3168 },
    });
  });
});

describe('what an answer tells', () => {
  test.each([
    ['{"duration":2.1}', { seconds: 3 }],
    ['{"seconds":"8"}', { seconds: 8 }],
    ['{"usage":{"type":"duration","seconds":7}}', { seconds: 7 }],
    ['{"duration":1e300}', { seconds: 1 }],
    ['{"seconds":"1e3","duration":-1}', { seconds: 1 }],
    ['{"data":[{},{}]}', { seconds: 1, images: 1 }],
    ['[1]', { seconds: 1 }],
    ['{', { seconds: 1 }],
  ])('goes before it (%s)', (text, units) => {
    expect(meter('audio', {}, { bytes: 10, text }).units).toEqual(units);
  });

  test('input is sound, except the part that the answer calls text', () => {
    const usage = { input_tokens: 14, input_token_details: { text_tokens: 4, audio_tokens: 10 }, output_tokens: 5 };
    expect(meter('audio', { isForm: true }, { text: JSON.stringify({ usage }) }).usage).toMatchObject({
      input: 4,
      inputAudio: 10,
      output: 5,
    });
    expect(meter('videos', {}, { text: JSON.stringify({ usage }) }).usage).toMatchObject({ input: 14, output: 5 });
  });

  test.each([
    ['{"usage":{"input_tokens":1e300,"output_tokens":4}}', undefined],
    ['{"usage":{"input_tokens":3,"output_tokens":-4}}', undefined],
    ['{"usage":{"input_tokens":3,"output_tokens":4.9}}', undefined],
    ['{"usage":{"input_tokens":3,"output_tokens":1e9}}', undefined],
    ['{"usage":{"input_tokens":3,"output_tokens":4160}}', { input: 3, outputImage: 4160 }],
    ['{"usage":{"input_tokens":"3"}}', undefined],
  ])('of usage is a whole number of tokens (%s)', (text, usage) => {
    const { usage: told } = meter('images', {}, { text });
    if (usage === undefined) expect(told).toBeUndefined();
    else expect(told).toMatchObject(usage);
  });
});

describe('an answer of a path without a surface', () => {
  const sent = { textLength: 400, outputTokens: 50 };

  test.each([
    ['{"usage":{"prompt_tokens":10,"completion_tokens":5}}', { input: 10, output: 5 }],
    ['{"usage":{"input_tokens":10,"output_tokens":5}}', { input: 10, output: 5 }],
    ['{"usage":{"total_tokens":10}}', { input: 10, output: 0 }],
    ['{"usage":{"total_tokens":-1}}', undefined],
    ['{"usage":{"prompt_tokens":401,"completion_tokens":5}}', undefined],
    ['{"usage":{"prompt_tokens":10,"completion_tokens":51}}', undefined],
    ['{"usage":[]}', undefined],
  ])('%s', (text, usage) => {
    const tally = meter('passthrough', sent, { text });
    if (usage) expect(tally.usage).toMatchObject(usage);
    else expect(tally.usage).toBeUndefined();
    expect(tally.seen).toMatchObject({ input: 100 });
  });

  test.each([
    [
      'data: {"usage":{"input_tokens":1,"output_tokens":1}}\n\ndata: {"usage":{"input_tokens":7,"output_tokens":2}}\n\n',
      7,
    ],
    ['data: {"response":{"usage":{"input_tokens":7,"output_tokens":2}}}\r\n\r\ndata: [DONE]\r\n\r\n', 7],
    ['ut_tokens":9}}\n\ndata: {"usage":{"input_tokens":7,"output_tokens":2}}\n\ndata: {"usage":', 7],
    ['data: {"choices":[]}\n\n', undefined],
  ])('%j at the end of a stream', (end, input) => {
    const tally = new AnswerTally();
    const call = { surface: 'passthrough', quantities: ['tokens'] } as unknown as PassthroughCall;
    const answer = new PassedAnswer(call, { ...NO_BODY, ...sent }, tally);
    answer.readEvents(end);
    expect(tally.usage?.input).toBe(input);
  });
});
