import { expect } from 'vitest';
import { parseSse } from '../../../../test/harness/sse.ts';
import type { ModelAnswer, Part, StreamEvent } from '../../hub/canonical.ts';
import type { AnswerContext } from '../../hub/codec.ts';
import { readDocument } from '../../document/document.ts';
import { responsesCodec } from '../codec.ts';

export const TOOL = { type: 'function', name: 'f', parameters: { type: 'object' }, strict: false };

const REQUEST = {
  model: 'p/m',
  instructions: 'Be brief.',
  input: 'x',
  tools: [TOOL],
  tool_choice: 'auto',
  temperature: 0.5,
  max_output_tokens: 99,
  metadata: { a: 'b' },
  reasoning: { effort: 'low' },
  text: { verbosity: 'low' },
};

export const context: AnswerContext = {
  callId: '0a0b0c0d-0000-4000-8000-00000000000f',
  model: 'm',
  createdAt: 1_700_000_000,
  request: readDocument('responses', JSON.stringify(REQUEST)),
  includeUsage: true,
  estimatedInput: 3,
};

export const USAGE = { input: 5, cacheRead: 3, cacheWrite5m: 2, cacheWrite1h: 0, output: 7, reasoning: 4 };

/** The events that tell an answer, its texts in pieces of at most `size`. */
export function eventsOf({ parts, finish, usage }: ModelAnswer, size: number): StreamEvent[] {
  const pieces = (index: number, text: string): StreamEvent[] =>
    (text.match(new RegExp(`[^]{1,${size}}`, 'g')) ?? []).map((piece) => ({ type: 'part-delta', index, text: piece }));
  return [
    { type: 'start', id: 'theirs' },
    ...parts.flatMap((part, index): StreamEvent[] => {
      const end: StreamEvent = { type: 'part-end', index };
      if (part.type === 'tool-call') {
        const { argumentsJson, ...call } = part;
        return [
          { type: 'part-start', index, part: { ...call, argumentsJson: '' } },
          ...pieces(index, argumentsJson),
          end,
        ];
      }
      if (part.type !== 'text' && part.type !== 'refusal' && part.type !== 'reasoning') {
        return [{ type: 'part-start', index, part }, end];
      }
      const blank: Part = part.type === 'reasoning' ? { type: 'reasoning', text: '' } : { ...part, text: '' };
      const proof = part.type === 'reasoning' ? part.proof : undefined;
      const proven: StreamEvent[] = proof ? [{ type: 'part-proof', index, proof }] : [];
      return [{ type: 'part-start', index, part: blank }, ...pieces(index, part.text), ...proven, end];
    }),
    { type: 'finish', finish },
    ...(usage ? [{ type: 'usage', usage } as const] : []),
    { type: 'end' },
  ];
}

export function write(events: readonly StreamEvent[]): string {
  const encoder = responsesCodec.streamEncoder(context);
  return events.map((event) => encoder.encode(event)).join('');
}

export interface Written {
  readonly type: string;
  readonly sequence_number: number;
  readonly [member: string]: unknown;
}

export function parse(stream: string): readonly Written[] {
  return parseSse(Buffer.from(stream)).map((message) => {
    if (message.type !== 'event') throw new Error('a comment');
    const body = JSON.parse(message.data) as Written;
    expect(message.event).toBe(body.type);
    return body;
  });
}

export const ANSWER: ModelAnswer = {
  parts: [
    { type: 'reasoning', text: 'Let me see.', proof: { family: 'responses', value: 'c2VhbA==' } },
    { type: 'text', text: 'Hello' },
    { type: 'text', text: ', Łódź 😀' },
    { type: 'tool-call', id: 'call_1', name: 'f', argumentsJson: '{"a":1}' },
    { type: 'tool-call', id: 'call_2', name: 'f', argumentsJson: '' },
    { type: 'text', text: 'Bye' },
  ],
  finish: { reason: 'tool-calls' },
  usage: USAGE,
};
