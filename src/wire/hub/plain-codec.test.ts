import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { BadRequestShape, Codec } from './codec.ts';
import { readDocument, render, type WireDocument } from '../document/document.ts';
import { embeddingsCodec } from '../embeddings/codec.ts';
import { imagesCodec } from '../images/codec.ts';
import type { JsonObject } from '../document/json.ts';
import { moderationsCodec } from '../moderations/codec.ts';
import { ocrCodec } from '../ocr/codec.ts';
import { rerankCodec } from '../rerank/codec.ts';
import { NO_USAGE } from '../answer/usage.ts';

const pdf = 'data:application/pdf;base64,JVBE';
const picture = 'data:image/png;base64,AAAA';
const plain: Readonly<Record<string, { readonly codec: Codec; readonly body: object }>> = {
  embeddings: { codec: embeddingsCodec, body: { input: 'x' } },
  moderations: { codec: moderationsCodec, body: { input: 'x' } },
  ocr: { codec: ocrCodec, body: { document: { type: 'document_url', document_url: pdf } } },
  images: { codec: imagesCodec, body: { prompt: 'x' } },
  rerank: { codec: rerankCodec, body: { query: 'x', documents: ['a'] } },
};

function request(name: string, more: object = {}): { codec: Codec; document: WireDocument } {
  const { codec, body } = plain[name] as { codec: Codec; body: object };
  return { codec, document: readDocument(codec.family, JSON.stringify({ model: 'p/m', ...body, ...more })) };
}

describe('requests', () => {
  test.each(Object.keys(plain))('%s names the model, and asks for one whole answer', (name) => {
    const { codec, document } = request(name);
    const asked = codec.ask(document);
    expect(asked).toMatchObject({ model: 'p/m', stream: false, includeUsage: false, answers: 1, jsonAnswer: false });
    expect(asked.modelNode.value).toBe('p/m');
    expect(codec.family).toBe(name);
  });

  test.each<[string, object, string]>([
    ...Object.keys(plain).map((name): [string, object, string] => [name, { model: 'two words' }, 'model']),
    ...Object.keys(plain).map((name): [string, object, string] => [name, { MODEL: 'p/other' }, 'model']),
    ['embeddings', { input: [] }, 'input'],
    ['embeddings', { input: { text: 'x' } }, 'input'],
    ['embeddings', { encoding_format: 7 }, 'encoding_format'],
    ['moderations', { input: null }, 'input'],
    ['ocr', { document: null }, 'document'],
    ['ocr', { document: 'x' }, 'document'],
    ['ocr', { document: { type: 'file', file_id: 'f' } }, 'document.file_id'],
    ['ocr', { document: { document_url: 'file:///etc/passwd' } }, 'document'],
    ['ocr', { document: { image_url: {} } }, 'document'],
    ['images', { prompt: '' }, 'prompt'],
    ['rerank', { query: '' }, 'query'],
    ['rerank', { query: ['x'] }, 'query'],
    ['rerank', { documents: [] }, 'documents'],
    ['rerank', { documents: 'a' }, 'documents'],
    ['rerank', { documents: ['a', null] }, 'documents[1]'],
    ['rerank', { documents: ['a', ['b']] }, 'documents[1]'],
    ['rerank', { documents: Array.from({ length: 10_001 }, () => 'a') }, 'documents'],
    ['rerank', { top_n: 0 }, 'top_n'],
    ['rerank', { top_k: 'all' }, 'top_k'],
    ['rerank', { TOP_N: 1 }, 'top_n'],
    ['images', { n: 0 }, 'n'],
    ['images', { stream: true }, 'stream'],
  ])('%s: %j is refused, naming %s', (name, more, param) => {
    const { codec, document } = request(name, more);
    expect(() => codec.ask(document)).toThrow(
      expect.objectContaining({ name: 'BadRequestShape', param }) as BadRequestShape,
    );
  });

  test.each([
    ['images', { n: 3 }, { images: 3 }],
    ['rerank', { documents: Array.from({ length: 101 }, () => 'a') }, { searches: 2 }],
    ['images', {}, { images: 1 }],
    ['ocr', { pages: [0, 2, 5] }, { pages: 3 }],
    ['ocr', { pages: '0-4,7' }, { pages: 6 }],
    ['ocr', { pages: 'all' }, undefined],
    ['ocr', {}, undefined],
  ])('%s with %j is billed by at most %j', (name, more, units) => {
    const { codec, document } = request(name, more);
    expect(codec.ask(document).units).toEqual(units);
  });

  test.each<[string, object, readonly string[], readonly object[]]>([
    ['embeddings', { input: ['a', 'b'], user: 'u' }, ['input', 'a', 'b', 'model', 'user', 'u'], []],
    ['embeddings', { input: [[1, 2]] }, ['input', 'model'], []],
    [
      'moderations',
      {
        input: [
          { type: 'text', text: 'a' },
          { type: 'image_url', image_url: { url: picture } },
        ],
      },
      ['input', 'type', 'text', 'text', 'a', 'type', 'image_url', 'image_url', 'url', 'model'],
      [{ kind: 'image', source: 'inline', length: picture.length }],
    ],
    [
      'ocr',
      {},
      ['document', 'type', 'document_url', 'document_url', 'model'],
      [{ kind: 'file', source: 'inline', length: pdf.length }],
    ],
    [
      'ocr',
      { document: { image_url: { url: 'https://example.org/a.png' } } },
      ['document', 'image_url', 'url', 'https://example.org/a.png', 'model'],
      [{ kind: 'image', source: 'remote', length: 25 }],
    ],
    ['images', {}, ['prompt', 'x', 'model'], []],
  ])('%s with %j is inspected whole', (name, more, leaves, media) => {
    const { codec, document } = request(name, more);
    const found = codec.contents(document);
    expect(found.leaves.map(({ text }) => text).toSorted()).toEqual(leaves.toSorted());
    expect(found.leaves[0]?.text).toBe(leaves[0]);
    expect(found.media.map(({ kind, source, length }) => ({ kind, source, length }))).toEqual(media);
  });
});

describe('answers', () => {
  test.each<[Codec, JsonObject, object]>([
    [
      embeddingsCodec,
      { data: [], usage: { prompt_tokens: 7, total_tokens: 7 } },
      { usage: { ...NO_USAGE, input: 7 }, complete: true },
    ],
    [embeddingsCodec, { data: [], usage: { total_tokens: 7 } }, { usage: { ...NO_USAGE, input: 7 } }],
    [embeddingsCodec, { data: [], usage: null }, { usage: undefined, complete: true }],
    [embeddingsCodec, { usage: { prompt_tokens: -1 } }, { usage: { ...NO_USAGE, input: Number.NaN }, complete: false }],
    [moderationsCodec, { id: 'modr-1', results: [] }, { id: 'modr-1', usage: undefined, complete: true }],
    [ocrCodec, { pages: [{}], usage_info: { pages_processed: 2 } }, { units: { pages: 2 }, complete: true }],
    [ocrCodec, { pages: [{}], usage_info: { pages_processed: '2' } }, { units: { pages: Number.NaN } }],
    [ocrCodec, { pages: [{}], usage_info: { pages_processed: 1e300 } }, { units: { pages: Number.NaN } }],
    [ocrCodec, {}, { complete: false }],
    [
      imagesCodec,
      { data: [{}, {}], usage: { input_tokens: 3, output_tokens: 5 } },
      { units: { images: 2 }, usage: { ...NO_USAGE, input: 3, outputImage: 5 }, complete: true },
    ],
    [
      imagesCodec,
      {
        data: [{}],
        usage: {
          input_tokens: 300,
          input_tokens_details: { text_tokens: 44, image_tokens: 256 },
          output_tokens: 1100,
          output_tokens_details: { text_tokens: 44, image_tokens: 1056 },
        },
      },
      { usage: { ...NO_USAGE, input: 44, inputImage: 256, output: 44, outputImage: 1056 } },
    ],
    [imagesCodec, { error: 'x' }, { usage: undefined, complete: false }],
  ])('%o tells of %j', (codec, body, expected) => {
    expect(codec.readAnswer(body)).toMatchObject(expected);
  });

  test.each<[Codec, object, readonly string[]]>([
    [embeddingsCodec, { data: [{ embedding: 'AAAA' }] }, []],
    [imagesCodec, { data: [{ b64_json: 'AAAA', revised_prompt: 'a' }, { url: 'u' }] }, ['a']],
    [
      ocrCodec,
      { pages: [{ markdown: 'a', images: [{ id: 'i', image_base64: 'AAAA' }] }], model: 'm' },
      ['a', 'i', 'm'],
    ],
  ])('%o has texts in %j', (codec, body, expected) => {
    const answer = readDocument(codec.family, JSON.stringify(body));
    expect(codec.answerLeaves(answer, false).map(({ text }) => text)).toEqual(expected);
  });

  test('come whole', () => {
    const reader = embeddingsCodec.streamReader();
    expect(reader.read({ event: undefined, data: '{}', raw: '' }).kind).toBe('other');
    expect(reader.finished).toBe(true);
  });
});

describe('embeddings come in the encoding that was asked for', () => {
  // JSON has one zero.
  const float = fc.float({ noNaN: true, noDefaultInfinity: true }).map((number) => number + 0);
  const floats = fc.array(float, { minLength: 1 });
  const base64 = (numbers: readonly number[]): string =>
    Buffer.from(Float32Array.from(numbers).buffer).toString('base64');
  const fit = (embeddings: readonly unknown[], encoding: object): unknown[] => {
    const body = { object: 'list', data: embeddings.map((embedding, index) => ({ index, embedding })), model: 'm' };
    const answer = readDocument('embeddings', JSON.stringify(body));
    const edits = embeddingsCodec.fitAnswer?.(answer, request('embeddings', encoding).document, '') ?? [];
    const { data } = JSON.parse(render(answer.text, edits)) as { data: { embedding: unknown }[] };
    return data.map(({ embedding }) => embedding);
  };

  test('numbers as base64 and back', () => {
    fc.assert(
      fc.property(fc.array(floats), (embeddings) => {
        const encoded = embeddings.map(base64);
        expect(fit(embeddings, { encoding_format: 'base64' })).toEqual(encoded);
        for (const encoding of [{}, { encoding_format: 'float' }, { encoding_format: null }]) {
          expect(fit(encoded, encoding)).toEqual(embeddings);
          expect(fit(embeddings, encoding)).toEqual(embeddings);
        }
        expect(fit(encoded, { encoding_format: 'base64' })).toEqual(encoded);
      }),
    );
  });

  test('what cannot be read stays as it came', () => {
    const nan = base64([Number.NaN]);
    expect(fit([nan, 'AAA=', '', ['x'], null], {})).toEqual([nan, 'AAA=', '', ['x'], null]);
    expect(fit([['x'], null, {}], { encoding_format: 'base64' })).toEqual([['x'], null, {}]);
  });
});
