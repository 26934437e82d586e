import type { Random } from '../harness/random.ts';
import type { Told } from './http1-reference.ts';
import { law } from './pure-target.ts';

/** An answer that a server may give, good or bad. */
export interface MadeAnswer {
  readonly bytes: Buffer;
  /** Must not be told as whole: what is wrong with it; undefined: nothing. */
  readonly flaw: string | undefined;
  /** Holds what was read against what it was made of. */
  check(told: Told, closed: boolean): void;
}

type Framing = 'length' | 'chunked' | 'close';

/** What is wrong with a head, by how it is done. */
const HEAD_FLAWS: Readonly<Record<string, (head: string, length: number) => string>> = {
  'two lengths': (head, length) => withField(head, `Content-Length: ${length}\r\nCONTENT-LENGTH: ${length + 1}`),
  'the same length twice': (head, length) => withField(head, `Content-Length: ${length}\r\nContent-Length: ${length}`),
  'length and chunks': (head, length) => withField(head, `Content-Length: ${length}\r\nTransfer-Encoding: chunked`),
  'chunks and length': (head, length) => withField(head, `transfer-encoding: chunked\r\ncontent-length: ${length}`),
  'chunks twice': (head) => withField(head, 'Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked'),
  'another coding': (head) => withField(head, 'Transfer-Encoding: gzip, chunked'),
  'chunks and identity': (head) => withField(head, 'Transfer-Encoding: chunked, identity'),
  'a hidden coding': (head) => withField(head, 'Transfer-Encoding: \x0bchunked'),
  'a list of lengths': (head, length) => withField(head, `Content-Length: ${length}, ${length}`),
  'a signed length': (head, length) => withField(head, `Content-Length: +${length}`),
  'a negative length': (head) => withField(head, 'Content-Length: -1'),
  'a hexadecimal length': (head) => withField(head, 'Content-Length: 0x10'),
  'no length': (head) => withField(head, 'Content-Length: '),
  'a length beyond numbers': (head) => withField(head, 'Content-Length: 9007199254740993'),
  'a blank before the colon': (head, length) => withField(head, `Content-Length : ${length}`),
  'a folded field': (head) => withField(head, 'x-a: b\r\n c: d'),
  'a bare line feed': (head) => withField(head, 'x-a: b\nx-c: d'),
  'an empty line of a line feed': (head) => head.replace(/\r\n$/, '\n'),
  'two line feeds for an empty line': (head) => head.replace(/\r\n$/, '\n\n'),
  'a bare carriage return': (head) => withField(head, 'x-a: b\rx-c: d'),
  'a NUL': (head) => withField(head, 'x-a: b\0c'),
  'no name': (head) => withField(head, ': b'),
  'no colon': (head) => withField(head, 'x-a'),
  'a name in letters of its own': (head) => withField(head, 'content-l\xebngth: 3'),
  'a line before the status': (head) => `\r\n${head}`,
  'another version': (head) => head.replace(/^HTTP\/1\.\d/, 'HTTP/2.0'),
  'an old version': (head) => head.replace(/^HTTP\/1\.\d/, 'HTTP/0.9'),
  'another protocol': (head) => head.replace(/^HTTP/, 'ICY'),
  'a short status': (head) => head.replace(/ \d\d\d/, ' 20'),
  'a long status': (head) => head.replace(/ (\d\d\d)/, ' $10'),
  'switching protocols': (head) => `HTTP/1.1 101 Switching\r\nupgrade: x\r\n\r\n${head}`,
  'informational without end': (head) => 'HTTP/1.1 103 Early Hints\r\n\r\n'.repeat(17) + head,
  'too many fields': (head) => withField(head, Array.from({ length: 257 }, (_, at) => `x-${at}: 1`).join('\r\n')),
  'a long field': (head) => withField(head, `x-long: ${'y'.repeat(17_000)}`),
};

/** What is wrong with chunks, by what stands in place of the last but one. */
const CHUNK_FLAWS: Readonly<Record<string, string>> = {
  'no size': '\r\nx\r\n',
  'a signed size': '+1\r\nx\r\n',
  'a size in another base': '0x1\r\nx\r\n',
  'a blank behind the size': '1 \r\nx\r\n',
  'a size without end': '0000000000001\r\nx\r\n',
  'a chunk that is longer': '1\r\nxy\r\n',
  'a chunk without its end': '1\r\nx1\r\n',
  'a size with a bare line feed': '1\nx\r\n',
  'a chunk with a bare line feed': '1\r\nx\n',
  'an extension without end': `1;${'e'.repeat(1_025)}\r\nx\r\n`,
  'an extension with a line feed': '1;a\nb\r\nx\r\n',
  'an extension with a carriage return': '1;a\rb\r\nx\r\n',
  'trailers that end with a line feed': '0\r\nx-t: 1\r\n\n\n',
  'trailers without end': `0\r\n${'x-t: 1\r\n'.repeat(257)}\r\n`,
  'a trailer that is none': '0\r\nx t: 1\r\n\r\n',
  'a long trailer': `0\r\nx-t: ${'y'.repeat(17_000)}\r\n\r\n`,
};

function withField(head: string, field: string): string {
  const unframed = head.replace(/\r\n(?:content-length|transfer-encoding):[^\r]*/gi, '');
  return unframed.replace(/\r\n\r\n$/, () => `\r\n${field}\r\n\r\n`);
}

/** An answer to a request with `method`, most of them good or flawed in one place, some with a second answer behind. */
export function madeAnswer(random: Random, method: string, mark = 'answer', poison = 'POISON'): MadeAnswer {
  const status = random.pick([200, 200, 200, 201, 204, 205, 304, 404, 429, 500]);
  const framing = random.pick<Framing>(['length', 'chunked', 'close']);
  const old = random.chance(0.15);
  const body = `${mark} ${random.pick(['', '\r\n\r\n', '0\r\n\r\n', 'HTTP/1.1 200 OK\r\n\r\n', '\xff'.repeat(300)])}`;
  const bodiless = method === 'HEAD' || status === 204 || status === 304;
  let head = `HTTP/1.${old ? 0 : 1} ${status}${random.pick(['', ' ', ' OK', ' \xe9t\xe9 long reason'])}\r\n`;
  head += fieldsOf(random);
  const close = random.chance(0.2);
  if (close) head += random.pick(['Connection: close\r\n', 'connection: TE, Close\r\n', 'CONNECTION:close \r\n']);
  if (old && random.chance(0.5)) head += 'Connection: keep-alive\r\n';
  if (framing === 'length')
    head += `${random.pick(['content-length', 'Content-Length'])}:${blank(random)}${body.length}\r\n`;
  if (framing === 'chunked') head += `Transfer-Encoding:${blank(random)}${random.pick(['chunked', 'Chunked'])}\r\n`;
  head += '\r\n';
  const kind = random.whole(0, 9);
  let flaw: string | undefined;
  if (kind < 3) {
    const names = Object.keys(HEAD_FLAWS);
    flaw = names[random.whole(0, names.length - 1)]!;
    head = HEAD_FLAWS[flaw]!(head, body.length);
  }
  for (let left = random.chance(0.2) ? random.whole(1, 3) : 0; left > 0 && flaw === undefined; left--) {
    head = random.pick(['HTTP/1.1 100 Continue\r\n\r\n', 'HTTP/1.1 103 Hints\r\nlink: </x>\r\n\r\n']) + head;
  }
  let sent = framing === 'chunked' ? '' : body;
  if (framing === 'chunked') {
    const broken = kind === 3 && !bodiless;
    const names = Object.keys(CHUNK_FLAWS);
    if (broken) flaw = names[random.whole(0, names.length - 1)]!;
    sent = chunked(body, random, broken ? CHUNK_FLAWS[flaw!]! : '');
  }
  const message = head + (bodiless ? '' : sent);
  const whole = Buffer.from(message, 'latin1');
  const cut = random.chance(0.15) ? random.whole(0, whole.length) : whole.length;
  const more = cut === whole.length && random.chance(0.3) && framing !== 'close';
  const behind = `HTTP/1.1 200 OK\r\ncontent-length: ${poison.length}\r\n\r\n${poison}`;
  const bytes = more ? Buffer.concat([whole, Buffer.from(behind)]) : whole.subarray(0, cut);
  return {
    bytes,
    flaw,
    check(told, closed) {
      if (framing !== 'close' || flaw !== undefined || bodiless)
        law(!told.body.includes(poison), 'bytes of another answer');
      if (flaw !== undefined) return law(told.outcome !== 'answer', `told as whole with ${flaw}`);
      law(told.outcome !== 'broken', 'a good answer is refused');
      if (cut < whole.length && framing !== 'close' && !bodiless)
        return law(told.outcome !== 'answer', 'half is told as whole');
      if (cut < whole.length) return;
      if (framing === 'close' && !bodiless && !closed) return law(told.outcome === 'waiting', 'an end out of nowhere');
      law(told.outcome === 'answer' && told.status === status, 'a whole answer is not told');
      law(told.body === (bodiless ? '' : body), 'another body than was sent');
      law(!(close && told.keeps), 'kept although it is closed');
      law(!(more && told.rest === 0), 'what stands behind is not seen');
    },
  };
}

function fieldsOf(random: Random): string {
  let fields = '';
  for (let left = random.whole(0, 6); left > 0; left--) {
    fields += random.pick([
      'x-request-id: req_1\r\n',
      'Content-Type: application/json\r\n',
      'x-empty:\r\n',
      'x-blank: \t \r\n',
      'x-content-length: 4\r\n',
      'content-length-x: 5\r\n',
      'set-cookie: a=b; transfer-encoding:chunked\r\n',
      'keep-alive: timeout=5, max=9\r\n',
      'x-latin: \xe9\r\n',
      `x-long: ${'z'.repeat(300)}\r\n`,
    ]);
  }
  return fields;
}

function blank(random: Random): string {
  return random.pick(['', ' ', '  ', '\t', ' \t ']);
}

function chunked(body: string, random: Random, flawed: string): string {
  let sent = '';
  for (let at = 0; at < body.length;) {
    const size = random.whole(1, Math.max(1, Math.min(body.length - at, random.pick([1, 7, 100, 400]))));
    const digits = size.toString(16);
    const written = random.pick([digits, digits.toUpperCase(), digits.padStart(4, '0')]);
    const extension = random.pick(['', '', '', ';a', '; a="b;c"', `;${'e'.repeat(1_024)}`]);
    sent += `${written}${extension}\r\n${body.slice(at, at + size)}\r\n`;
    at += size;
  }
  const last = random.pick(['0', '00', '0;x=y']);
  return `${sent}${flawed}${last}\r\n${random.pick(['', '', 'x-sum: 1\r\nContent-Length: 7\r\n'])}\r\n`;
}
