import type { Random } from '../harness/random.ts';
import { placesOf, valueAt, withValue, type Json } from './mutate.ts';

/** Personal data that no request mentions but where it was planted. */
const PLANTED: readonly [string, ...string[]] = [
  'ada.lovelace@planted-mail.example',
  'DE89370400440532013000',
  '4111111111111111',
  '+49 30 901820-17',
];

const WHOLE = PLANTED.map((secret) => {
  const before = /^\d/.test(secret) ? '(?<!\\d)' : '';
  const behind = /\d$/.test(secret) ? '(?!\\d)' : '';
  return { secret, pattern: new RegExp(before + secret.replaceAll(/[.+]/g, '\\$&') + behind) };
});

/** Bytes of a picture or file, which are not read as text. */
const BYTES = /;base64,[A-Za-z0-9+/]{16,}/g;

/**
 * What a provider must not see in a protecting mode, as it is planted. A number with more digits right before or behind it
 * is allowed: they make it another number, whose check digit does not hold, and any twenty digits have some card in them.
 * So are changed bytes of a picture.
 */
export function plantedIn(text: string): string | undefined {
  const found = WHOLE.find(({ pattern }) => pattern.test(text));
  return found && WHOLE.find(({ pattern }) => pattern.test(text.replaceAll(BYTES, '')))?.secret;
}

/** `body` with personal data at the end of one of its strings, apart from what stands there. */
export function planted(body: Json, random: Random): Json {
  const strings = placesOf(body).filter((path) => typeof valueAt(body, path) === 'string');
  const path = strings[random.whole(0, strings.length - 1)];
  const text = path && valueAt(body, path);
  return path !== undefined && typeof text === 'string'
    ? withValue(body, path, `${text} ${random.pick(PLANTED)} `)
    : body;
}
