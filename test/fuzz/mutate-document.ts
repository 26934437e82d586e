import { crc32 } from 'node:zlib';
import { unzipSync, zipSync } from 'fflate';
import type { Random } from '../harness/random.ts';
import { mutateBytes } from './mutate.ts';

/** `bytes` with changes to its parts as its format has them: entries of a zip, objects of a PDF, chunks of a picture. */
export function mutateDocument(bytes: Buffer, random: Random): Buffer {
  if (random.chance(0.15)) return mutateBytes(bytes, random);
  const head = bytes.toString('latin1', 0, 8);
  if (head.startsWith('PK')) return mutateZip(bytes, random);
  if (head.startsWith('%PDF')) return times(bytes, random, mutatePdf);
  if (head.startsWith('\x89PNG')) return times(bytes, random, mutatePng);
  if (head.startsWith('\xff\xd8')) return times(bytes, random, mutateJpeg);
  // Of pictures, what is at the front says what all the rest is.
  if (/^(?:II|MM|GIF8|RIFF)/.test(head)) return times(bytes, random, mutateNumbers);
  return times(bytes, random, mutateMarkup);
}

function times(bytes: Buffer, random: Random, mutate: (bytes: Buffer, random: Random) => Buffer): Buffer {
  let mutated = bytes;
  for (let left = random.whole(1, 4); left > 0; left -= 1) mutated = mutate(mutated, random);
  return mutated;
}

const ODD_NUMBERS = [
  '0',
  '-1',
  '1',
  '65536',
  '2147483647',
  '-2147483648',
  '4294967296',
  '1e9',
  '0.00000001',
  'NaN',
] as const;
const ODD_TEXTS = [
  '',
  '\0',
  '\ufeff',
  '\u202e',
  '<![CDATA[',
  ']]>',
  '<!--',
  '-->',
  '&#0;',
  '&#xD800;',
  '&nbsp;',
  '&lt;',
  '"',
  '<',
  '>',
  '</',
  '=cmd|x!A1',
  ',"',
  'data:text/html;base64,PGI+',
  'x'.repeat(3000),
] as const;

/** Some entry changed, taken out, doubled under another's name, or the whole file as bytes. */
function mutateZip(bytes: Buffer, random: Random): Buffer {
  let entries: Record<string, Uint8Array>;
  try {
    entries = unzipSync(bytes);
  } catch {
    return mutateBytes(bytes, random);
  }
  for (let left = random.whole(1, 3); left > 0; left -= 1) {
    const names = Object.keys(entries);
    const [first = ''] = names;
    const name = random.pick([first, ...names]);
    const data = Buffer.from(entries[name] ?? []);
    const kind = random.whole(0, 9);
    if (kind === 0) delete entries[name];
    else if (kind === 1) entries[random.pick([first, ...names])] = data;
    else if (kind === 2) entries[random.pick([`${name}/`, `../${name}`, name.toUpperCase(), ''])] = data;
    else
      entries[name] = /\.(?:xml|rels)$/.test(name) ? times(data, random, mutateMarkup) : mutateDocument(data, random);
  }
  try {
    return Buffer.from(zipSync(entries, { level: 1 }));
  } catch {
    return mutateBytes(bytes, random);
  }
}

const TOKEN = /<[^<>]{1,400}>|[^<>\s,;]{1,80}/g;

/** Tags, words and cells of a text: taken out, doubled, exchanged, put into each other, or made odd. */
function mutateMarkup(bytes: Buffer, random: Random): Buffer {
  const text = bytes.toString('utf8');
  if (random.chance(0.05)) return Buffer.from(text, random.pick(['utf16le', 'latin1']));
  const tokens = [...text.matchAll(TOKEN)];
  const one = tokens[random.whole(0, tokens.length - 1)];
  const other = tokens[random.whole(0, tokens.length - 1)];
  if (!one || !other) return mutateBytes(bytes, random);
  const [word] = one;
  const put = (replacement: string): Buffer =>
    Buffer.from(text.slice(0, one.index) + replacement + text.slice(one.index + word.length));
  switch (random.whole(0, 8)) {
    case 0:
      return put('');
    case 1:
      return put(word.repeat(random.pick([2, 3, 200])));
    case 2:
      return put(other[0]);
    case 3:
      return put(word.replace(/"[^"]*"|\d+/, (value) => odd(value, random)));
    case 4:
      return put(word + random.pick(ODD_TEXTS));
    case 5:
      return put(
        word.replace(/^<(\/?)(\S+?)/, (_, slash: string, name: string) => `<${slash === '' ? '/' : ''}${name}`),
      );
    case 6: {
      const [from, to] = [Math.min(one.index, other.index), Math.max(one.index, other.index)];
      const part = text.slice(from, Math.min(to, from + 4000));
      return Buffer.from(
        text.slice(0, from) + (random.chance(0.5) ? part + part : '') + text.slice(from + part.length),
      );
    }
    case 7:
      return put(
        word.replace(
          /^<(\w+:)?\w+/,
          (tag) => `${tag} ${random.pick(['id', 'r:id', 'style', 'name', 'href'])}="${random.pick(ODD_TEXTS)}"`,
        ),
      );
    default:
      return put(`${word}${odd('"', random)}`);
  }
}

function odd(value: string, random: Random): string {
  return value.startsWith('"')
    ? `"${random.pick(random.chance(0.5) ? ODD_NUMBERS : ODD_TEXTS)}"`
    : random.pick(ODD_NUMBERS);
}

const PDF_TOKEN =
  /\d+ 0 R|\/[A-Za-z][\w.#-]*|-?\d+(?:\.\d+)?|<<|>>|\[|\]|\((?:[^()\\]|\\.){0,200}\)|\b(?:obj|endobj|stream|endstream|BT|ET|Tj|TJ|Tf|Do|cm|q|Q|re|f)\b/g;

/** Names, numbers, references and operators of a PDF: exchanged or made odd; whole objects taken out, doubled or exchanged. */
function mutatePdf(bytes: Buffer, random: Random): Buffer {
  const text = bytes.toString('latin1');
  const objects = [...text.matchAll(/\d+ 0 obj\b/g)];
  const kind = random.whole(0, 9);
  if (kind <= 2 && objects.length > 1) {
    const at = random.whole(0, objects.length - 2);
    const [from, to] = [objects[at]?.index ?? 0, objects[at + 1]?.index ?? 0];
    const source = objects[random.whole(0, objects.length - 2)];
    const content = source && text.slice(source.index + source[0].length, text.indexOf('endobj', source.index) + 6);
    const replaced = `${objects[at]?.[0] ?? ''}${content ?? ''}\n`;
    const put = kind === 0 ? '' : kind === 1 ? text.slice(from, to) + replaced : replaced;
    return Buffer.from(text.slice(0, from) + put + text.slice(to), 'latin1');
  }
  const tokens = [...text.matchAll(PDF_TOKEN)];
  const one = tokens[random.whole(0, tokens.length - 1)];
  if (!one) return mutateBytes(bytes, random);
  const like = tokens.filter(([token]) => token.at(0) === one[0].at(0) || token.endsWith('R') === one[0].endsWith('R'));
  const other = like[random.whole(0, like.length - 1)]?.[0] ?? '';
  const number = random.pick(ODD_NUMBERS);
  const put = random.pick([
    other,
    other,
    '',
    one[0] + one[0],
    number,
    `[${one[0]}]`,
    `<<${other} ${one[0]}>>`,
    '1 0 R',
  ]);
  return Buffer.from(text.slice(0, one.index) + put + text.slice(one.index + one[0].length), 'latin1');
}

/** Chunks of a PNG: taken out, doubled, exchanged or changed, with checks that fit. */
function mutatePng(bytes: Buffer, random: Random): Buffer {
  const chunks: { type: string; data: Buffer }[] = [];
  for (let at = 8; at + 12 <= bytes.length && chunks.length < 1000;) {
    const length = bytes.readUInt32BE(at);
    chunks.push({ type: bytes.toString('latin1', at + 4, at + 8), data: bytes.subarray(at + 8, at + 8 + length) });
    at += 12 + length;
  }
  const at = random.whole(0, chunks.length - 1);
  const chunk = chunks[at];
  if (!chunk) return mutateBytes(bytes, random);
  const kind = random.whole(0, 4);
  if (kind === 0) chunks.splice(at, 1);
  else if (kind === 1) chunks.splice(random.whole(0, chunks.length), 0, chunk);
  else if (kind === 2)
    chunk.type = random.pick(['IHDR', 'PLTE', 'tRNS', 'IDAT', 'eXIf', 'iCCP', 'zTXt', 'acTL', 'IEND']);
  else chunk.data = chunk.type === 'IDAT' ? mutateBytes(chunk.data, random) : mutateNumbers(chunk.data, random);
  return Buffer.concat([bytes.subarray(0, 8), ...chunks.map(written)]);
}

function written({ type, data }: { readonly type: string; readonly data: Buffer }): Buffer {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const chunk = Buffer.alloc(body.length + 8);
  chunk.writeUInt32BE(data.length, 0);
  body.copy(chunk, 4);
  chunk.writeUInt32BE(crc32(body), body.length + 4);
  return chunk;
}

/** Segments of a JPEG: taken out, doubled or changed. */
function mutateJpeg(bytes: Buffer, random: Random): Buffer {
  const segments: (readonly [from: number, to: number])[] = [];
  for (let at = 2; at + 4 <= bytes.length && bytes[at] === 0xff && bytes[at + 1] !== 0xda;) {
    const to = at + 2 + bytes.readUInt16BE(at + 2);
    segments.push([at, Math.min(to, bytes.length)]);
    at = to;
  }
  const [from, to] = segments[random.whole(0, segments.length - 1)] ?? [0, bytes.length];
  const segment = bytes.subarray(from, to);
  const changed = random.pick([
    () => Buffer.alloc(0),
    () => Buffer.concat([segment, segment]),
    () => mutateNumbers(segment, random),
    () => mutateBytes(segment, random),
  ])();
  return Buffer.concat([bytes.subarray(0, from), changed, bytes.subarray(to)]);
}

/** A number of one, two or four bytes made odd, rather at the front, where formats say what follows. */
function mutateNumbers(bytes: Buffer, random: Random): Buffer {
  const size = random.pick([1, 2, 4]);
  if (bytes.length < size) return bytes;
  const changed = Buffer.from(bytes);
  const at = random.whole(0, Math.min(bytes.length, random.chance(0.7) ? 200 : bytes.length) - size);
  const value = random.pick([0, 1, 2, 0x7f, 0xff, 0x100, 0x7fff, 0xffff, 0x7fffffff, 0xffffffff, random.whole(0, 255)]);
  const most = 256 ** size;
  if (random.chance(0.5)) changed.writeUIntLE(value % most, at, size);
  else changed.writeUIntBE(value % most, at, size);
  return changed;
}
