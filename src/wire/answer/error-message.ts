import { isObject, type Json } from '../document/json.ts';

/** Most of a provider's own words that travel on, in UTF-16 code units. */
const MAX_MESSAGE = 2000;

/** What the error member of a stream says: a text, or an object with a message. Bounded. */
export function errorMessage(error: Json | undefined): string {
  if (typeof error === 'string') return error.slice(0, MAX_MESSAGE);
  if (isObject(error) && typeof error['message'] === 'string') return error['message'].slice(0, MAX_MESSAGE);
  return 'the provider reported an error without a message';
}

const MAX_KIND = 64;

/** What the error member of a stream calls its kind: a code, or a type where it has none. */
export function errorKind(error: Json | undefined): { readonly errorKind?: string } {
  if (!isObject(error)) return {};
  const kind = [error['code'], error['type']].find((word) => typeof word === 'string' || typeof word === 'number');
  return kind === undefined ? {} : { errorKind: String(kind).slice(0, MAX_KIND) };
}
