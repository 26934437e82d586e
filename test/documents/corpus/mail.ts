import { photo } from './photo.ts';
import type { CorpusDocument, Planting } from './planting.ts';

/** A mail in mails, with something in every place that the format has for text, and files of its own. */
export async function mail(planting: Planting): Promise<CorpusDocument> {
  const { text } = planting;
  const shown = [text.heading, ...text.paragraphs, ...text.list];
  const body = [
    text.heading,
    planting.sentence('line'),
    ...text.paragraphs,
    planting.again(),
    ...text.list,
    planting.again(),
  ];
  const html = `<html><body><p>${planting.sentence('page')}</p><p title="${planting.entry('tooltip')}">x</p><!-- ${planting.sentence('comment')} --></body></html>`;
  const inner = [
    `From: ${word(planting.name('sender of a mail within'))} <x@example.org>`,
    `Subject: ${word(planting.entry('subject of a mail within'))}`,
    'Content-Type: text/plain; charset=utf-8',
    'Content-Transfer-Encoding: base64',
    '',
    base64(Buffer.from(planting.sentence('mail within'))),
  ].join('\r\n');
  const parts = [
    multipart('alternative', 'forms', [
      part('text/plain; charset=utf-8', 'quoted-printable', quoted(body.join('\n\n'))),
      part('text/html; charset=utf-8', 'base64', base64(Buffer.from(html))),
    ]),
    attached('text/csv', 'list.csv', Buffer.from(`a,b\n${planting.name('table that was attached')},1\n`)),
    attached('image/jpeg', `${planting.name('name of a file')}.jpg`, await photo(planting)),
    attached('application/zip', 'x.zip', Buffer.from(`PK\u0003\u0004${planting.sentence('file that is not read')}`)),
    `Content-Type: message/rfc822\r\n\r\n${inner}`,
  ];
  const head = [
    `Received: from x by y for <${planting.email('line of passing on')}>; Mon, 23 Nov 2026 10:00:00 +0100`,
    `From: ${word(planting.name('sender'))} <${planting.email('address of the sender')}>`,
    `To: ${word(planting.name('receiver'))} <a@example.org>, ${planting.email('second receiver')}`,
    `Cc: ${word(planting.name('group'))}:;`,
    `Bcc: ${planting.email('receiver who is not shown')}`,
    `Subject: ${word(planting.entry('subject'))}`,
    `X-Owner: ${word(planting.entry('line of a program'))}`,
    `Message-ID: <${planting.email('identifier')}>`,
    'Date: Mon, 23 Nov 2026 10:00:00 +0100',
    'MIME-Version: 1.0',
  ];
  const preamble = planting.sentence('words before the parts');
  const bytes = Buffer.from(
    [...head, multipart('mixed', 'files', parts, preamble), planting.sentence('words behind them')].join('\r\n'),
  );
  return { name: 'letter.eml', mediaType: 'message/rfc822', bytes, scanned: false, ...planting.done(shown) };
}

function multipart(kind: string, boundary: string, parts: readonly string[], preamble = ''): string {
  const head = `Content-Type: multipart/${kind}; boundary=${boundary}\r\n\r\n${preamble}`;
  return [head, ...parts.map((one) => `--${boundary}\r\n${one}`), `--${boundary}--\r\n`].join('\r\n');
}

function part(type: string, encoding: string, content: string): string {
  return `Content-Type: ${type}\r\nContent-Transfer-Encoding: ${encoding}\r\n\r\n${content}`;
}

function attached(type: string, name: string, bytes: Uint8Array): string {
  const disposition = `Content-Disposition: attachment; filename*=utf-8''${encodeURIComponent(name)}`;
  return `Content-Type: ${type}\r\n${disposition}\r\nContent-Transfer-Encoding: base64\r\n\r\n${base64(bytes)}`;
}

function word(text: string): string {
  return `=?utf-8?B?${Buffer.from(text).toString('base64')}?=`;
}

function base64(bytes: Uint8Array): string {
  return (
    Buffer.from(bytes)
      .toString('base64')
      .match(/.{1,76}/g) ?? []
  ).join('\r\n');
}

/** Lines of few letters, so that names are broken. */
function quoted(text: string): string {
  const escaped = text.replace(/[^ -<>-~\n]/gu, (letter) =>
    Array.from(Buffer.from(letter), (byte) => `=${byte.toString(16).toUpperCase().padStart(2, '0')}`).join(''),
  );
  return escaped.replace(/((?:=[\dA-F]{2}|[^=\n]){40})/g, '$1=\n').replace(/\n/g, '\r\n');
}
