import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../document/json.ts';
import { responsesCodec } from './codec.ts';
import { context, eventsOf, write, parse, ANSWER } from './testing/streams.ts';

describe('the order of a stream', () => {
  const written = parse(write(eventsOf(ANSWER, 4)));
  const ID = '0a0b0c0d000040008000';

  test('is the one of the vendor', () => {
    const brief = written.map(({ type }) => type.replace('response.', '')).join(' ');
    const content = (deltas: string) => `content_part.added ${deltas} output_text.done content_part.done`;
    const call = (deltas: string) => `output_item.added ${deltas}function_call_arguments.done output_item.done`;
    expect(brief).toBe(
      [
        'created in_progress',
        'output_item.added reasoning_summary_part.added',
        'reasoning_summary_text.delta reasoning_summary_text.delta reasoning_summary_text.delta',
        'reasoning_summary_text.done reasoning_summary_part.done output_item.done',
        'output_item.added',
        content('output_text.delta output_text.delta'),
        content('output_text.delta output_text.delta output_text.delta'),
        'output_item.done',
        call('function_call_arguments.delta function_call_arguments.delta '),
        call('function_call_arguments.delta '),
        'output_item.added',
        content('output_text.delta'),
        'output_item.done',
        'completed',
      ].join(' '),
    );
  });

  test('is numbered, and every event says which item and which piece it speaks of', () => {
    expect(written.map((event) => event.sequence_number)).toEqual(written.map((_event, index) => index));
    const ids = written.flatMap((event) =>
      event.type === 'response.output_item.added' ? [(event['item'] as { id: string }).id] : [],
    );
    expect(ids).toEqual(['rs', 'msg', 'fc', 'fc', 'msg'].map((prefix, at) => `${prefix}_${ID}00000000000f_${at}`));
    for (const event of written) {
      if ('item_id' in event) expect(event['item_id']).toBe(ids[event['output_index'] as number]);
      if (event.type.startsWith('response.output_text') || event.type.startsWith('response.content_part')) {
        expect(event['content_index']).toBeTypeOf('number');
      }
    }
    const places = written
      .filter(({ type }) => type === 'response.output_text.done')
      .map((event) => [event['output_index'], event['content_index'], event['text']]);
    expect(places).toEqual([
      [1, 0, 'Hello'],
      [1, 1, ', Łódź 😀'],
      [4, 0, 'Bye'],
    ]);
  });

  test('ends with the whole answer, which alone tells usage', () => {
    const responses = written.flatMap((event) => ('response' in event ? [event['response'] as JsonObject] : []));
    expect(responses.map((response) => [response['status'], response['usage'] !== null])).toEqual([
      ['in_progress', false],
      ['in_progress', false],
      ['completed', true],
    ]);
    expect(responses.at(-1)).toEqual(responsesCodec.encodeAnswer(ANSWER, context));
    const items = written.flatMap((event) => (event.type === 'response.output_item.done' ? [event['item']] : []));
    expect(items).toEqual(responses.at(-1)?.['output']);
  });
});
