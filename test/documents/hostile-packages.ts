import { strToU8, zipSync } from 'fflate';
import { officeFile } from '../harness/office.ts';
import { blanks, type HostileFile } from './hostile-pdfs.ts';

const OASIS = 'urn:oasis:names:tc:opendocument:xmlns';
const NS = ['office', 'text', 'table'].map((name) => `xmlns:${name}="${OASIS}:${name}:1.0"`).join(' ');
const CONTAINER = '<container><rootfiles><rootfile full-path="b.opf"/></rootfiles></container>';

function open(kind: string, inner: string, more: Readonly<Record<string, Uint8Array>> = {}): Uint8Array {
  return zipSync({
    mimetype: [strToU8(`application/vnd.oasis.opendocument.${kind}`), { level: 0 }],
    'content.xml': strToU8(
      `${inner.startsWith('<!') ? '' : '<?xml version="1.0"?>'}<office:document-content ${NS}><office:body>${inner}</office:body></office:document-content>`,
    ),
    ...more,
  });
}

function book(chapter: string, more: Readonly<Record<string, Uint8Array>> = {}): Uint8Array {
  return zipSync({
    mimetype: [strToU8('application/epub+zip'), { level: 0 }],
    'META-INF/container.xml': strToU8(CONTAINER),
    'b.opf': strToU8(
      '<package><manifest><item id="c" href="c.xhtml" media-type="application/xhtml+xml"/></manifest><spine><itemref idref="c"/></spine></package>',
    ),
    'c.xhtml': strToU8(chapter),
    ...more,
  });
}

const ENTITIES = '<!DOCTYPE html [<!ENTITY a "lol"><!ENTITY b "&a;&a;&a;&a;&a;&a;">]>';

function slides(shapes: string): Uint8Array {
  return officeFile({
    'ppt/presentation.xml': {
      type: 'presentationml.presentation.main+xml',
      content: '<p xmlns:r="urn:r"><sldIdLst><sldId r:id="rId1"/></sldIdLst></p>',
      relations: { rId1: ['slide', 'slides/slide1.xml'] },
    },
    'ppt/slides/slide1.xml': { type: 'presentationml.slide+xml', content: `<sld>${shapes}</sld>` },
  });
}

const MAIL = 'From: a@example.org\r\nSubject: x\r\nMIME-Version: 1.0\r\n';

/** Parts in parts in parts. */
function nestedMail(depth: number): Uint8Array {
  const heads = Array.from(
    { length: depth },
    (_, at) => `Content-Type: multipart/mixed; boundary=b${at}\r\n\r\n--b${at}\r\n`,
  );
  return Buffer.from(`${MAIL}${heads.join('')}Content-Type: text/plain\r\n\r\nHello\r\n`);
}

/** A mail in a mail in a mail. */
function forwarded(depth: number): Uint8Array {
  let mail = `${MAIL}Content-Type: text/plain\r\n\r\nHello`;
  for (let at = 0; at < depth; at++)
    mail = `${MAIL}Content-Type: multipart/mixed; boundary=f${at}\r\n\r\n--f${at}\r\nContent-Type: message/rfc822\r\n\r\n${mail}\r\n--f${at}--\r\n`;
  return Buffer.from(mail);
}

/** Hostile files of the formats that are packages or languages of their own. */
export const HOSTILE_PACKAGES: readonly HostileFile[] = [
  {
    what: 'a bomb of one entry of OpenDocument',
    name: 'a.odt',
    make: () => open('text', '<office:text/>', { 'Object 1/content.xml': blanks(200) }),
    ends: ['too_large'],
  },
  { what: 'entities of OpenDocument', name: 'a.odt', make: () => open('text', ENTITIES), ends: ['unreadable'] },
  {
    what: '100,000 spans in each other',
    name: 'a.odt',
    make: () => open('text', `${'<text:span>'.repeat(100_000)}${'</text:span>'.repeat(100_000)}`),
    ends: ['too_large'],
  },
  {
    what: 'a million cells of OpenDocument',
    name: 'a.ods',
    make: () =>
      open(
        'spreadsheet',
        `<office:spreadsheet><table:table>${'<table:table-row><table:table-cell><text:p>x</text:p></table:table-cell></table:table-row>'.repeat(400_000)}</table:table></office:spreadsheet>`,
      ),
    ends: ['too_large'],
  },
  {
    what: 'a cell that is repeated a billion times',
    name: 'a.ods',
    make: () =>
      open(
        'spreadsheet',
        '<office:spreadsheet><table:table><table:table-row table:number-rows-repeated="1000000000"><table:table-cell table:number-columns-repeated="1000000000"><text:p>x<text:s text:c="2000000000"/></text:p></table:table-cell></table:table-row></table:table></office:spreadsheet>',
      ),
    ends: ['done'],
  },
  {
    what: 'macros of OpenDocument',
    name: 'a.odp',
    make: () => open('presentation', '<office:presentation/>', { 'Basic/Standard/Module1.xml': strToU8('<a/>') }),
    ends: ['active_content'],
  },
  {
    what: 'a password of OpenDocument',
    name: 'a.odt',
    make: () => open('text', '', { 'META-INF/manifest.xml': strToU8('<m><encryption-data/></m>') }),
    ends: ['encrypted'],
  },
  {
    what: 'a million paragraphs of a slide',
    name: 'a.pptx',
    make: () => slides('<p><r><t>x</t></r></p>'.repeat(1_000_000)),
    ends: ['too_large'],
  },
  {
    what: 'a slide of shapes in shapes',
    name: 'a.pptx',
    make: () => slides(`${'<g>'.repeat(50_000)}${'</g>'.repeat(50_000)}`),
    ends: ['too_large'],
  },
  {
    what: 'entities of a book',
    name: 'a.epub',
    make: () => book(`${ENTITIES}<html><body>&b;</body></html>`),
    ends: ['unreadable'],
  },
  {
    what: 'a chapter that is somewhere else',
    name: 'a.epub',
    make: () => book('<html/>', { '../../etc/passwd': strToU8('x') }),
    ends: ['unreadable'],
  },
  {
    what: 'a locked book',
    name: 'a.epub',
    make: () =>
      book('<html/>', {
        'META-INF/encryption.xml': strToU8(
          '<e><EncryptionMethod Algorithm="http://www.w3.org/2001/04/xmlenc#aes128-cbc"/></e>',
        ),
      }),
    ends: ['encrypted'],
  },
  {
    what: 'a million elements of a chapter with an entity each',
    name: 'a.epub',
    make: () => book(`<html><body>${'<p>&nbsp;x</p>'.repeat(400_000)}</body></html>`),
    ends: ['done', 'too_large'],
  },
  {
    what: '100,000 groups of rich text in each other',
    name: 'a.rtf',
    make: () => Buffer.from(`{\\rtf1 ${'{'.repeat(100_000)}x${'}'.repeat(100_000)}}`),
    ends: ['too_large'],
  },
  {
    what: 'bytes of rich text beyond its end',
    name: 'a.rtf',
    make: () => Buffer.from('{\\rtf1 Hello\\bin999999999 x}'),
    ends: ['unreadable'],
  },
  {
    what: 'ten million letters of rich text, each by its number',
    name: 'a.rtf',
    make: () => Buffer.from(`{\\rtf1 ${"\\'e4\\u228?".repeat(5_000_000)}}`),
    ends: ['too_large', 'done'],
  },
  {
    what: 'a million paragraphs of rich text',
    name: 'a.rtf',
    make: () => Buffer.from(`{\\rtf1 ${'x\\par '.repeat(1_000_000)}}`),
    ends: ['too_large'],
  },
  { what: 'parts of mail in each other', name: 'a.eml', make: () => nestedMail(1000), ends: ['too_large'] },
  {
    what: 'a mail of 100,000 parts',
    name: 'a.eml',
    make: () =>
      Buffer.from(
        `${MAIL}Content-Type: multipart/mixed; boundary=b\r\n\r\n${'--b\r\nContent-Type: text/csv\r\n\r\na\r\n'.repeat(100_000)}--b--`,
      ),
    ends: ['too_large'],
  },
  {
    what: 'a head of mail of 8 MB',
    name: 'a.eml',
    make: () => Buffer.from(`${MAIL}X-A: ${'a\r\n '.repeat(2_000_000)}\r\n\r\nHello`),
    ends: ['too_large'],
  },
  {
    what: 'a million receivers',
    name: 'a.eml',
    make: () => Buffer.from(`${MAIL}To: ${'a@example.org, '.repeat(30_000)}b@example.org\r\n\r\nHello`),
    ends: ['done', 'too_large'],
  },
  { what: 'mails in mails', name: 'a.eml', make: () => forwarded(12), ends: ['done'] },
  {
    what: 'a mail with a bomb',
    name: 'a.eml',
    make: () =>
      Buffer.from(
        `${MAIL}Content-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\nContent-Type: application/zip\r\nContent-Transfer-Encoding: base64\r\n\r\n${Buffer.from(open('text', '', { 'Object 1/content.xml': blanks(200) })).toString('base64')}\r\n--b--`,
      ),
    ends: ['too_large'],
  },
];
