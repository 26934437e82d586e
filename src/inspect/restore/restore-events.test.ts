import { describe, expect, test } from 'vitest';
import type { Part, StreamEvent } from '#/wire/hub/canonical.ts';
import { restorationOf } from '../../../test/harness/restoration.ts';
import { EventRestorer } from './restore-events.ts';
import { TagTable } from '../tags.ts';

const tags = new TagTable();
const TAG = tags.tagFor('ada@example.com', 'EMAIL');
const QUOTED = tags.tagFor('say "hi"', 'TERM');

/** What a client that adds up the parts would read, and how many pieces it came in. */
function readAll(events: readonly StreamEvent[], jsonAnswer = false): { texts: string[]; kinds: string[] } {
  const restorer = new EventRestorer(restorationOf(tags), jsonAnswer);
  const texts: string[] = [];
  const kinds: string[] = [];
  for (const event of events.flatMap((one) => restorer.restore(one))) {
    kinds.push(event.type);
    if (event.type === 'part-start') texts[event.index] = start(event.part);
    if (event.type === 'part-delta') texts[event.index] += event.text;
  }
  return { texts, kinds };
}

function start(part: Part): string {
  if ('text' in part) return part.text;
  return part.type === 'tool-call' ? part.argumentsJson : '';
}

const text = (index: number, value = ''): StreamEvent => ({
  type: 'part-start',
  index,
  part: { type: 'text', text: value },
});
const delta = (index: number, value: string): StreamEvent => ({ type: 'part-delta', index, text: value });

describe('a stream of events', () => {
  const said = `a ${TAG} b ${QUOTED} «EMAIL_2» «`;
  const meant = 'a ada@example.com b say "hi" «EMAIL_2» «';

  test('is restored wherever it was cut', () => {
    for (let one = 0; one <= said.length; one++) {
      for (let two = one; two <= said.length; two++) {
        const cut = [said.slice(0, one), said.slice(one, two), said.slice(two)];
        const { texts } = readAll([text(0), ...cut.map((piece) => delta(0, piece)), { type: 'part-end', index: 0 }]);
        expect(texts).toEqual([meant]);
      }
    }
  });

  test('begins to be restored with the first text of a part', () => {
    const { texts } = readAll([text(0, TAG.slice(0, 4)), delta(0, TAG.slice(4)), { type: 'part-end', index: 0 }]);
    expect(texts).toEqual(['ada@example.com']);
  });

  test('keeps tool-call arguments valid JSON', () => {
    const call: Part = { type: 'tool-call', id: 'c', name: 'f', argumentsJson: '' };
    const json = JSON.stringify({ x: QUOTED });
    const pieces = json.split('').map((piece) => delta(0, piece));
    const events = [
      { type: 'part-start', index: 0, part: call } as const,
      ...pieces,
      { type: 'part-end', index: 0 } as const,
    ];
    expect(JSON.parse(readAll(events).texts[0]!)).toEqual({ x: 'say "hi"' });
  });

  test('escapes in text only when the answer is JSON', () => {
    const events: StreamEvent[] = [text(0, QUOTED), { type: 'part-end', index: 0 }];
    expect(readAll(events, true).texts).toEqual(['say \\"hi\\"']);
    expect(readAll(events, false).texts).toEqual(['say "hi"']);
  });

  test('tells interleaved parts apart, and lets go of all before the end', () => {
    const events: StreamEvent[] = [
      text(0),
      text(1),
      delta(0, TAG.slice(0, 3)),
      delta(1, TAG.slice(0, 5)),
      delta(0, TAG.slice(3)),
      delta(1, 'x'),
      delta(1, '«EMAIL'),
      { type: 'finish', finish: { reason: 'stop' } },
    ];
    const { texts, kinds } = readAll(events);
    expect(texts).toEqual(['ada@example.com', `${TAG.slice(0, 5)}x«EMAIL`]);
    expect(kinds.at(-1)).toBe('finish');
  });

  test('leaves thinking alone where it is signed, whatever else is restored', () => {
    const thinking: Part = { type: 'reasoning', text: TAG.slice(0, 2) };
    const events: StreamEvent[] = [
      { type: 'part-start', index: 0, part: thinking },
      delta(0, TAG.slice(2)),
      { type: 'part-end', index: 0 },
      text(1, TAG),
      { type: 'part-end', index: 1 },
    ];
    const said = (keepsThinking: boolean): string[] => {
      const restorer = new EventRestorer(restorationOf(tags), false, keepsThinking);
      const texts = ['', ''];
      for (const event of events.flatMap((one) => restorer.restore(one))) {
        if (event.type === 'part-start') texts[event.index] += start(event.part);
        if (event.type === 'part-delta') texts[event.index] += event.text;
      }
      return texts;
    };
    expect(said(true)).toEqual([TAG, 'ada@example.com']);
    expect(said(false)).toEqual(['ada@example.com', 'ada@example.com']);
  });

  test('tells the stop string as the client gave it', () => {
    const restorer = new EventRestorer(restorationOf(tags), false);
    const finish = { reason: 'stop-sequence', stopSequence: TAG } as const;
    expect(restorer.restore({ type: 'finish', finish })).toEqual([
      { type: 'finish', finish: { ...finish, stopSequence: 'ada@example.com' } },
    ]);
  });

  test('leaves opaque parts and proofs as they are', () => {
    const part: Part = { type: 'opaque', family: 'messages', name: 'x', value: { text: TAG } };
    const events: StreamEvent[] = [
      { type: 'part-start', index: 0, part },
      { type: 'part-proof', index: 0, proof: { family: 'messages', value: TAG } },
      { type: 'part-end', index: 0 },
    ];
    const restorer = new EventRestorer(restorationOf(tags), false);
    expect(events.flatMap((event) => restorer.restore(event))).toEqual(events);
  });
});
