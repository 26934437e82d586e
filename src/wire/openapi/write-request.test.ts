import { expect, test } from 'vitest';
import { locate } from '../document/document.ts';
import type { JsonObject } from '../document/json.ts';
import { UnfitArgument, writeApiRequest, type ApiOperation, type ApiRequest } from './write-request.ts';

/** Requests of operations whose arguments have very many values: how many are taken, and what each costs. */

const FORM = 'application/x-www-form-urlencoded';
const operation: ApiOperation = {
  method: 'POST',
  path: '/x',
  parameters: [
    { name: 'list', place: 'query', argument: 'list', style: 'repeated', slashes: false },
    { name: 'deep', place: 'query', argument: 'deep', style: 'deep', slashes: false },
  ],
  body: { argument: 'body', contentType: FORM },
};

const many = (count: number, value: number | readonly never[] | null): JsonObject =>
  Object.fromEntries(Array.from({ length: count }, (_, at) => [`a${at}`, value]));

/** A request, and how often it looked at the name of a member. */
function counted(args: JsonObject): { readonly request: ApiRequest; readonly looks: number } {
  const text = JSON.stringify(args);
  const { root } = locate('mcp', text, args);
  let looks = 0;
  const body = root.members.find(({ key }) => key.value === 'body')!.value;
  if (body.kind !== 'object') throw new Error('the body is no object');
  const members = body.members.map(({ key, value }) => ({
    value,
    key: {
      ...key,
      get value() {
        looks += 1;
        return key.value;
      },
    },
  }));
  const inner = { ...body, members };
  const within = { ...root, members: root.members.map((one) => (one.value === body ? { ...one, value: inner } : one)) };
  return { request: writeApiRequest(operation, args, { text, root: within }), looks };
}

test('a member of a form is looked up in the same time however many there are', () => {
  const few = counted({ body: many(1000, 1) });
  const more = counted({ body: many(4000, 1) });
  expect(few.request.body?.split('&')).toHaveLength(1000);
  expect(more.looks).toBeLessThanOrEqual(few.looks * 4);
});

test('numbers of a form and of a deep object keep their digits', () => {
  const text = '{"body":{"a":1.50,"b":[2.0,3]},"deep":{"x":1.0,"y":[2.00]}}';
  const args = JSON.parse(text) as JsonObject;
  const { path, body } = writeApiRequest(operation, args, locate('mcp', text, args));
  expect(body).toBe('a=1.50&b=2.0&b=3');
  expect(path).toBe('/x?deep%5Bx%5D=1.0&deep%5By%5D=2.00');
});

test.each<[string, JsonObject, string]>([
  ['members of a form', { body: many(10_001, 1) }, 'body'],
  ['members of a form that are empty lists', { body: many(10_001, []) }, 'body'],
  ['members of a form that are null', { body: many(10_001, null) }, 'body'],
  ['items of a list in a form', { body: { a: Array.from({ length: 10_001 }, () => 1) } }, 'body'],
  ['items of a list in the query', { list: Array.from({ length: 10_001 }, () => '') }, 'list'],
  ['members of an object in the query', { deep: many(10_001, []) }, 'deep'],
  ['members of several arguments', { deep: many(5001, []), body: many(5001, []) }, 'body'],
])('refuses too many %s', (_, args, argument) => {
  const refusal = new UnfitArgument(argument, 'have at most 10000 values, with those of the other arguments');
  expect(() => writeApiRequest(operation, args)).toThrow(refusal);
  expect(() => counted({ body: {}, ...args })).toThrow(refusal);
});

test('takes as many as are allowed', () => {
  expect(writeApiRequest(operation, { body: many(10_000, 1) }).body?.split('&')).toHaveLength(10_000);
});
