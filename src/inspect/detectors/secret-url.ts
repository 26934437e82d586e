import { isAlphanumeric, isDigit, startsToken } from './characters.ts';
import { isPlaceholder } from './secret-value.ts';
import type { Stretch } from './secret-shapes.ts';

const LONGEST_LOGIN = 512;
/** Passwords written in documentation, in every connection string. */
const STAND_INS = new Set(['password', 'pass', 'passwd', 'pwd', 'secret', 'pw', 'token']);
/** Addresses whose path is the credential. */
const HOOKS = [
  /hooks\.slack\.com\/(?:services|workflows|triggers)\/[\w/-]{20,200}/iy,
  /(?:discord|discordapp)\.com\/api\/webhooks\/\d{15,22}\/[\w-]{40,100}/iy,
];
const BOT_TOKEN = /[\w-]{35}(?![\w-])/y;

/** The credential that the `:` at `at` gives away: a URL's password, a webhook's address, a bot's token. */
export function addressed(text: string, at: number, floor: number): Stretch | undefined {
  if (text.charCodeAt(at + 1) !== 47) return botToken(text, at, floor);
  if (text.charCodeAt(at + 2) !== 47 || !isAlphanumeric(text.charCodeAt(at - 1))) return undefined;
  return webhook(text, at, floor) ?? urlPassword(text, at + 3);
}

/** `https://hooks.…`, from its scheme on. */
function webhook(text: string, at: number, floor: number): Stretch | undefined {
  const initial = text.charCodeAt(at + 3) | 32;
  if (initial !== 104 && initial !== 100) return undefined;
  for (const hook of HOOKS) {
    hook.lastIndex = at + 3;
    if (!hook.test(text)) continue;
    const scheme = text.slice(Math.max(floor, at - 5), at).toLowerCase();
    const length = scheme.endsWith('https') ? 5 : scheme.endsWith('http') ? 4 : 0;
    return { start: at - length, end: hook.lastIndex };
  }
  return undefined;
}

/** The password in `scheme://user:password@host`; the last `@` before the path ends it. */
function urlPassword(text: string, from: number): Stretch | undefined {
  let colon = -1;
  let sign = -1;
  const limit = Math.min(text.length, from + LONGEST_LOGIN);
  for (let at = from; at < limit; at += 1) {
    const code = text.charCodeAt(at);
    if (code <= 32 || code === 34 || code === 39 || code === 60 || code === 62 || code === 96 || code === 92) break;
    if (code === 47) break;
    if (code === 58 && colon < 0) colon = at;
    else if (code === 64) sign = at;
  }
  if (colon < 0 || sign < colon + 2) return undefined;
  const password = text.slice(colon + 1, sign);
  const isStandIn =
    isPlaceholder(password) || STAND_INS.has(password.toLowerCase()) || /^\{.*\}$|^%[sdv]$/.test(password);
  return isStandIn ? undefined : { start: colon + 1, end: sign };
}

/** `123456789:AA…`, as messengers issue them to bots. */
function botToken(text: string, at: number, floor: number): Stretch | undefined {
  let start = at;
  while (start > floor && at - start < 11 && isDigit(text.charCodeAt(start - 1))) start -= 1;
  if (at - start < 8 || at - start > 10 || !startsToken(text, start)) return undefined;
  BOT_TOKEN.lastIndex = at + 1;
  if (!BOT_TOKEN.test(text)) return undefined;
  return /[A-Z]/.test(text.slice(at + 1, at + 36)) ? { start, end: BOT_TOKEN.lastIndex } : undefined;
}
