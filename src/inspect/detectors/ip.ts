import { isIP } from 'node:net';
import { isAlphanumeric, isDigit, isHex, isLetter, startsToken, wordBefore } from './characters.ts';
import { ANY_DIGIT, mayStartToken } from './digit-context.ts';
import type { Detector } from './detector.ts';

/** 8 groups of 4, or an IPv4 address in place of the last two, with the separators between them. */
const LONGEST_V6 = 45;
/** Words after which four numbers with dots are a version or a numbered section. */
const OTHER_WORDS =
  /^(?:v|ver|versi[oóò]n?e?|versiunea?|vers[aã]o|versie|verze|wersj[aeię]|release|build|firmware|driver|kernel|sdk|patch|update|chapter|section|clause|kapitel|abschnitt|rev|revision|oid|§)$/u;

/**
 * IP addresses: four octets, or IPv6 in full and compressed, with an embedded IPv4 address or a zone. Versions,
 * section numbers, times, hardware addresses and `::` in code do not match. Addresses that identify no machine are
 * skipped: loopback, unspecified, netmasks and the ranges for documentation (RFC 5737, RFC 3849).
 */
export const ip: Detector = {
  category: 'IP_ADDRESS',
  evidence: 'shaped',
  meaning: 'IP addresses of versions 4 and 6, except loopback, netmasks and ranges for documentation.',
  examples: ['from ‹93.184.216.34›', '[‹2a00:1450:4001:81b::200e›]:443'],
  ignores: ['version 10.0.19041.1', 'listens on 127.0.0.1'],
  triggers: `:${ANY_DIGIT}`,
  prefilter(context): boolean {
    return context.length < 4 && context.next === 'dot' && context.later === 'digit' && mayStartToken(context);
  },
  detect(text, at, floor, found): number {
    return text.charCodeAt(at) === 58 ? examineV6(text, at, floor, found) : examineV4(text, at, floor, found);
  },
};

type Found = Parameters<Detector['detect']>[3];

function examineV4(text: string, at: number, floor: number, found: Found): number {
  if (text.charCodeAt(octetEnd(text, at)) !== 46) return floor;
  const end = octetsEnd(text, at);
  if (end < 0 || !startsAddress(text, at) || !endsAddress(text, end)) return floor;
  if (isNobodys(text.slice(at, end)) || OTHER_WORDS.test(wordBefore(text, at))) return floor;
  found.push({ start: at, end, category: 'IP_ADDRESS' });
  return end;
}

/** The end of the run of digits, looking no further than four. */
function octetEnd(text: string, at: number): number {
  let end = at + 1;
  while (end < at + 4 && isDigit(text.charCodeAt(end))) end += 1;
  return end;
}

/** The end of four octets without leading zeros, or -1. */
function octetsEnd(text: string, at: number): number {
  let start = at;
  for (let octet = 0; octet < 4; octet += 1) {
    const end = octetEnd(text, start);
    if (!isDigit(text.charCodeAt(start)) || end - start > 3) return -1;
    let value = 0;
    for (let index = start; index < end; index += 1) value = value * 10 + text.charCodeAt(index) - 48;
    if (value > 255 || (end - start > 1 && text.charCodeAt(start) === 48)) return -1;
    if (octet === 3) return end;
    if (text.charCodeAt(end) !== 46) return -1;
    start = end + 1;
  }
  return -1;
}

/** Not in a word, a longer dotted number, a file or package name, a product (`Chrome/120.0.0.0`) or a version range. */
function startsAddress(text: string, at: number): boolean {
  if (!startsToken(text, at)) return false;
  const earlier = text.charCodeAt(at - 2);
  switch (text.charCodeAt(at - 1)) {
    case 46:
      return !isAlphanumeric(earlier);
    case 45:
      return !isLetter(earlier);
    case 47:
      return !isLetter(earlier);
    case 61:
      return !(earlier === 61 || earlier === 60 || earlier === 62 || earlier === 126 || earlier === 33);
    case 94:
    case 95:
    case 126:
      return false;
    default:
      return true;
  }
}

function endsAddress(text: string, end: number): boolean {
  const next = text.charCodeAt(end);
  const later = text.charCodeAt(end + 1);
  if (isAlphanumeric(next) || next === 95) return false;
  if (next === 46) return !isAlphanumeric(later);
  return !((next === 45 || next === 43) && isLetter(later));
}

function isNobodys(address: string): boolean {
  const [first, second, third] = address.split('.').map(Number);
  if (first === 0 || first === 127 || first === 255) return true;
  return (
    (first === 192 && second === 0 && third === 2) ||
    (first === 198 && second === 51 && third === 100) ||
    (first === 203 && second === 0 && third === 113)
  );
}

function examineV6(text: string, at: number, floor: number, found: Found): number {
  const start = hexRunStart(text, at, floor);
  if (start === at && text.charCodeAt(at + 1) !== 58) return floor;
  if (!startsV6(text, start, floor)) return floor;
  const limit = start + LONGEST_V6 + 3;
  let end = at + 1;
  while (end < limit && isV6Character(text.charCodeAt(end))) end += 1;
  const address = text.slice(start, end).replace(/(?:\.|(?<!:):)$/, '');
  if (address.length > LONGEST_V6 || isIP(address) !== 6 || !isSomebodys(address)) return floor;
  const addressEnd = zoneEnd(text, start + address.length);
  if (isAlphanumeric(text.charCodeAt(addressEnd)) || text.charCodeAt(addressEnd) === 95) return floor;
  found.push({ start, end: addressEnd, category: 'IP_ADDRESS' });
  return addressEnd;
}

function isV6Character(code: number): boolean {
  return code === 58 || code === 46 || isHex(code);
}

/** Where the hexadecimal digits before `at` start, reading at most five. */
function hexRunStart(text: string, at: number, floor: number): number {
  let start = at;
  while (start > floor && at - start < 5 && isHex(text.charCodeAt(start - 1))) start -= 1;
  return start;
}

/** Not in a word, a path of names (`std::`) or further into an address; a label with a colon may stand before. */
function startsV6(text: string, start: number, floor: number): boolean {
  const before = text.charCodeAt(start - 1);
  if (before === 46 || before === 95) return false;
  if (before !== 58) return startsToken(text, start);
  const label = hexRunStart(text, start - 1, floor);
  const beforeLabel = text.charCodeAt(label - 1);
  if (label === start - 1) return beforeLabel !== 58;
  return isLetter(beforeLabel) || beforeLabel === 95;
}

/** The end of a zone such as `%eth0`, or `end` without one. */
function zoneEnd(text: string, end: number): number {
  if (text.charCodeAt(end) !== 37) return end;
  let after = end + 1;
  while (after < end + 17 && isAlphanumeric(text.charCodeAt(after))) after += 1;
  return after > end + 1 ? after : end;
}

const ASSIGNED = /^(?:[23][0-9a-f]{3}|f[cd][0-9a-f]{2}|fe[89ab][0-9a-f]):/i;
const DOCUMENTATION = /^2001:0?db8:/i;
const EMBEDDED = /^(?:::ffff:(?:0:)?|64:ff9b::)(\d+\.\d+\.\d+\.\d+)$/i;

/** In an assigned range, or long enough to be nothing else; names such as `face::bad` in code are too short. */
function isSomebodys(address: string): boolean {
  if (address.endsWith('::') || DOCUMENTATION.test(address)) return false;
  const embedded = EMBEDDED.exec(address)?.[1];
  if (embedded !== undefined) return !isNobodys(embedded);
  if (ASSIGNED.test(address)) return true;
  return /[0-9a-f]{3}/i.test(address) && address.replace(/[:.]/g, '').length >= 14;
}
