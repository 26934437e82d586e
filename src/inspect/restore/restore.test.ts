import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { AnswerOutOfBounds } from '#/wire/answer/answer-bounds.ts';
import { chatCodec } from '#/wire/chat/codec.ts';
import { isObject, type JsonObject } from '#/wire/document/json.ts';
import { SseDecoder, writeEvent } from '#/wire/answer/sse.ts';
import { restorationOf } from '../../../test/harness/restoration.ts';
import { restoreAnswer } from './restore-answer.ts';
import { FrameRestorer } from './restore-frames.ts';
import { TagTable } from '../tags.ts';
import { restoreText, TextRestorer } from './restore-text.ts';

const ORIGINALS = ['ada@example.com', 'DE89 3704 0044 0532 0130 00', '4111 1111 1111 1111', '"Q"\n\\ «x»', 'Łódź 😀'];

function tableOf(originals: readonly string[]): TagTable {
  const tags = new TagTable();
  for (const original of originals) tags.tagFor(original, 'EMAIL');
  return tags;
}

const ours = tableOf(ORIGINALS);
const tags = ours;
const [first, , , odd] = ORIGINALS.map((original) => tags.tagFor(original, 'EMAIL'));

function inPieces(text: string, cuts: readonly number[], kind: 'text' | 'json'): string {
  const restorer = new TextRestorer(restorationOf(tags), kind);
  let result = '';
  let at = 0;
  for (const cut of [...cuts, text.length]) {
    result += restorer.push(text.slice(at, cut));
    at = cut;
  }
  return result + restorer.flush();
}

describe('text', () => {
  test.each([
    ['nothing to do', 'nothing to do'],
    [`To: ${first}, ${first}`, `To: ${ORIGINALS[0]}, ${ORIGINALS[0]}`],
    ['«EMAIL_99» and «bonjour» «', '«EMAIL_99» and «bonjour» «'],
    [`««${first}»`, `««${ORIGINALS[0]}»`],
    ['«EMAIL_', '«EMAIL_'],
    [`«EMAIL_1${first}`, `«EMAIL_1${ORIGINALS[0]}`],
  ])('%j', (text, expected) => {
    expect(restoreText(text, restorationOf(tags), 'text')).toBe(expected);
    for (let cut = 0; cut <= text.length; cut++) expect(inPieces(text, [cut], 'text')).toBe(expected);
  });

  test('holds back only what may become a tag', () => {
    const restorer = new TextRestorer(restorationOf(tags), 'text');
    expect(restorer.push('mail «')).toBe('mail ');
    expect(restorer.push('EMAIL')).toBe('');
    expect(restorer.push(' me»')).toBe('«EMAIL me»');
    expect(restorer.push('«EMAIL_5')).toBe('');
    expect(restorer.push('5»')).toBe('«EMAIL_55»');
    expect(restorer.holding).toBe(false);
  });

  test('a table without tags holds nothing back', () => {
    expect(new TextRestorer(restorationOf(new TagTable()), 'text').push('«EMAIL_1')).toBe('«EMAIL_1');
  });
});

describe('JSON text', () => {
  const spellings = (tag: string): readonly string[] => [
    tag,
    tag.replace('«', '\\u00ab').replace('»', '\\u00bb'),
    tag.replace('«', '\\u00AB'),
    tag.replace('»', '\\u00Bb'),
  ];

  test('tags are found however they are spelt, and originals escaped, at every cut', () => {
    for (const tag of spellings(odd!)) {
      const text = `{"a":"x\\\\${tag}\\n","b":1}`;
      const expected = JSON.stringify({ a: `x\\${ORIGINALS[3]}\n`, b: 1 });
      for (let cut = 0; cut <= text.length; cut++) expect(inPieces(text, [cut], 'json')).toBe(expected);
    }
  });

  test('an escaped backslash before u00ab is no guillemet', () => {
    const text = '{"a":"\\\\u00abEMAIL_1\\\\u00bb"}';
    for (let cut = 0; cut <= text.length; cut++) expect(inPieces(text, [cut], 'json')).toBe(text);
  });

  test('restoring a rendered value is rendering the restored value', () => {
    const piece = fc.oneof(
      fc.constantFrom(...ORIGINALS.map((text) => tags.tagFor(text, 'EMAIL'))),
      fc.string({ unit: 'binary' }),
    );
    fc.assert(
      fc.property(fc.array(piece), fc.array(fc.nat(200)), (pieces, cuts) => {
        const value = pieces.join('');
        const text = JSON.stringify({ value });
        const sorted = cuts.filter((cut) => cut < text.length).sort((a, b) => a - b);
        expect(JSON.parse(inPieces(text, sorted, 'json'))).toEqual({
          value: restoreText(value, restorationOf(tags), 'text'),
        });
      }),
    );
  });
});

function chunk(delta: JsonObject, finish: string | null = null): string {
  return writeEvent(
    JSON.stringify({
      id: 'c1',
      object: 'chat.completion.chunk',
      created: 7,
      model: 'm',
      x: 1.5,
      choices: [{ index: 0, delta, finish_reason: finish }],
    }),
  );
}

/** Sends a stream through the restorer and adds up what a client would. */
function roundTrip(stream: string, tags = ours): { content: string; args: string; ended: boolean; events: number } {
  const decoder = new SseDecoder(1 << 20);
  const reader = chatCodec.streamReader();
  const restorer = new FrameRestorer(chatCodec, restorationOf(tags), false);
  const relayed = [...decoder.push(new TextEncoder().encode(stream)), ...decoder.end()]
    .map((event) => restorer.restore(event, reader.read(event)))
    .join('');
  const client = new SseDecoder(1 << 20);
  const result = { content: '', args: '', ended: false, events: 0 };
  for (const event of client.push(new TextEncoder().encode(relayed))) {
    result.events++;
    if (event.data === '[DONE]') result.ended = true;
    else {
      if (result.ended) throw new Error('an event after the end');
      const body = JSON.parse(event.data!) as {
        choices: { delta: { content?: string; tool_calls?: { function?: { arguments?: string } }[] } }[];
      };
      for (const { delta } of body.choices) {
        result.content += delta.content ?? '';
        for (const call of delta.tool_calls ?? []) result.args += call.function?.arguments ?? '';
      }
    }
  }
  return result;
}

describe('streams', () => {
  const text = `Mail ${first}, not «EMAIL_77», or ${odd}! «`;
  const restored = restoreText(text, restorationOf(tags), 'text');

  test('content comes back whole for every two cuts of the text', () => {
    for (let a = 0; a <= text.length; a++) {
      for (let b = a; b <= text.length; b += 3) {
        const parts = [text.slice(0, a), text.slice(a, b), text.slice(b)];
        const stream = parts.map((content) => chunk({ content })).join('') + chunk({}, 'stop') + 'data: [DONE]\n\n';
        expect(roundTrip(stream)).toMatchObject({ content: restored, ended: true });
      }
    }
  });

  test('tool-call arguments stay valid JSON for every cut', () => {
    const source = JSON.stringify({ to: odd, cc: [first], n: 1.5 });
    for (let cut = 0; cut <= source.length; cut++) {
      const call = (args: string) => chunk({ tool_calls: [{ index: 0, function: { arguments: args } }] });
      const { args } = roundTrip(call(source.slice(0, cut)) + call(source.slice(cut)) + chunk({}, 'tool_calls'));
      expect(JSON.parse(args)).toEqual({ to: ORIGINALS[3], cc: [ORIGINALS[0]], n: 1.5 });
    }
  });

  test('text and arguments of one stream are restored apart', () => {
    const half = Math.floor(first!.length / 2);
    const call = (args: string) => chunk({ tool_calls: [{ index: 0, function: { arguments: args } }] });
    const stream =
      chunk({ content: first!.slice(0, half) }) +
      call(`{"a":"${first!.slice(0, half)}`) +
      chunk({ content: first!.slice(half) }) +
      call(`${first!.slice(half)}"}`) +
      chunk({}, 'tool_calls');
    expect(roundTrip(stream)).toMatchObject({ content: ORIGINALS[0], args: JSON.stringify({ a: ORIGINALS[0] }) });
  });

  test('frames without a tag keep their bytes', () => {
    const plain = chunk({ content: 'plain « text' }).replace('"x":1.5', '"x": 1.50, "big":9007199254740993123');
    const reader = chatCodec.streamReader();
    const [event] = new SseDecoder(1 << 20).push(new TextEncoder().encode(plain));
    expect(new FrameRestorer(chatCodec, restorationOf(tags), false).restore(event!, reader.read(event!))).toBe(plain);
  });

  test('what is held when the stream ends is sent before its end', () => {
    expect(roundTrip(chunk({ content: 'x «EMAIL' }) + 'data: [DONE]\n\n')).toMatchObject({
      content: 'x «EMAIL',
      ended: true,
    });
    expect(roundTrip(chunk({ content: 'x «EMAIL' }) + chunk({}, 'stop'))).toMatchObject({
      content: 'x «EMAIL',
      events: 3,
    });
    expect(roundTrip(chunk({ content: 'x «EMAIL' }) + chunk({ content: '_1' }, 'stop')).content).toBe('x «EMAIL_1');
  });
});

test('a buffered answer is restored in every string, arguments as JSON, and keeps its other bytes', () => {
  const args = JSON.stringify({ to: odd });
  const answer = `{"id":"x","n":1.0,"choices":[{"message":{"content":"Hi ${first}","tool_calls":[{"function":{"arguments":${JSON.stringify(args)}}}],"vendor":["${first}"]}}]}`;
  const restored = restoreAnswer(answer, chatCodec, restorationOf(tags), false);
  expect(restored).toContain('"n":1.0');
  const body: unknown = JSON.parse(restored);
  expect(isObject(body) && body['choices']).toMatchObject([
    {
      message: {
        content: `Hi ${ORIGINALS[0]}`,
        vendor: [ORIGINALS[0]],
        tool_calls: [{ function: { arguments: JSON.stringify({ to: ORIGINALS[3] }) } }],
      },
    },
  ]);
});

test.each(['Hi ', 'Łódź 😀 / ', 'a\\n\\u00e9 '])('what is put into %j is escaped', (before) => {
  const answer = (text: string): string => `{"choices":[{"message":{"content":"${before}${text} ."}}]}`;
  for (const original of ORIGINALS) {
    const restored = restoreAnswer(answer(tags.tagFor(original, 'EMAIL')), chatCodec, restorationOf(tags), false);
    expect(JSON.parse(restored)).toEqual(JSON.parse(answer(JSON.stringify(original).slice(1, -1))));
  }
});

test('an answer asked for in JSON stays JSON whatever is restored', () => {
  const answer = JSON.stringify({ choices: [{ message: { content: JSON.stringify({ to: odd }) } }] });
  const body = JSON.parse(restoreAnswer(answer, chatCodec, restorationOf(tags), true)) as {
    choices: { message: { content: string } }[];
  };
  expect(JSON.parse(body.choices[0]!.message.content)).toEqual({ to: ORIGINALS[3] });
});

describe('a provider that makes much of little', () => {
  const long = new TagTable();
  const tag = long.tagFor('x'.repeat(1000), 'TERM');

  test('a text of tags is restored up to 4 MiB more, and no further', () => {
    expect(restoreText(tag.repeat(4000), restorationOf(long), 'text')).toHaveLength(4_000_000);
    expect(() => restoreText(tag.repeat(5000), restorationOf(long), 'text')).toThrow(AnswerOutOfBounds);
    const strings = Array.from({ length: 5000 }, () => tag);
    const answer = JSON.stringify({ choices: [{ message: { content: strings } }] });
    expect(() => restoreAnswer(answer, chatCodec, restorationOf(long), false)).toThrow(AnswerOutOfBounds);
  });

  test('a stream is bounded over all its texts together', () => {
    const stream = (texts: number): string =>
      Array.from({ length: texts }, (_, at) => chunk({ [`member${at}`]: tag.repeat(100) })).join('');
    expect(roundTrip(stream(40), long).events).toBe(40);
    expect(() => roundTrip(stream(50), long)).toThrow(AnswerOutOfBounds);
  });

  test('texts that stop inside a tag are remembered while they do, and 256 at most', () => {
    const member = (at: number, content: string): string => chunk({ [`member${at}`]: content });
    const each = (texts: number): string =>
      Array.from({ length: texts }, (_, at) => member(at, '«TERM') + member(at, '_1»')).join('');
    expect(roundTrip(each(2000), long).events).toBe(4000);
    const all = (texts: number): string => Array.from({ length: texts }, (_, at) => member(at, '«TERM')).join('');
    expect(roundTrip(all(256), long).events).toBe(256);
    expect(() => roundTrip(all(257), long)).toThrow(AnswerOutOfBounds);
  });
});
