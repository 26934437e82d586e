import type { Body } from '../vocabulary.ts';

/** A value with every object in it replaced, the innermost first. */
export function rewrite(value: unknown, replace: (object: Body) => Body): unknown {
  if (Array.isArray(value)) return value.map((item) => rewrite(item, replace));
  if (typeof value !== 'object' || value === null) return value;
  return replace(Object.fromEntries(Object.entries(value).map(([name, member]) => [name, rewrite(member, replace)])));
}
