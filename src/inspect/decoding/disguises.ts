/*
 * Every pattern here runs over foreign text and is linear: no match may begin within a stretch that a quantifier without
 * a bound has already run over in vain. So such a stretch (`[ \t]*`, `\p{M}*`) stands behind a character that it does not
 * take itself, or behind a lookbehind that says so, and a stretch that must be followed by something has a bound. No
 * quantifier without a bound holds another, nor two alternatives that begin alike. `test/attack/patterns.test.ts` tries it.
 */

/** A stretch of a text that reads as something else. */
export interface Disguise {
  readonly start: number;
  readonly end: number;
  readonly read: string;
}

const ESCAPE =
  /(?:\\u[\da-f]{4})+|(?:\\x[\da-f]{2})+|(?:%[\da-f]{2})+|&(?:#\d{1,7}|#x[\da-f]{1,6}|[a-z]{2,8});|\\(?:[nrt!-/:-@[-`{-~]|\r?\n)/gi;
const CONTROLS: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t' };
/** Named entities of HTML: those of Latin-1 in the order of their codes, from 160, and a few more. */
const LATIN_1 = (
  'nbsp iexcl cent pound curren yen brvbar sect uml copy ordf laquo not shy reg macr deg plusmn sup2 sup3 acute micro para ' +
  'middot cedil sup1 ordm raquo frac14 frac12 frac34 iquest Agrave Aacute Acirc Atilde Auml Aring AElig Ccedil Egrave ' +
  'Eacute Ecirc Euml Igrave Iacute Icirc Iuml ETH Ntilde Ograve Oacute Ocirc Otilde Ouml times Oslash Ugrave Uacute ' +
  'Ucirc Uuml Yacute THORN szlig agrave aacute acirc atilde auml aring aelig ccedil egrave eacute ecirc euml igrave ' +
  'iacute icirc iuml eth ntilde ograve oacute ocirc otilde ouml divide oslash ugrave uacute ucirc uuml yacute thorn yuml'
).split(' ');
const ENTITIES: Readonly<Record<string, string>> = {
  ...Object.fromEntries(LATIN_1.map((name, index) => [name, String.fromCharCode(160 + index)])),
  ...{ amp: '&', lt: '<', gt: '>', quot: '"', apos: "'", OElig: 'Œ', oelig: 'œ', Scaron: 'Š', scaron: 'š', Yuml: 'Ÿ' },
  ...{ commat: '@', period: '.', hyphen: '‐', ndash: '–', mdash: '—', lsquo: '‘', rsquo: '’', ensp: ' ', emsp: ' ' },
  ...{ lstrok: 'ł', Lstrok: 'Ł', zcaron: 'ž', Zcaron: 'Ž', ccaron: 'č', Ccaron: 'Č', cacute: 'ć', nacute: 'ń' },
  ...{ sacute: 'ś', Sacute: 'Ś', zacute: 'ź', zdot: 'ż', eogon: 'ę', aogon: 'ą', rcaron: 'ř', ecaron: 'ě' },
};

/** Escapes of JSON, addresses, HTML and Markdown, and what each stands for. */
export function escapesIn(text: string): readonly Disguise[] {
  const found: Disguise[] = [];
  for (const { 0: written, index } of text.matchAll(ESCAPE)) {
    const read = readingOf(written);
    if (read !== undefined) found.push({ start: index, end: index + written.length, read });
  }
  return found;
}

/** Quoted-printable: bytes after the sign, and soft line breaks. // RFC 2045 6.7 */
const QUOTED = /(?:=[\dA-F]{2})+|=[ \t]{0,20}\r?\n/g;

/** Bytes of mail and what they stand for. */
export function quotedIn(text: string): readonly Disguise[] {
  if (!text.includes('=')) return [];
  return Array.from(text.matchAll(QUOTED), ({ 0: written, index }) => {
    const read = /[\r\n]/.test(written) ? '' : utf8OrLatin(written.replaceAll('=', ''));
    return { start: index, end: index + written.length, read };
  });
}

function readingOf(written: string): string | undefined {
  if (written.startsWith('%')) return percent(written);
  if (written.startsWith('&')) return entity(written.slice(1, -1));
  if (/^\\u/i.test(written))
    return written.replace(/\\u(.{4})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
  if (/^\\x/i.test(written)) return utf8OrLatin(written.replace(/\\x/gi, ''));
  const sign = written.slice(1);
  return CONTROLS[sign] ?? (/[\r\n]/.test(sign) ? '\n' : sign);
}

const LATIN = new TextDecoder('windows-1252');

/** In UTF-8, or as addresses were written before that. */
function percent(written: string): string {
  return utf8OrLatin(written.replaceAll('%', ''));
}

const UTF_8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

function utf8OrLatin(hex: string): string {
  const bytes = Buffer.from(hex, 'hex');
  try {
    return UTF_8.decode(bytes);
  } catch {
    return LATIN.decode(bytes);
  }
}

function entity(name: string): string | undefined {
  if (!name.startsWith('#')) return Object.hasOwn(ENTITIES, name) ? ENTITIES[name] : undefined;
  const hexadecimal = /^#x/i.test(name);
  const code = Number.parseInt(name.slice(hexadecimal ? 2 : 1), hexadecimal ? 16 : 10);
  return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : undefined;
}

const FORM_VALUE = /(?<![^\s?&])[^\s?&=+]{1,100}=[^\s&]+/g;
const FORM_BLANK = /(?<=[\p{L}\d.])\+(?=\p{L})/gu;

/** Blanks of an address' query, which are written as a plus; in a value with an address of mail it is a letter of that. */
export function formBlanksIn(text: string): readonly Disguise[] {
  if (!text.includes('+')) return [];
  return Array.from(text.matchAll(FORM_VALUE)).flatMap(({ 0: pair, index }) => {
    if (pair.includes('@')) return [];
    return Array.from(pair.matchAll(FORM_BLANK), ({ index: at }) => {
      return { start: index + at, end: index + at + 1, read: ' ' };
    });
  });
}

/** Whether a text has marks of Markdown or HTML in or next to its letters and digits. */
const MARKED = /<[a-z/!]|\]\(|\]\[|[\p{L}\d][*`~_]|[*`~_][\p{L}\d]|^[ \t]*>/imu;
const MARKS = new RegExp(
  [
    '<!--[^]{0,60}?-->',
    '(?<end><(?:br|/?(?:p|div|t[dhr]|li|ul|ol|dl|dt|dd|table|h[1-6]|hr|blockquote))(?:\\s[^<>]{0,1000})?/?>)',
    '</?[a-z][\\w:-]{0,40}(?:\\s[^<>]{0,1000})?/?>',
    '!?\\[',
    '\\](?:\\((?:[^()\\n]|\\([^()\\n]{0,200}\\)){0,500}\\)|\\[[^\\][\\n]{0,200}\\])?',
    '[*`~]+',
    '(?<![\\p{L}\\p{N}])_+',
    '_+(?![\\p{L}\\p{N}])',
    '(?<=^|\\n)[ \\t]*(?:>[ \\t]?)+',
  ].join('|'),
  'giu',
);

/** Marks of Markdown and HTML, of which a reader sees nothing, or the end of a line. */
export function marksIn(text: string): readonly Disguise[] {
  if (!MARKED.test(text)) return [];
  return Array.from(text.matchAll(MARKS), ({ 0: mark, index, groups }) => {
    return { start: index, end: index + mark.length, read: groups?.['end'] === undefined ? '' : '\n' };
  });
}

/** Letters with a blank between each and the next, wider ones between words. */
const SPACED =
  /(?<![^\s([{<"'„“«])\p{L}\p{M}*(?:[^\S\r\n]{1,4}[\p{L}\p{N}@.,_+-]\p{M}*(?![^\s.,;:!?)\]}>"'“”»])){3,}/gu;

/** Most texts have none: told without asking for each letter what it is. */
const MAYBE_SPACED = /\s\S[\u0300-\u036f]*\s{1,4}\S[\u0300-\u036f]*\s{1,4}\S/;

/** Blanks within words of which the letters stand apart; each stretch is a word, or words with `blanks` between them. */
export function lettersApartIn(text: string, blanks: boolean): readonly Disguise[] {
  if (!MAYBE_SPACED.test(text)) return [];
  return Array.from(text.matchAll(SPACED)).flatMap(({ 0: row, index }) =>
    Array.from(row.matchAll(/\s+/g), ({ 0: gap, index: at }) => {
      return { start: index + at, end: index + at + gap.length, read: blanks && gap.length > 1 ? ' ' : '' };
    }),
  );
}
