import { DocumentFault } from '#/ports/documents.ts';
import { localOf, type XmlAttribute, type XmlElement } from './xml.ts';

/** Elements and texts of one file: its tree takes some hundred MiB then. */
const MAX_NODES = 2_000_000;
/** Of one element: a workbook's root has some forty. */
const MAX_ATTRIBUTES = 512;
/** Office nests tables and boxes some dozens deep. */
const MAX_DEPTH = 256;
const CHECK_EVERY = 20_000;

const NAME = String.raw`[\p{L}_][\p{L}\p{N}\p{M}_.\-·]*(?::[\p{L}_][\p{L}\p{N}\p{M}_.\-·]*)?`;
const OPENING = new RegExp(`<(${NAME})`, 'uy');
const ATTRIBUTE = new RegExp(`\\s+(${NAME})\\s*=\\s*(?:"([^<"]*)"|'([^<']*)')`, 'uy');
const CLOSING = new RegExp(`</(${NAME})\\s*>`, 'uy');
const END = /\s*(\/?)>/y;
const DECLARATION = /^<\?xml\s+version\s*=\s*["']1\.0["'](?:\s+encoding\s*=\s*["']([\w.-]+)["'])?[^?<>]*\?>/;

const PREDEFINED: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };
const ENCODINGS = /^(?:utf-?8|us-ascii|ascii|iso-8859-1|latin1|windows-125\d|iso-8859-\d+)$/i;

/**
 * Reads an XML file into a tree, strictly: what two readers could read differently is refused. Comments and instructions
 * are left out; nothing is defined by the file itself (no DOCTYPE), so nothing in it can grow or refer to anything.
 * Throws `unreadable`, or `too_large` for one that is too deep or has too many elements.
 */
export function parseXml(bytes: Uint8Array, checkTime: () => void): XmlElement {
  const text = decode(bytes).replace(/\r\n?/g, '\n');
  const top: XmlElement = { name: '', local: '', attributes: [], children: [] };
  const stack: XmlElement[] = [top];
  let at = DECLARATION.exec(text)?.[0].length ?? 0;
  let nodes = 0;
  while (at < text.length) {
    const parent = stack.at(-1);
    if (!parent) throw broken();
    if (++nodes % CHECK_EVERY === 0) checkTime();
    if (nodes > MAX_NODES || stack.length > MAX_DEPTH)
      throw new DocumentFault('too_large', 'the document has too many parts, or they are nested too deeply');
    if (text.charCodeAt(at) === LESS_THAN) {
      at = parseMarkup(text, at, stack, parent);
      continue;
    }
    const next = text.indexOf('<', at);
    const raw = text.slice(at, next < 0 ? text.length : next);
    addText(parent, top, resolve(raw));
    at += raw.length;
  }
  const [root, second] = top.children;
  if (stack.length !== 1 || root?.name === undefined || second) throw broken();
  return root;
}

const LESS_THAN = 60;

/** Reads what begins with `<` and gives where it ends. */
function parseMarkup(text: string, at: number, stack: XmlElement[], parent: XmlElement): number {
  const second = text[at + 1];
  if (second === '/') return parseClosing(text, at, stack, parent);
  if (second === '?') return after(text, at + 2, '?>');
  if (second !== '!') return parseOpening(text, at, stack, parent);
  if (text.startsWith('<!--', at)) return after(text, at + 4, '-->');
  // DOCTYPE is no markup that is read: it ends here.
  if (!text.startsWith('<![CDATA[', at) || stack.length === 1) throw broken();
  const end = after(text, at + 9, ']]>');
  parent.children.push({ text: text.slice(at + 9, end - 3) });
  return end;
}

function parseClosing(text: string, at: number, stack: XmlElement[], parent: XmlElement): number {
  CLOSING.lastIndex = at;
  if (CLOSING.exec(text)?.[1] !== parent.name || stack.length === 1) throw broken();
  stack.pop();
  return CLOSING.lastIndex;
}

function parseOpening(text: string, from: number, stack: XmlElement[], parent: XmlElement): number {
  OPENING.lastIndex = from;
  const name = OPENING.exec(text)?.[1];
  if (name === undefined) throw broken();
  const attributes: XmlAttribute[] = [];
  const names = new Set<string>();
  let at = OPENING.lastIndex;
  for (;;) {
    ATTRIBUTE.lastIndex = at;
    const found = ATTRIBUTE.exec(text);
    if (!found) break;
    at = ATTRIBUTE.lastIndex;
    const [, key = '', double, single = ''] = found;
    if (names.has(key)) throw broken();
    names.add(key);
    if (names.size > MAX_ATTRIBUTES)
      throw new DocumentFault('too_large', 'an element of the document has too many attributes');
    attributes.push({ name: key, text: resolve((double ?? single).replace(/[\t\n]/g, ' ')) });
  }
  END.lastIndex = at;
  const end = END.exec(text);
  if (!end) throw broken();
  const element: XmlElement = { name, local: localOf(name), attributes, children: [] };
  parent.children.push(element);
  if (end[1] === '') stack.push(element);
  return END.lastIndex;
}

function addText(parent: XmlElement, top: XmlElement, text: string): void {
  if (parent !== top) parent.children.push({ text });
  else if (text.trim() !== '') throw broken();
}

function after(text: string, from: number, mark: string): number {
  const at = text.indexOf(mark, from);
  if (at < 0) throw broken();
  return at + mark.length;
}

/** Character references put in their places; no others are known. */
function resolve(raw: string): string {
  if (!raw.includes('&')) return raw;
  return raw.replace(/&(?:#(\d{1,7})|#x([\da-f]{1,6})|(\w{1,8}));|&/gi, (_, decimal, hexadecimal, name) => {
    if (typeof name === 'string') return PREDEFINED[name] ?? fail();
    const code = typeof decimal === 'string' ? Number(decimal) : Number.parseInt(String(hexadecimal), 16);
    return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : fail();
  });
}

/** The file's text, in the encoding that it says: UTF-8, UTF-16 with its mark, or one of single bytes. */
function decode(bytes: Uint8Array): string {
  const wide =
    bytes[0] === 0xff && bytes[1] === 0xfe ? 'utf-16le' : bytes[0] === 0xfe && bytes[1] === 0xff && 'utf-16be';
  const head = new TextDecoder(wide || 'latin1').decode(bytes.subarray(0, 512)).replace(/^ï»¿/, '');
  const declaration = DECLARATION.exec(head);
  if (!declaration && head.startsWith('<?xml ')) throw broken();
  const said = declaration?.[1]?.toLowerCase();
  const single = said === undefined || ENCODINGS.test(said);
  // A file in UTF-16 may say no more than that.
  if (wide ? said !== undefined && !/^utf-?(?:16(?:le|be)?|8)$/.test(said) : !single) throw broken();
  try {
    return new TextDecoder(wide || (said ?? 'utf-8'), { fatal: true }).decode(bytes);
  } catch (cause) {
    throw broken(cause);
  }
}

function fail(): never {
  throw broken();
}

function broken(cause?: unknown): DocumentFault {
  return new DocumentFault('unreadable', 'a part of the document is damaged or malformed', {
    cause,
  });
}
