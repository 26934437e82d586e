import PostalMime, { decodeWords, type Address } from 'postal-mime';
import { DocumentFault, type DocumentFile } from '#/ports/documents.ts';
import type { Slot } from '../slots.ts';
import { withoutOpaque } from './opaque.ts';

/** A line of a mail's header that stays: its texts, one for each person. */
export interface HeadLine {
  readonly name: string;
  readonly texts: readonly Slot[];
}

/** A file that came with a mail, or one of its texts. */
export interface MailFile extends DocumentFile {
  /** `text` and `html`: the mail itself, in one of its forms. */
  readonly role: 'text' | 'html' | 'attached';
}

/** A mail, taken apart. */
export interface Mail {
  readonly head: readonly HeadLine[];
  /** All other lines: who passed it on, and what programs wrote. */
  readonly unseen: readonly string[];
  readonly files: readonly MailFile[];
}

/** Parts in parts. */
const MAX_NESTING = 32;
const MAX_HEADS = 512 * 1024;
const MAX_FILES = 200;
/** Parts of a file that a parser is given no more of: it keeps each. */
const MAX_BOUNDARIES = 20_000;

/** Text in other encodings, which is not read: it would pass as meaningless words. */
const UNREAD = /(?:charset\s?=\s?"?|=\?)((?:unicode-1-1-)?utf-?7|hz-gb-2312|iso-2022-(?:kr|cn))\b/i;

/** Lines that a reader is shown, in the order in which they are written. */
const SHOWN = ['from', 'sender', 'reply-to', 'to', 'cc', 'subject', 'date'];

/** Takes a mail apart, encodings of its head and parts resolved. Rejects with `unreadable`, `too_large` or `unsupported`. */
export async function parseMail(bytes: Uint8Array): Promise<Mail> {
  boundParts(bytes);
  const mail = await parse(bytes);
  const lists = { from: mail.from, sender: mail.sender, 'reply-to': mail.replyTo, to: mail.to, cc: mail.cc };
  const said: Readonly<Record<string, readonly (string | undefined)[]>> = {
    ...Object.fromEntries(Object.entries(lists).map(([name, list]) => [name, list ? addressesOf([list].flat()) : []])),
    subject: [mail.subject],
    date: [mail.date],
  };
  const head = SHOWN.flatMap((name): readonly HeadLine[] => {
    const texts = (said[name] ?? []).flatMap((text) => (text === undefined || text === '' ? [] : [{ text }]));
    return texts.length === 0 ? [] : [{ name, texts }];
  });
  const unseen = mail.headers.map(({ key, value }) => `${key}: ${decodeWords(value)}`);
  const files: MailFile[] = [];
  if (mail.text !== undefined) {
    const text = withoutOpaque(mail.text);
    files.push({ role: 'text', name: 'mail.txt', mediaType: 'text/plain', bytes: Buffer.from(text) });
  }
  if (mail.html !== undefined)
    files.push({ role: 'html', name: 'mail.html', mediaType: 'text/html', bytes: Buffer.from(mail.html) });
  for (const { filename, mimeType, content } of mail.attachments) {
    const data = typeof content === 'string' ? Buffer.from(content) : new Uint8Array(content);
    files.push({ role: 'attached', name: filename ?? '', mediaType: mimeType, bytes: data });
  }
  if (files.length > MAX_FILES) throw new DocumentFault('too_large', `the mail has more than ${MAX_FILES} files`);
  return { head, unseen, files };
}

async function parse(bytes: Uint8Array): ReturnType<typeof PostalMime.parse> {
  try {
    return await PostalMime.parse(bytes, {
      forceRfc822Attachments: true,
      maxNestingDepth: MAX_NESTING,
      maxHeadersSize: MAX_HEADS,
    });
  } catch (cause) {
    throw new DocumentFault('too_large', 'the mail has parts that are nested too deeply, or its header is too long', {
      cause,
    });
  }
}

function boundParts(bytes: Uint8Array): void {
  const file = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  let count = 0;
  for (let at = file.indexOf('\n--'); at >= 0; at = file.indexOf('\n--', at + 3))
    if (++count > MAX_BOUNDARIES) throw new DocumentFault('too_large', 'the mail has too many parts');
  const unread = UNREAD.exec(file.toString('latin1'))?.[1];
  if (unread !== undefined)
    throw new DocumentFault('unsupported', `mail in ${unread.toUpperCase()} is not supported: save it as UTF-8`);
}

/** As a reader is shown them. */
function addressesOf(list: readonly Address[]): readonly string[] {
  return list.flatMap((one) => (one.group ? [one.name, ...one.group.map(boxOf)] : [boxOf(one)]));
}

function boxOf({ name, address }: { readonly name: string; readonly address?: string | undefined }): string {
  if (name === '' || name === address) return address ?? '';
  return address === undefined || address === '' ? name : `${name} <${address}>`;
}
