import { describe, expect, test } from 'vitest';
import { GatewayError } from '#/errors/gateway-error.ts';
import { SseDecoder } from '#/wire/answer/sse.ts';
import { chatProtocol } from '../chat/protocol.ts';
import { messagesProtocol, speaksMessages } from '../messages/protocol.ts';
import { responsesProtocol } from '../responses/protocol.ts';
import type { ClientProtocol } from './client-protocol.ts';

const error = new GatewayError('server_restarting', 'Line one\nline two');

function told(protocol: ClientProtocol, last = ''): { event: string | undefined; data: unknown } {
  const [event, ...more] = new SseDecoder(10_000).push(Buffer.from(protocol.failureEvent(error, 'call-1', last)));
  expect(more).toEqual([]);
  return { event: event?.event, data: JSON.parse(event?.data ?? '') };
}

describe('limits', () => {
  const now = Date.parse('2026-11-21T10:00:00.250Z');
  const requests = { limit: 60, remaining: 59, resetMs: 12.4 };
  const tokens = { limit: 1000, remaining: 0, resetMs: 59_500 };

  test('have durations for OpenAI’s clients', () => {
    expect(chatProtocol.limitHeaders({ requests, tokens }, now)).toEqual({
      'x-ratelimit-limit-requests': '60',
      'x-ratelimit-remaining-requests': '59',
      'x-ratelimit-reset-requests': '13ms',
      'x-ratelimit-limit-tokens': '1000',
      'x-ratelimit-remaining-tokens': '0',
      'x-ratelimit-reset-tokens': '59.5s',
    });
    const reset = (resetMs: number) =>
      responsesProtocol.limitHeaders({ tokens: { ...tokens, resetMs } }, now)['x-ratelimit-reset-tokens'];
    expect([0, 999.5, 60_000, 60_999].map(reset)).toEqual(['0ms', '1s', '1m0s', '1m0.999s']);
  });

  test('have times for Anthropic’s clients', () => {
    expect(messagesProtocol.limitHeaders({ requests, tokens }, now)).toEqual({
      'anthropic-ratelimit-requests-limit': '60',
      'anthropic-ratelimit-requests-remaining': '59',
      'anthropic-ratelimit-requests-reset': '2026-11-21T10:00:01Z',
      'anthropic-ratelimit-tokens-limit': '1000',
      'anthropic-ratelimit-tokens-remaining': '0',
      'anthropic-ratelimit-tokens-reset': '2026-11-21T10:01:00Z',
    });
  });

  test('that a workload does not have are not told', () => {
    expect([chatProtocol.limitHeaders({}, now), messagesProtocol.limitHeaders({}, now)]).toEqual([{}, {}]);
    expect(Object.keys(messagesProtocol.limitHeaders({ requests }, now))).toHaveLength(3);
  });
});

describe('a failure in mid-stream', () => {
  test('is an unnamed event with the envelope in chat', () => {
    expect(told(chatProtocol)).toEqual({
      event: undefined,
      data: { error: { message: error.message, type: 'api_error', param: null, code: 'server_restarting' } },
    });
  });

  test('is an error event with the call id in messages', () => {
    expect(told(messagesProtocol)).toEqual({
      event: 'error',
      data: { type: 'error', error: { type: 'overloaded_error', message: error.message }, request_id: 'call-1' },
    });
  });

  const event = { type: 'error', code: 'server_restarting', message: error.message, param: null };
  test.each([
    ['nothing', '', 0],
    [
      'two events',
      'event: a\ndata: {"type":"a","sequence_number":7}\n\nevent: b\ndata: {"sequence_number" : 8,"type":"b"}\n\n',
      9,
    ],
    ['text that quotes one', 'data: {"sequence_number":3,"delta":"{\\"sequence_number\\":99}"}\n\n', 4],
  ])('is a numbered event of its own in responses, after %s', (_name, last, sequence) => {
    expect(told(responsesProtocol, last)).toEqual({ event: 'error', data: { ...event, sequence_number: sequence } });
  });
});

test('silence is broken by a comment, or a ping where the protocol has one', () => {
  expect(chatProtocol.keepalive).toBe(': keepalive\n\n');
  expect(responsesProtocol.keepalive).toBe(': keepalive\n\n');
  expect(messagesProtocol.keepalive).toBe('event: ping\ndata: {"type":"ping"}\n\n');
});

test.each([
  ['/v1/messages', true],
  ['/v1/messages/batches/x', true],
  ['/v1/messagesx', false],
  ['/anthropic', true],
  ['/anthropic/v1/anything', true],
  ['/anthropics', false],
  ['/v1/chat/completions', false],
  ['/', false],
])('%s belongs to the messages protocol: %s', (path, yes) => {
  expect(speaksMessages(path)).toBe(yes);
});
