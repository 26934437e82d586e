import { hash } from 'node:crypto';
import { expect, test } from 'vitest';
import type { Json, JsonObject } from '#/wire/document/json.ts';
import { readDefinitions } from './definitions.ts';

const tool = (name: string, more: JsonObject = {}) => ({
  name,
  definition: { name, ...more },
});

test('the hash is over the canonical JSON without _meta at the top', () => {
  const listed = tool('find', { inputSchema: { type: 'object', properties: { _meta: {} } }, _meta: { a: 1 }, b: 1e2 });
  const text = '{"b":100,"inputSchema":{"properties":{"_meta":{}},"type":"object"},"name":"find"}';
  const { read, unfit } = readDefinitions([listed]);
  expect(unfit).toEqual([]);
  expect(read).toMatchObject([{ name: 'find', text, sha256: hash('sha256', text, 'hex'), hidden: 0 }]);
  expect(read[0]!.definition).not.toHaveProperty('_meta');
});

test('the order of members, and _meta, change nothing; whatever else does', () => {
  const shaOf = (definition: JsonObject): string => readDefinitions([{ name: 'a', definition }]).read[0]!.sha256;
  const first = shaOf({ name: 'a', description: 'x', annotations: { readOnlyHint: true } });
  expect(shaOf({ annotations: { readOnlyHint: true }, _meta: { x: 1 }, description: 'x', name: 'a' })).toBe(first);
  for (const other of [
    { name: 'a', description: 'x ', annotations: { readOnlyHint: true } },
    { name: 'a', description: 'x', annotations: { readOnlyHint: false } },
    { name: 'a', description: 'x', annotations: { readOnlyHint: true }, title: '' },
    { name: 'b', description: 'x', annotations: { readOnlyHint: true } },
  ])
    expect(shaOf(other)).not.toBe(first);
});

test('invisible and bidirectional characters are counted, in names of members too', () => {
  const { read } = readDefinitions([
    tool('a', { description: 'x\u200b', inputSchema: { properties: { 'k\u202e': { enum: ['\u2066', 1, null] } } } }),
  ]);
  expect(read[0]!.hidden).toBe(3);
});

test('a tool with a strange name, or two definitions, is unfit; one listed twice alike is one tool', () => {
  const { read, unfit } = readDefinitions([
    tool('good'),
    tool('twice', { description: 'nice' }),
    tool('twice', { description: 'evil' }),
    tool('twice', { description: 'nice' }),
    tool('good', { _meta: {} }),
    ...['', 'two words', 'büro', 'a\u0000', 'a'.repeat(129), '__proto__\u202e'].map((name) => tool(name)),
    tool('__proto__'),
    { name: 'odd', definition: { big: Number.POSITIVE_INFINITY } },
  ]);
  expect(read.map(({ name }) => name)).toEqual(['good', '__proto__']);
  expect(unfit.filter(({ why }) => why !== 'bad_name')).toEqual([
    { name: 'twice', why: 'listed_twice' },
    { name: 'odd', why: 'no_canonical_form' },
  ]);
  expect(unfit).toHaveLength(8);
});

test('a thousand tools are looked at, whose second definitions still count', () => {
  const many = Array.from({ length: 1002 }, (_, index) => tool(`t${index}`));
  const { read, unfit } = readDefinitions([...many, tool('t0', { description: 'other' }), tool('late')]);
  expect(read).toHaveLength(1000);
  expect(read[0]!.name).toBe('t1');
  expect(unfit).toEqual([
    { name: 't1000', why: 'too_many' },
    { name: 't1001', why: 'too_many' },
    { name: 't0', why: 'listed_twice' },
  ]);
});

test('a definition as deep as a stack is unfit', () => {
  let deep: Json = 1;
  for (let depth = 0; depth < 100_000; depth++) deep = { deep };
  expect(readDefinitions([{ name: 'deep', definition: { deep } }]).unfit).toEqual([
    { name: 'deep', why: 'no_canonical_form' },
  ]);
});
