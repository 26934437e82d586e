import { describe, expect, test } from 'vitest';
import { chatModels, vendorModels } from './shapes.ts';

const models = ['a/1', 'a/2', 'b/1', 'b/2', 'c/1'].map((id) => ({ id, ownedBy: id.slice(0, 1) }));

interface Page {
  readonly data: readonly { readonly id: string }[];
  readonly has_more: boolean;
  readonly first_id: string | null;
  readonly last_id: string | null;
}
const page = (query: Record<string, unknown>): Page => vendorModels(models, query) as Page;
const ids = (query: Record<string, unknown>): readonly string[] => page(query).data.map(({ id }) => id);

test('the chat shape lists everything', () => {
  expect(chatModels(models.slice(0, 1))).toEqual({
    object: 'list',
    data: [{ id: 'a/1', object: 'model', created: 0, owned_by: 'a' }],
  });
});

describe('the vendor shape', () => {
  test('has its members and a fixed time', () => {
    expect(page({ limit: '1' })).toEqual({
      data: [{ type: 'model', id: 'a/1', display_name: 'a/1', created_at: '1970-01-01T00:00:00Z' }],
      has_more: true,
      first_id: 'a/1',
      last_id: 'a/1',
    });
  });

  test('is null at both ends when there is nothing', () => {
    expect(vendorModels([], {})).toEqual({ data: [], has_more: false, first_id: null, last_id: null });
  });

  test.each([
    [{}, ['a/1', 'a/2', 'b/1', 'b/2', 'c/1'], false],
    [{ limit: '5' }, ['a/1', 'a/2', 'b/1', 'b/2', 'c/1'], false],
    [{ limit: '2', after_id: 'a/2' }, ['b/1', 'b/2'], true],
    [{ limit: '2', after_id: 'b/1' }, ['b/2', 'c/1'], false],
    [{ after_id: 'c/1' }, [], false],
    [{ limit: '2', before_id: 'c/1' }, ['b/1', 'b/2'], true],
    [{ limit: '2', before_id: 'b/1' }, ['a/1', 'a/2'], false],
    // An id that went away since.
    [{ limit: '1', after_id: 'a/9' }, ['b/1'], true],
    [{ limit: '1', before_id: 'a/9' }, ['a/2'], true],
  ])('pages by %j', (query, expected, more) => {
    expect(ids(query)).toEqual(expected);
    expect(page(query).has_more).toBe(more);
  });

  test('has a thousand to a page unless asked otherwise', () => {
    const many = Array.from({ length: 1001 }, (_, at) => ({ id: `m/${at + 1000}`, ownedBy: 'm' }));
    expect(vendorModels(many, {})).toMatchObject({ has_more: true, last_id: 'm/1999' });
    expect(vendorModels(many, { limit: '20' })).toMatchObject({ has_more: true, last_id: 'm/1019' });
    expect(vendorModels(many.slice(1), {})).toMatchObject({ has_more: false, last_id: 'm/2000' });
  });

  test.each([
    [{ limit: '0' }, 'limit'],
    [{ limit: '1001' }, 'limit'],
    [{ limit: '-1' }, 'limit'],
    [{ limit: '2.5' }, 'limit'],
    [{ limit: '' }, 'limit'],
    [{ limit: ['1', '2'] }, 'limit'],
    [{ after_id: '' }, 'after_id'],
    [{ before_id: ['a', 'b'] }, 'before_id'],
    [{ after_id: 'a/1', before_id: 'b/1' }, 'after_id'],
  ])('refuses %j', (query, param) => {
    expect(() => page(query)).toThrow(expect.objectContaining({ code: 'invalid_request', param }));
  });
});
