import type { HeadLine } from './parse.ts';

/** A part of a mail as it is written. */
export interface WrittenPart {
  readonly role: 'text' | 'html' | 'attached';
  readonly name: string;
  readonly mediaType: string;
  readonly bytes: Uint8Array;
}

/** The separator of parts; no line of base64 begins like it. A mail in a mail has another one. */
const boundaryOf = (depth: number): string => `--=gatewarden-${depth}`;
/** Bytes that fit an encoded word of a head. */
const WORD_BYTES = 42;
const LINES = /.{1,76}/g;
const DATE_LENGTH = 76;
const ADDRESS = /^[!#-';=?A-Z^-~.-]{1,200}@[A-Za-z0-9.-]{1,200}$/;
const ASCII = /^[ -~]*$/;

/** Writes a new mail with only the given header lines and parts. */
export function writeMail(head: readonly HeadLine[], parts: readonly WrittenPart[], depth: number): Uint8Array {
  const lines = head.map(
    ({ name, texts }) =>
      `${titled(name)}: ${valueOf(
        name,
        texts.map(({ text }) => text),
      )}`,
  );
  const forms = parts.filter(({ role }) => role !== 'attached');
  const attached = parts.filter(({ role }) => role === 'attached');
  const text =
    forms.length === 1
      ? forms.map(partOf)
      : forms.length > 1
        ? [multipart('alternative', boundaryOf(2 * depth + 1), forms.map(partOf))]
        : [];
  const body = multipart('mixed', boundaryOf(2 * depth), [...text, ...attached.map(partOf)]);
  return Buffer.from([...lines, 'MIME-Version: 1.0', body].join('\r\n'));
}

function multipart(kind: string, boundary: string, parts: readonly string[]): string {
  const head = `Content-Type: multipart/${kind}; boundary="${boundary}"\r\n`;
  return [head, ...parts.map((part) => `--${boundary}\r\n${part}`), `--${boundary}--\r\n`].join('\r\n');
}

function partOf({ role, name, mediaType, bytes }: WrittenPart): string {
  const text = mediaType.startsWith('text/') && bytes[0] !== 0xff && bytes[0] !== 0xfe;
  const disposition =
    role === 'attached' ? [`Content-Disposition: attachment; filename*=utf-8''${encodeURIComponent(name)}`] : [];
  const head = [`Content-Type: ${mediaType}${text ? '; charset=utf-8' : ''}`, ...disposition];
  // A mail stands in another one as it is; ours have no letters beyond ASCII.
  if (mediaType === 'message/rfc822') return [...head, '', Buffer.from(bytes).toString('latin1')].join('\r\n');
  const data = Buffer.from(bytes).toString('base64').match(LINES) ?? [];
  return [...head, 'Content-Transfer-Encoding: base64', '', ...data].join('\r\n');
}

function titled(name: string): string {
  return name.replace(/\b[a-z]/g, (letter) => letter.toUpperCase());
}

function valueOf(name: string, texts: readonly string[]): string {
  if (name === 'date') return dateOf(texts.join());
  if (name === 'subject') return words(texts.join());
  return texts
    .filter((text) => text.trim() !== '')
    .map(mailbox)
    .join(',\r\n ');
}

/** A person without an address is written as an empty group, the only form of a name alone in a header. // RFC 6854 */
function mailbox(text: string): string {
  const open = text.endsWith('>') ? text.lastIndexOf('<') : -1;
  const address = open < 0 ? text : text.slice(open + 1, -1);
  if (!ADDRESS.test(address)) return `${words(text)}:;`;
  const name = text.slice(0, Math.max(0, open)).trimEnd();
  return name === '' ? address : `${words(name)} <${address}>`;
}

/** As encoded words, whatever it is: signs of the head's language would be read as such. // RFC 2047 */
function words(text: string): string {
  const found: string[] = [];
  let word = '';
  for (const letter of text) {
    if (Buffer.byteLength(word + letter) > WORD_BYTES) {
      found.push(word);
      word = '';
    }
    word += letter;
  }
  found.push(word);
  return found.map((one) => `=?utf-8?B?${Buffer.from(one).toString('base64')}?=`).join('\r\n ');
}

function dateOf(text: string): string {
  const date = new Date(text);
  if (!Number.isNaN(date.getTime())) return date.toUTCString().replace('GMT', '+0000');
  return ASCII.test(text) && !/[\r\n]/.test(text) ? text.slice(0, DATE_LENGTH) : words(text);
}
