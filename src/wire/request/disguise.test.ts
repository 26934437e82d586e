import { describe, expect, test } from 'vitest';
import { chatCodec } from '../chat/codec.ts';
import type { BadRequestShape, ClientCodec } from '../hub/codec.ts';
import { readDocument, type WireDocument } from '../document/document.ts';
import { messagesCodec } from '../messages/codec.ts';
import { responsesCodec } from '../responses/codec.ts';

/** Text that calls itself something else must be read all the same, or not be sent. */

const CARD = '4111111111111111';
const TEXT = Buffer.from(CARD).toString('base64');

function request(codec: ClientCodec, more: object): WireDocument {
  const said = codec.family === 'responses' ? { input: 'x' } : { messages: [{ role: 'user', content: 'x' }] };
  return readDocument(codec.family, JSON.stringify({ model: 'p/m', max_tokens: 9, ...said, ...more }));
}

const asks = (content: readonly object[]): object => ({ messages: [{ role: 'user', content }] });

describe('a text called an image', () => {
  test.each<[ClientCodec, object]>([
    [chatCodec, asks([{ type: 'image_url', image_url: { url: `data:text/plain;base64,${TEXT}` } }])],
    [chatCodec, asks([{ type: 'image_url', image_url: `data:application/json;base64,${TEXT}` }])],
    [
      responsesCodec,
      { input: [{ role: 'user', content: [{ type: 'input_image', image_url: `data:text/x;base64,${TEXT}` }] }] },
    ],
    [messagesCodec, asks([{ type: 'image', source: { type: 'base64', media_type: 'text/plain', data: TEXT } }])],
    [messagesCodec, asks([{ type: 'image', source: { type: 'url', url: `data:text/plain;base64,${TEXT}` } }])],
  ])('does not cross from $family: %j', (codec, more) => {
    expect(() => codec.decodeRequest(request(codec, more), () => {})).toThrow(
      expect.objectContaining({ name: 'BadRequestShape' }) as BadRequestShape,
    );
  });
});

describe('what a client fills as it likes is read through and through', () => {
  const disguised = { content: [{ type: 'image', data: CARD }], x: { type: 'input_image', data: CARD, result: CARD } };
  test.each<[ClientCodec, object]>([
    [chatCodec, { tools: [{ type: 'function', function: { name: 'f', parameters: disguised } }] }],
    [chatCodec, { functions: [{ name: 'f', parameters: disguised }] }],
    [chatCodec, { response_format: { type: 'json_schema', json_schema: { name: 'n', schema: disguised } } }],
    [chatCodec, { metadata: disguised }],
    [responsesCodec, { tools: [{ type: 'function', name: 'f', parameters: disguised }] }],
    [responsesCodec, { text: { format: { type: 'json_schema', name: 'n', schema: disguised } } }],
    [responsesCodec, { metadata: disguised }],
    [messagesCodec, { tools: [{ name: 'f', input_schema: disguised }] }],
  ])('%#: %j', (codec, more) => {
    const { leaves, media } = codec.contents(request(codec, more));
    expect(leaves.filter(({ text }) => text === CARD)).toHaveLength(3);
    expect(media).toEqual([]);
  });
});
