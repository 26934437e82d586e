import { expect } from 'vitest';
import type { ModelRequest } from '../../hub/canonical.ts';
import type { BadRequestShape } from '../../hub/codec.ts';
import { readDocument } from '../../document/document.ts';
import type { JsonObject } from '../../document/json.ts';
import { UNKNOWN_MODEL, type Traits } from '../../hub/traits.ts';
import { responsesCodec, responsesUpstream } from '../codec.ts';

export function decode(body: object): { request: ModelRequest; losses: string[] } {
  const losses: string[] = [];
  const document = readDocument('responses', JSON.stringify({ model: 'p/m', input: 'x', ...body }));
  return { request: responsesCodec.decodeRequest(document, (what) => losses.push(what)), losses };
}

export const PLAIN: ModelRequest = {
  model: 'm',
  stream: false,
  system: [],
  turns: [{ role: 'user', parts: [{ type: 'text', text: 'x' }] }],
  tools: [],
  stop: [],
};

export function encode(
  request: Partial<ModelRequest>,
  traits: Partial<Traits> = {},
): { body: JsonObject; losses: string[] } {
  const losses: string[] = [];
  const all = { ...UNKNOWN_MODEL, ...traits };
  return { body: responsesUpstream.encodeRequest({ ...PLAIN, ...request }, all, (what) => losses.push(what)), losses };
}

export const refusal = (param: string) =>
  expect.objectContaining({ name: 'BadRequestShape', param }) as BadRequestShape;
