import { expect, test } from 'vitest';
import type { SseEvent } from '../answer/sse.ts';
import { ResponsesStreamDecoder } from './decode-stream.ts';

/** Twenty times what it takes, and a fifth of what it would take if each event cost as much as all before it. */
const MOST_MS = 1000;

function event(type: string, members: object): SseEvent {
  const data = JSON.stringify({ type: `response.${type}`, output_index: 0, ...members });
  return { event: undefined, data, raw: `data: ${data}\n\n` };
}

function timeOf(events: readonly SseEvent[]): number {
  const reader = new ResponsesStreamDecoder();
  const began = performance.now();
  for (const one of events) reader.decode(one);
  return performance.now() - began;
}

test('texts of one item cost the same however many there are', () => {
  const events = Array.from({ length: 20_000 }, (_, at) => [
    event('output_text.delta', { content_index: at, delta: 'a' }),
    event('content_part.done', { content_index: at }),
  ]).flat();
  expect(timeOf(events)).toBeLessThan(MOST_MS);
});
