import type { Json } from '../document/json.ts';

/** An answer's id, if it is one that a row can hold. */
export function readId(id: Json | undefined): string | undefined {
  return typeof id === 'string' && /^[\w.:@/+=-]{1,128}$/.test(id) ? id : undefined;
}
