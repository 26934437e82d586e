import { isAlphanumeric, isLetter, startsToken } from './characters.ts';
import type { Detector } from './detector.ts';
import { assigned, spoken } from './secret-assignment.ts';
import { privateKey } from './secret-pem.ts';
import { awsKeys, googleKey, jsonWebToken, prefixed, sendgridKey, type Stretch } from './secret-shapes.ts';
import { addressed } from './secret-url.ts';
import { isPlaceholder, isStrongToken } from './secret-value.ts';

/**
 * Credentials: keys and tokens of well-known shape, private keys, JSON web tokens, the passwords in URLs, webhook
 * addresses, what an `Authorization` header carries, and strong values assigned to fields named for it. Digests,
 * UUIDs, references to variables and placeholders such as `<your token>` do not match.
 */
export const secret: Detector = {
  category: 'SECRET',
  evidence: 'shaped',
  meaning:
    'Credentials: keys and tokens of known issuers, private keys, JSON web tokens, passwords in URLs, and strong values of fields named for them.',
  examples: ['api_key = "‹q7Xv2Lr9Tz4Kp8Wm3Nc6›"', 'postgres://rsandoval83:‹Sommer_0›@db.internal/app'],
  ignores: ['api_key = "<your key>"', 'sha1:da39a3ee5e6b4b0d3255bfef95601890afd80709'],
  triggers: '-_:=AJGBw',
  near: ['>w[od]'],
  detect(text, at, floor, found): number {
    const stretch = stretchAt(text, at, floor);
    if (stretch === undefined) return text.charCodeAt(at) === 65 ? amazon(text, at, floor, found) : floor;
    if (stretch.start < floor) return floor;
    found.push({ start: stretch.start, end: stretch.end, category: 'SECRET' });
    return stretch.end;
  },
};

/** One cheap look at the neighbours decides which shape is worth trying. */
function stretchAt(text: string, at: number, floor: number): Stretch | undefined {
  const before = text.charCodeAt(at - 1);
  const after = text.charCodeAt(at + 1);
  switch (text.charCodeAt(at)) {
    case 45:
      return before === 45 ? (after === 66 ? privateKey(text, at, floor) : undefined) : prefixed(text, at, floor);
    case 95:
      return prefixed(text, at, floor);
    case 58:
      return after === 47 ? addressed(text, at, floor) : (assigned(text, at) ?? addressed(text, at, floor));
    case 61:
      return assigned(text, at);
    case 65:
      return after === 73 ? googleKey(text, at) : undefined;
    case 66:
      return after === 101 || after === 97 ? authorized(text, at) : undefined;
    case 71:
      return before === 83 && after === 46 ? sendgridKey(text, at, floor) : undefined;
    case 74:
      return before === 121 ? jsonWebToken(text, at, floor) : undefined;
    default:
      return (isLetter(before) && spoken(text, at, floor)) || undefined;
  }
}

function amazon(text: string, at: number, floor: number, found: Parameters<Detector['detect']>[3]): number {
  const after = text.charCodeAt(at + 1);
  if (after !== 75 && after !== 83 && after !== 66 && after !== 67) return floor;
  const keys = awsKeys(text, at);
  for (const { start, end } of keys) found.push({ start, end, category: 'SECRET' });
  return keys.at(-1)?.end ?? floor;
}

/** Long tokens are judged by their beginning. */
const JUDGED = 512;

/** `Bearer <token>`, or `Basic <base64 of user:password>`. */
function authorized(text: string, at: number): Stretch | undefined {
  if (!startsToken(text, at)) return undefined;
  const isBearer = text.startsWith('Bearer ', at);
  if (!isBearer && !text.startsWith('Basic ', at)) return undefined;
  const start = at + (isBearer ? 7 : 6);
  let end = start;
  while (isAlphanumeric(text.charCodeAt(end)) || '-_.~+/='.includes(text[end] ?? ' ')) end += 1;
  while (end > start && text[end - 1] === '.') end -= 1;
  const judged = text.slice(start, Math.min(end, start + JUDGED));
  return (isBearer ? isStrongToken(judged) : isLogin(judged)) ? { start, end } : undefined;
}

function isLogin(encoded: string): boolean {
  if (encoded.length < 8 || isPlaceholder(encoded)) return false;
  return /^[\x21-\x39\x3b-\x7e]*:[\x21-\x7e]+$/.test(Buffer.from(encoded, 'base64').toString('latin1'));
}
