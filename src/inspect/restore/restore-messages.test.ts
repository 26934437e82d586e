import fc from 'fast-check';
import { expect, test } from 'vitest';
import { SseDecoder, writeEvent } from '#/wire/answer/sse.ts';
import { messagesCodec } from '#/wire/messages/codec.ts';
import { restorationOf } from '../../../test/harness/restoration.ts';
import { restoreAnswer } from './restore-answer.ts';
import { FrameRestorer } from './restore-frames.ts';
import { TagTable } from '../tags.ts';

const MAIL = 'ada@example.com';
const QUOTED = 'say "hi"';
const tags = new TagTable();
const mail = tags.tagFor(MAIL, 'EMAIL', 0);
const quoted = tags.tagFor(QUOTED, 'NAME', 0);

const frame = (body: { readonly type: string }): string => writeEvent(JSON.stringify(body), body.type);
const delta = (index: number, said: object): string =>
  frame({ type: 'content_block_delta', index, delta: said } as never);
const start = (index: number, content_block: object): string =>
  frame({ type: 'content_block_start', index, content_block } as never);
const stop = (index: number): string => frame({ type: 'content_block_stop', index } as never);

function restored(stream: string): string {
  const reader = messagesCodec.streamReader();
  const restorer = new FrameRestorer(messagesCodec, restorationOf(tags), false);
  const events = new SseDecoder(2 ** 20).push(Buffer.from(stream));
  return events.map((event) => restorer.restore(event, reader.read(event))).join('') + restorer.end();
}

/** What the blocks of a stream say, by their index. */
function said(stream: string): Readonly<Record<string, string>> {
  const texts: Record<string, string> = {};
  for (const event of new SseDecoder(2 ** 20).push(Buffer.from(stream))) {
    const body = JSON.parse(event.data ?? '{}') as { type: string; index: number; delta?: Record<string, string> };
    expect(event.event).toBe(body.type);
    const text = body.delta?.['text'] ?? body.delta?.['partial_json'] ?? body.delta?.['thinking'] ?? '';
    texts[body.index] = (texts[body.index] ?? '') + text;
  }
  return texts;
}

test('a stream without tags keeps its bytes, unknown members too', () => {
  const stream =
    'event: message_start\ndata: {"type":"message_start", "message":{"id":"msg_1","new":1.0}}\n\n' +
    start(0, { type: 'text', text: '' }) +
    'event: content_block_delta\ndata: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"caf\\u00e9"},"x":1.50}\n\n' +
    ': comment\n\nevent: aurora\ndata: {"type":"aurora"}\n\n' +
    stop(0);
  expect(restored(stream)).toBe(stream);
});

test('tags are restored wherever they are cut, in every block on its own', () => {
  const words = `mail ${mail}, not «EMAIL_`;
  const json = JSON.stringify({ to: mail, name: quoted });
  const ends = fc.nat(words.length);
  fc.assert(
    fc.property(ends, ends, (first, second) => {
      const [from, to] = [Math.min(first, second), Math.max(first, second)];
      const cut = (text: string): readonly string[] => [text.slice(0, from), text.slice(from, to), text.slice(to)];
      const stream =
        start(0, { type: 'text', text: '' }) +
        cut(words)
          .map((text) => delta(0, { type: 'text_delta', text }))
          .join('') +
        stop(0) +
        start(1, { type: 'tool_use', id: 't', name: 'f', input: {} }) +
        cut(json)
          .map((partial_json) => delta(1, { type: 'input_json_delta', partial_json }))
          .join('') +
        stop(1) +
        frame({ type: 'message_stop' });
      const result = restored(stream);
      const texts = said(result);
      expect(texts['0']).toBe(`mail ${MAIL}, not «EMAIL_`);
      expect(JSON.parse(texts['1'] ?? '')).toEqual({ to: MAIL, name: QUOTED });
      expect(result.endsWith(stop(1) + frame({ type: 'message_stop' }))).toBe(true);
    }),
  );
});

test('text held back comes before the block that it belongs to ends', () => {
  const result = restored(
    start(0, { type: 'text', text: '' }) + delta(0, { type: 'text_delta', text: 'a «EMAIL' }) + stop(0),
  );
  expect(result.endsWith(delta(0, { type: 'text_delta', text: '«EMAIL' }) + stop(0))).toBe(true);
});

test('thinking keeps its tags, what comes whole does not', () => {
  const thinking =
    start(0, { type: 'thinking', thinking: '', signature: '' }) + delta(0, { type: 'thinking_delta', thinking: mail });
  expect(restored(thinking)).toBe(thinking);
  const whole = start(1, { type: 'web_fetch_tool_result', content: { title: `${mail} «EMAIL` } });
  expect(restored(whole)).toBe(start(1, { type: 'web_fetch_tool_result', content: { title: `${MAIL} «EMAIL` } }));
  const last = (stop_sequence: string): string =>
    frame({ type: 'message_delta', delta: { stop_reason: 'stop_sequence', stop_sequence } } as never);
  expect(restored(last(mail))).toBe(last(MAIL));
});

test('an answer is restored save its signed thinking', () => {
  const answer = (value: string): string =>
    JSON.stringify({
      type: 'message',
      content: [
        { type: 'thinking', thinking: mail, signature: 'c2ln' },
        { type: 'text', text: value },
        { type: 'tool_use', id: 't', name: 'f', input: { to: value } },
      ],
    });
  expect(restoreAnswer(answer(mail), messagesCodec, restorationOf(tags), false)).toBe(answer(MAIL));
});
