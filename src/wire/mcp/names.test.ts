import fc from 'fast-check';
import { expect, test } from 'vitest';
import { federatedName } from './names.ts';

test('a name that clients take stays as it is', () => {
  expect(federatedName('crm', 'find_customer')).toBe('crm__find_customer');
});

test('any other name is short, of plain characters, and always the same', () => {
  fc.assert(
    fc.property(fc.string({ minLength: 1, maxLength: 128 }), (tool) => {
      const name = federatedName('crm', tool);
      expect(name).toMatch(/^[A-Za-z0-9_-]{1,47}$/);
      expect(federatedName('crm', tool)).toBe(name);
    }),
  );
});

test('names that differ only in a part that is cut or replaced stay apart', () => {
  const long = 'a'.repeat(60);
  const names = [`${long}1`, `${long}2`, 'a.b', 'a/b', 'a b'].map((tool) => federatedName('crm', tool));
  expect(new Set(names).size).toBe(names.length);
});

test('two servers never have one name, whatever they call their tools', () => {
  const prefix = fc.stringMatching(/^[a-z0-9][a-z0-9-]{0,15}$/);
  const tool = fc.oneof(fc.string({ minLength: 1, maxLength: 128 }), fc.stringMatching(/^[a-z0-9_-]{1,60}$/));
  fc.assert(
    fc.property(prefix, prefix, tool, tool, (one, other, first, second) => {
      const name = federatedName(one, first);
      expect(name.slice(0, name.indexOf('__'))).toBe(one);
      if (one !== other) expect(name).not.toBe(federatedName(other, second));
    }),
  );
});
