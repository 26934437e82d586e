import type { CredentialConfig } from '#/config/snapshot.ts';
import { isObject, type Json } from '#/wire/document/json.ts';

/** So many characters of a credential in a row are too many to tell; vendors tell the first or the last four. */
const TELLING = 12;
/** A shorter credential is looked for as a whole, but for what any word could be. */
const LEAST = 6;
const INSTEAD = '[credential]';
/** Header values that prove the caller's identity, including tokens that were fetched for a credential. */
const SENT = /\b(Bearer|Basic)(?:\s|%20|\+)+[\w.~+/=%-]{12,}/gi;

/** Words that look like keys: a key that was just replaced is in no list. */
const KEYS = /\b(?:(?:sk|rk|pk|gsk|csk|xai|fw)[-_]|AIza)[^\s"'`,;:()]{3,}/g;

/** Stretches of a credential, in every spelling that it may come back in. */
type Stretches = ReadonlySet<string>;

const known = new WeakMap<CredentialConfig, Stretches>();

/** A provider's words without the credentials it was asked with: whole, in part, and as base64 or in an address. */
export function withoutCredentials(text: string, credentials: readonly CredentialConfig[]): string {
  let result = text.replace(SENT, `$1 ${INSTEAD}`);
  for (const credential of credentials) result = without(result, stretchesOf(credential));
  return result;
}

/** What a provider says of a key that it refused, without any whole key; of one with stars vendors tell what they like. */
export function withoutKeys(text: string): string {
  return text.replace(KEYS, (key) => (key.includes('*') ? key : INSTEAD));
}

function without(text: string, stretches: Stretches): string {
  let result = '';
  let copied = 0;
  for (let at = 0; at < text.length; at++) {
    const end = endOfStretch(text, at, stretches);
    if (end === 0) continue;
    result += text.slice(copied, at) + INSTEAD;
    copied = end;
    at = end - 1;
  }
  return copied === 0 ? text : result + text.slice(copied);
}

/** Where the credential that begins here ends; 0: none begins here. */
function endOfStretch(text: string, start: number, stretches: Stretches): number {
  let end = 0;
  for (let at = start; stretches.has(text.slice(at, at + TELLING)); at++) end = at + TELLING;
  if (end > 0) return Math.min(end, text.length);
  for (let length = LEAST; length < TELLING; length++) {
    if (stretches.has(text.slice(start, start + length))) return start + length;
  }
  return 0;
}

function stretchesOf(credential: CredentialConfig): Stretches {
  let stretches = known.get(credential);
  if (!stretches) known.set(credential, (stretches = cut(secretsIn(credential.secret))));
  return stretches;
}

/** The strings of a credential that is an object, such as the key of a service account; else all of it. */
function secretsIn(secret: string): readonly string[] {
  try {
    const value = JSON.parse(secret) as Json;
    if (!isObject(value)) return [secret];
    const strings = Object.values(value).filter((part) => typeof part === 'string');
    return strings.filter((part) => !part.startsWith('https://'));
  } catch {
    return [secret];
  }
}

function cut(secrets: readonly string[]): Stretches {
  const stretches = new Set<string>();
  for (const form of secrets.flatMap(formsOf)) {
    if (form.length < TELLING && form.length >= LEAST) stretches.add(form);
    for (let at = 0; at + TELLING <= form.length; at++) stretches.add(form.slice(at, at + TELLING));
  }
  return stretches;
}

/** As it is, in an address, in JSON, and in base64 at each of the three places that it may begin at. */
function formsOf(secret: string): readonly string[] {
  const based = [0, 1, 2].flatMap((before) => {
    const bytes = Buffer.concat([Buffer.alloc(before), Buffer.from(secret)]);
    // The first and the last characters depend on the characters around it.
    const whole = bytes
      .toString('base64')
      .replaceAll('=', '')
      .slice(before === 0 ? 0 : before + 1);
    const inside = bytes.length % 3 === 0 ? whole : whole.slice(0, -1);
    return [inside, inside.replaceAll('+', '-').replaceAll('/', '_')];
  });
  return [secret, encodeURIComponent(secret), JSON.stringify(secret).slice(1, -1), ...based];
}
