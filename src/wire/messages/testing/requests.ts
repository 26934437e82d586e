import type Anthropic from '@anthropic-ai/sdk';
import fc from 'fast-check';
import { expect } from 'vitest';
import type { OnTheWire } from '../../../../test/harness/wire-type.ts';
import type { ModelRequest, Part, Turn } from '../../hub/canonical.ts';
import type { BadRequestShape } from '../../hub/codec.ts';
import { readDocument } from '../../document/document.ts';
import type { JsonObject } from '../../document/json.ts';
import { UNKNOWN_MODEL, type Traits } from '../../hub/traits.ts';
import { messagesCodec, messagesUpstream } from '../codec.ts';

/** The current version has no sampling; earlier models take it. */
export type Body = OnTheWire<Anthropic.MessageCreateParams> & {
  readonly temperature?: number;
  readonly top_k?: number;
};

export const CLAUDE: Traits = {
  ...UNKNOWN_MODEL,
  audio: false,
  documents: true,
  maxTemperature: 1,
  cacheMarks: 'hour',
  claude: true,
  reasoning: {
    control: 'adaptive',
    words: { minimal: 'low', low: 'low', medium: 'medium', high: 'high' },
    canDisable: true,
  },
};

export const BUDGET: Traits = {
  ...CLAUDE,
  maxOutputTokens: 64_000,
  sampling: 'either',
  midSystem: false,
  reasoning: {
    control: 'budget',
    words: {},
    budget: { shares: { minimal: 0, low: 0.1, high: 0.6 }, least: 1024 },
    canDisable: true,
  },
};

export const said = (...parts: readonly Part[]): Turn => ({ role: 'user', parts });
export const answered = (...parts: readonly Part[]): Turn => ({ role: 'assistant', parts });
export const text = (words: string): Part => ({ type: 'text', text: words });

export const marked = (words: string, ttl?: string): Part => ({
  type: 'text',
  text: words,
  cache: ttl === undefined ? {} : { ttl },
});

export const BASE: ModelRequest = {
  model: 'm',
  stream: false,
  system: [],
  turns: [said(text('hi'))],
  tools: [],
  stop: [],
};

export function encode(
  request: Partial<ModelRequest>,
  traits: Traits = CLAUDE,
): { body: JsonObject; losses: readonly string[] } {
  const losses: string[] = [];
  const body = messagesUpstream.encodeRequest({ ...BASE, ...request }, traits, (what) => losses.push(what));
  return { body, losses: losses.toSorted() };
}

export function decode(body: object): { request: ModelRequest; losses: readonly string[] } {
  const losses: string[] = [];
  const whole = { model: 'm', max_tokens: 9, messages: [{ role: 'user', content: 'hi' }], ...body };
  const document = readDocument('messages', JSON.stringify(whole));
  return { request: messagesCodec.decodeRequest(document, (what) => losses.push(what)), losses: losses.toSorted() };
}

export const refused = (param: string): BadRequestShape =>
  expect.objectContaining({ name: 'BadRequestShape', param }) as BadRequestShape;

export const words = fc.string({ minLength: 1, maxLength: 8 }).map((some) => `${some}.`);
