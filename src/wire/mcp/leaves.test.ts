import { expect, test } from 'vitest';
import { ARGUMENTS, argumentsDocument, argumentsIn, readResult, RESULT, textsIn } from './leaves.ts';

test('every string, name and long number of arguments is a leaf, whatever it is called', () => {
  const args = {
    model: 'm',
    gw: { a: 'b' },
    list: [['c']],
    card: 4111111111111111,
    n: 1,
    ok: true,
    type: 'image',
    data: 'AAAA',
  };
  const document = argumentsDocument(JSON.stringify(args), args);
  const texts = ARGUMENTS.contents(document).leaves.map(({ text }) => text);
  for (const text of ['model', 'm', 'gw', 'a', 'b', 'list', 'c', 'card', '4111111111111111', 'image', 'AAAA'])
    expect(texts).toContain(text);
  expect(ARGUMENTS.contents(document).media).toEqual([]);
  expect(argumentsIn(document.text)).toBe(JSON.stringify(args));
});

test('names of members below members called "" are leaves', () => {
  for (const args of [
    { '': { 'ada@corp.de': 1 } },
    { '': { '': { 'ada@corp.de': 1 } } },
    { '': [[{ '': [{ 'ada@corp.de': 1 }] }]] },
    { a: { '': { 'ada@corp.de': 1 } } },
  ]) {
    const { leaves } = ARGUMENTS.contents(argumentsDocument(JSON.stringify(args), args));
    expect(leaves.map(({ text }) => text)).toContain('ada@corp.de');
    const result = RESULT.contents(readResult(JSON.stringify({ ...args, structuredContent: args })));
    expect(result.leaves.filter(({ text }) => text === 'ada@corp.de')).toHaveLength(2);
  }
});

test('of a result, pictures, sound and blobs are media, and all else is text', () => {
  const result = {
    content: [
      { type: 'text', text: 'one' },
      { type: 'image', data: 'iVBORw0KGgo=', mimeType: 'image/png' },
      { type: 'resource', resource: { uri: 'memo://two', blob: 'AAECAwQFBgcICQ==', mimeType: 'x/y' } },
    ],
    structuredContent: { image: { type: 'image', data: 'three' } },
  };
  const { leaves, media } = RESULT.contents(readResult(JSON.stringify(result)));
  expect(media.map(({ kind }) => kind)).toEqual(['image', 'file']);
  const texts = leaves.map(({ text }) => text);
  for (const text of ['one', 'memo://two', 'three']) expect(texts).toContain(text);
});

test('of a result, no member is taken for one of the gateway or of a format of models', () => {
  const result = { content: [], model: 'one', gw: { remove: 'two' }, 'gw.note': 'three', _meta: { model: 'four' } };
  const texts = RESULT.contents(readResult(JSON.stringify(result))).leaves.map(({ text }) => text);
  for (const text of ['model', 'one', 'two', 'gw.note', 'three', 'four']) expect(texts).toContain(text);
});

test('texts for restoring: JSON within a text is recognized, and text that only begins like it is not', () => {
  const kinds = textsIn(readResult('{"a":"{\\"b\\":1}","c":"[see] x"}')).map(({ text, kind }) => `${text}: ${kind}`);
  expect(kinds).toEqual(['a: text', '{"b":1}: json', 'c: text', '[see] x: text']);
});
