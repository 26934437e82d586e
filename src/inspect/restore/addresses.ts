/** In the place of a host that nobody can tell: of `data:` and `javascript:`, or of what no parser reads. */
export const NO_HOST = '?';

/** An absolute address, or `//host`: a scheme of one letter is a drive. */
const WITH_SCHEME = /(?<![a-z0-9+.-])[a-z][a-z0-9+.-]{1,30}:(?=[/\\])/i;
/** These need no slashes. */
const SPECIAL = /(?<![a-z0-9+.-])(?:https?|wss?|ftp):(?![\s/\\])/i;
/** What stands behind these goes somewhere, or is run. */
const WITHOUT_HOST =
  /(?<![a-z0-9+.-])(?:javascript|vbscript|livescript|blob|filesystem|view-source|intent|sms|smsto|mms|callto|facetime|xmpp|sips?|skype|data(?=:[a-z]+\/|:[,;])):/i;
const MAILTO = /(?<![a-z0-9+.-])(?:mailto|tel):/i;
/** `//host`, `\\host`, `/\host`; not the slashes behind a scheme. */
const RELATIVE = /(?<![^"'`(<=,;[])[/\\]{2}(?![\s/\\])/;
/** The same in the open, where it is a comment unless a path follows. */
const RELATIVE_BARE = /(?<!\S)[/\\]{2}(?=[\p{L}\p{N}._-]{1,253}\.[\p{L}\p{N}-]{2,63}(?::\d{1,5})?[/\\?#])/u;
const WWW = /(?<![\p{L}\p{N}._-])www\.(?!\s)/iu;
/** `host.example/`, `user@host.example?`, `10.0.0.1:80/`, `git@host.example:`. */
const BARE =
  /(?<![\p{L}\p{N}._/\\-])(?:(?:[\p{L}\p{N}_-]{1,63}[.。．｡]){1,10}\p{L}[\p{L}\p{N}-]{1,62}|(?:\d{1,3}\.){3}\d{1,3})[.。．｡]?(?::\d{1,5})?(?=[/\\?#])|(?<=@)(?:[\p{L}\p{N}_-]{1,63}\.){1,10}\p{L}[\p{L}\p{N}-]{1,62}(?=:[^\s\d])/u;

const STARTS = [WITH_SCHEME, SPECIAL, WITHOUT_HOST, MAILTO, RELATIVE, RELATIVE_BARE, WWW, BARE];
/** None of the above begins without one of these. */
const MAY_START = /[:/\\]|www\.|[?#]|&/i;

/** Where the first address begins in a stretch of text, or -1. `before`: the character before it. */
export function addressAt(text: string, before = ''): number {
  if (!MAY_START.test(text) && !text.includes('%')) return -1;
  const whole = before + text;
  let first = -1;
  for (const pattern of STARTS) {
    const at = whole.search(pattern);
    if (at >= 0 && (first < 0 || at < first)) first = at;
  }
  if (first >= 0) return Math.max(0, first - before.length);
  return spellings(whole).some((other) => STARTS.some((pattern) => pattern.test(other))) ? 0 : -1;
}

/** Every host that an address names, those of addresses within it among them, however they are written. */
export function hostsIn(address: string): ReadonlySet<string> {
  const hosts = new Set<string>();
  for (const text of [address, ...spellings(address)]) collect(text, hosts);
  return hosts;
}

/** More addresses in one are no address that anybody needs. */
export const MOST_HOSTS = 32;
/** No host is longer; what is cut off makes a longer one another. */
const HOST_WITHIN = 512;

function collect(text: string, hosts: Set<string>): void {
  for (const pattern of STARTS) {
    for (const { 0: start, index } of text.matchAll(new RegExp(pattern, `${pattern.flags}g`))) {
      const rest = text.slice(index, index + HOST_WITHIN);
      if (pattern === WITHOUT_HOST) hosts.add(NO_HOST);
      else if (pattern === MAILTO) hosts.add(mailHost(rest.slice(start.length)));
      else
        hosts.add(hostOf(pattern === RELATIVE || pattern === RELATIVE_BARE ? `https:${rest}` : written(pattern, rest)));
      if (hosts.size > MOST_HOSTS) return void hosts.add(NO_HOST);
    }
  }
}

function written(pattern: RegExp, rest: string): string {
  if (pattern === WWW) return `https://${rest}`;
  // Of `git@host:path` the path is no port.
  return pattern === BARE ? `https://${rest.replace(/^([^/\\?#:]+):(?!\d)/, '$1/')}` : rest;
}

/** An address goes to whom it names; a number to whoever has it. */
function mailHost(rest: string): string {
  const [to = ''] = rest.split(/[?#]/, 1);
  const at = to.lastIndexOf('@');
  return at < 0 || to.includes(',') || to.includes('%') ? NO_HOST : hostOf(`https://${to.slice(at + 1)}`);
}

/** The host of an absolute address, as browsers read it. */
function hostOf(address: string): string {
  let url: URL;
  try {
    url = new URL(address);
  } catch {
    return NO_HOST;
  }
  const host = url.hostname.toLowerCase().replace(/\.$/, '');
  if (host === '') return url.protocol === 'file:' ? 'localhost' : NO_HOST;
  return host;
}

/** Whether a host is this very machine. */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || host.endsWith('.localhost') || host === '[::1]' || /^127\.\d+\.\d+\.\d+$/.test(host);
}

const ENTITY = /&(?:#x([0-9a-f]{1,6})|#(\d{1,7})|(colon|sol|bsol|period|amp|quest|num|commat|equals|tab|newline));?/gi;
const NAMED: Readonly<Record<string, string>> = {
  colon: ':',
  sol: '/',
  bsol: '\\',
  period: '.',
  amp: '&',
  quest: '?',
  num: '#',
  commat: '@',
  equals: '=',
  tab: '',
  newline: '',
};
const MOST_CODINGS = 3;

/** What else a text says to those who read escapes in it: HTML, Markdown, form and URL encodings, one in another. */
function spellings(text: string): readonly string[] {
  const found = new Set<string>();
  let read = text;
  for (let depth = 0; depth < MOST_CODINGS; depth++) {
    let next = read.replace(/[\t\n\r\u00ad\u200b-\u200d\u2060\ufeff]/g, '');
    if (next.includes('&')) next = next.replace(ENTITY, entity);
    if (next.includes('%')) next = next.replace(/%[0-7][0-9a-f]/gi, (code) => character(code.slice(1), 16));
    if (next === read) break;
    found.add((read = next));
  }
  // In Markdown a backslash before a sign is not there.
  if (read.includes('\\')) found.add(read.replace(/\\([!-/:-@[-`{-~])/g, '$1'));
  found.delete(text);
  return [...found];
}

function entity(_: string, hex?: string, decimal?: string, name?: string): string {
  if (hex !== undefined) return character(hex, 16);
  return decimal === undefined ? NAMED[name!.toLowerCase()]! : character(decimal, 10);
}

function character(digits: string, radix: number): string {
  const code = Number.parseInt(digits, radix);
  return code <= 0x10ffff && code !== 9 && code !== 10 && code !== 13 ? String.fromCodePoint(code) : '';
}
