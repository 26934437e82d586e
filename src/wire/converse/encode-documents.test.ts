import { describe, expect, test } from 'vitest';
import type { CacheMark, ModelRequest, Part } from '../hub/canonical.ts';
import type { Traits } from '../hub/traits.ts';
import { CLAUDE, NOVA, said, answered, text, call, result, encode } from './testing/requests.ts';

const file = (mediaType: string, name?: string, cache?: CacheMark): Part => ({
  type: 'media',
  kind: 'document',
  mediaType,
  source: { data: 'w6k=' },
  ...(name === undefined ? {} : { name }),
  ...(cache ? { cache } : {}),
});

describe('documents', () => {
  const content = (...parts: readonly Part[]) => encode({ turns: [said(...parts)] }).body.messages?.[0]?.content;

  test('have plain names, each its own, and a text beside them', () => {
    const pdf = (name?: string) => file('application/pdf', name);
    const names = content(pdf('Bericht: Übersicht_(2).pdf'), pdf('a.pdf'), pdf('a.txt'), pdf(), pdf(''))?.map(
      (item) => item.document?.name,
    );
    expect(names).toEqual([undefined, 'Bericht- -bersicht-(2)', 'a', 'a (2)', 'document', 'document (2)']);
    expect(content(pdf('a'))?.[0]).toHaveProperty('text');
    expect(content(pdf('a'), text('b'))).toHaveLength(2);
  });

  test('of text are given as files, or as text to a model that takes none', () => {
    expect(content(file('text/csv', 'a.csv'), text('b'))?.[0]).toEqual({
      document: { format: 'csv', name: 'a', source: { bytes: 'w6k=' } },
    });
    expect(encode({ turns: [said(file('text/csv'))] }, NOVA).body.messages?.[0]?.content).toEqual([{ text: 'é' }]);
  });

  test.each([
    ['a type of nobody', [said(file('application/zip'))], CLAUDE],
    ['a PDF', [said(file('application/pdf'))], NOVA],
    ['sound', [said({ type: 'media', kind: 'audio', mediaType: 'audio/wav', source: { data: '' } })], CLAUDE],
    [
      'a picture of another kind',
      [said({ type: 'media', kind: 'image', mediaType: 'image/tiff', source: { data: '' } })],
      CLAUDE,
    ],
    [
      'an address',
      [said({ type: 'media', kind: 'image', mediaType: 'image/png', source: { url: 'https://e.org' } })],
      NOVA,
    ],
  ] as const)('%s is refused where it cannot be given', (_name, turns, traits) => {
    expect(() => encode({ turns }, traits)).toThrow(expect.objectContaining({ name: 'BadRequestShape' }));
  });
});

test('what cannot be said of an image is named', () => {
  const image = { type: 'media', kind: 'image', mediaType: 'image/png', source: { data: 'AAAA' } } as const;
  const losses = (more: object) => encode({ turns: [said({ ...image, ...more })] }).losses;
  expect(losses({ detail: 'low', name: 'a.png' })).toEqual(['image_url.detail', 'file.filename']);
  expect(losses({ detail: 'auto' })).toEqual([]);
});

describe('cache points', () => {
  const points = (request: Partial<ModelRequest>, traits: Traits = CLAUDE): string =>
    JSON.stringify(encode(request, traits).body)
      .match(/cachePoint/g)
      ?.join() ?? '';

  test('are four at most: instructions, tools and the end of the conversation', () => {
    const request: Partial<ModelRequest> = {
      system: [{ type: 'text', text: 's', cache: {} }],
      tools: [{ name: 'f', cache: {} }],
      turns: [said(text('a', {}), text('b', {}), text('c', {}), text(' ', {}))],
    };
    const { body, losses } = encode(request);
    expect(points(request)).toBe(Array(4).fill('cachePoint').join());
    expect(body.messages?.[0]?.content).toEqual([
      { text: 'a' },
      { text: 'b' },
      { cachePoint: { type: 'default' } },
      { text: 'c' },
      { cachePoint: { type: 'default' } },
    ]);
    expect(losses).toEqual(['cache_control']);
    expect(points(request, NOVA)).toBe('');
  });

  test('last as long as the model knows how', () => {
    const system = [{ type: 'text' as const, text: 's', cache: { ttl: '1h' } }];
    const { body, losses } = encode({ system }, { ...CLAUDE, cacheMarks: 'five-minutes' });
    expect(body.system?.[1]).toEqual({ cachePoint: { type: 'default' } });
    expect(losses).toEqual(['cache_control.ttl']);
  });

  test('are never right after a document that is no PDF, and are said of a whole result', () => {
    const after = (...parts: readonly Part[]) =>
      encode({ turns: [said(text('x')), answered(call('1')), said(...parts)] }).body.messages?.[2]?.content?.map(
        (item) => Object.keys(item)[0],
      );
    expect(after(file('text/csv', 'a', {}))).toEqual(['document', 'text', 'cachePoint']);
    expect(after(text('x'), file('application/pdf', 'a', {}))).toEqual(['text', 'document', 'cachePoint']);
    expect(after(text('b'), result('1', text('r', {})))).toEqual(['toolResult', 'cachePoint', 'text']);
  });
});
