/** What was read of an answer: the whole of it, or as far as it went. */
export interface Told {
  /** `answer`: complete; `waiting`: more must come; `broken` and `cut`: refused. */
  readonly outcome: 'answer' | 'waiting' | 'broken' | 'cut';
  readonly status: number;
  /** A character a byte. */
  readonly body: string;
  /** The connection may be used again, as far as the answer itself says. */
  readonly keeps: boolean;
  /** Bytes behind the answer. */
  readonly rest: number;
}

const MAX_HEAD = 16 * 1024;
const MAX_FIELDS = 256;
const MAX_INFORMATIONAL = 16;
const MAX_EXTENSION = 1024;

const STATUS_LINE = /^HTTP\/1\.[01] [1-9]\d\d(?: [\t\x20-\x7e\x80-\xff]*)?$/;
const FIELD = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+:[\t\x20-\x7e\x80-\xff]*$/;
const FIELD_BEGUN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+(?::[\t\x20-\x7e\x80-\xff]*)?$/;

type Block = { readonly lines: readonly string[]; readonly end: number } | 'waiting' | 'broken' | 'cut';

/**
 * Reads an answer the slow way: all of its bytes at once, line by line, with patterns. `closed`: the server has closed its
 * side behind them. What the gateway's reader says, wherever the same bytes are cut, must be the same.
 */
export function readSlowly(method: string, bytes: Buffer, closed: boolean): Told {
  const text = bytes.toString('latin1');
  const waiting = closed ? 'cut' : 'waiting';
  const none = (outcome: Told['outcome']): Told => ({ outcome, status: 0, body: '', keeps: false, rest: 0 });
  let at = 0;
  for (let informational = 0; ;) {
    const block = linesFrom(text, at, true);
    if (typeof block === 'string') return none(block === 'waiting' ? waiting : block);
    at = block.end;
    const [first = '', ...fields] = block.lines;
    const status = Number(first.slice(9, 12));
    if (status === 101) return none('broken');
    if (status >= 200) return bodyOf(method, status, first, fields, text, at, closed);
    if (++informational > MAX_INFORMATIONAL) return none('broken');
  }
}

function bodyOf(
  method: string,
  status: number,
  first: string,
  fields: readonly string[],
  text: string,
  at: number,
  closed: boolean,
): Told {
  const pairs = fields.map((field) => /^([^:]*):[\t ]*(.*?)[\t ]*$/s.exec(field)!);
  const valuesOf = (name: string): string[] =>
    pairs.filter(([, key]) => key!.toLowerCase() === name).map(([, , value]) => value!);
  const lengths = valuesOf('content-length');
  const codings = valuesOf('transfer-encoding').map((coding) => coding.toLowerCase());
  const broken: Told = { outcome: 'broken', status: 0, body: '', keeps: false, rest: 0 };
  if (lengths.length + codings.length > 1) return broken;
  if (codings.length === 1 && codings[0] !== 'chunked') return broken;
  const [length] = lengths;
  if (length !== undefined && !(/^\d{1,16}$/.test(length) && BigInt(length) <= 2n ** 53n - 1n)) return broken;
  const bodiless = method === 'HEAD' || status === 204 || status === 304;
  const options = valuesOf('connection').flatMap((value) => value.split(',').map((one) => one.trim().toLowerCase()));
  const old = first.startsWith('HTTP/1.0');
  const delimited = bodiless || length !== undefined || codings.length === 1;
  const keeps =
    delimited &&
    !options.includes('close') &&
    (!old || options.includes('keep-alive')) &&
    !(old && codings.length > 0) &&
    !((status === 204 || status === 304) && (codings.length > 0 || (method !== 'HEAD' && Number(length ?? 0) > 0)));
  const told = (outcome: Told['outcome'], body: string, end: number): Told => ({
    outcome: outcome === 'waiting' && closed ? 'cut' : outcome,
    status,
    body,
    keeps: keeps && outcome === 'answer',
    rest: outcome === 'answer' ? text.length - end : 0,
  });
  if (bodiless) return told('answer', '', at);
  if (codings.length === 1) return chunksFrom(text, at, told);
  if (length === undefined) return told(closed ? 'answer' : 'waiting', text.slice(at), text.length);
  const end = at + Number(length);
  return end <= text.length ? told('answer', text.slice(at, end), end) : told('waiting', text.slice(at), text.length);
}

function chunksFrom(
  text: string,
  from: number,
  told: (outcome: Told['outcome'], body: string, end: number) => Told,
): Told {
  let body = '';
  for (let at = from; ;) {
    const line = /^[0-9a-f]{0,12}/i.exec(text.slice(at, at + 12))![0];
    let end = at + line.length;
    if (end === text.length) return told('waiting', body, end);
    if (line === '' || !/[\r;]/.test(text[end]!)) return told('broken', body, end);
    if (text[end] === ';') {
      const extension = /^[\t\x20-\x7e\x80-\xff]*/.exec(text.slice(end + 1, end + 2 + MAX_EXTENSION))![0];
      if (extension.length > MAX_EXTENSION) return told('broken', body, end);
      end += 1 + extension.length;
      if (end === text.length) return told('waiting', body, end);
      if (text[end] !== '\r') return told('broken', body, end);
    }
    if (end + 1 === text.length) return told('waiting', body, end);
    if (text[end + 1] !== '\n') return told('broken', body, end);
    at = end + 2;
    const size = Number.parseInt(line, 16);
    if (size === 0) {
      const block = linesFrom(text, at, false);
      return typeof block === 'string' ? told(block, body, at) : told('answer', body, block.end);
    }
    body += text.slice(at, at + size);
    at += size;
    for (const wanted of '\r\n') {
      if (at >= text.length) return told('waiting', body, at);
      if (text[at] !== wanted) return told('broken', body, at);
      at++;
    }
  }
}

/** Lines up to an empty one, of which the first may have to be a status line. */
function linesFrom(text: string, from: number, head: boolean): Block {
  const window = text.slice(from, from + MAX_HEAD);
  const lines: string[] = [];
  let at = 0;
  for (;;) {
    const end = window.indexOf('\n', at);
    const line = end < 0 ? window.slice(at) : window.slice(at, end);
    const first = head && lines.length === 0;
    const fields = lines.length - Number(head) + 1;
    const field = !first && line !== '' && line !== '\r';
    if (field && fields > MAX_FIELDS) return FIELD_BEGUN.test(line[0]!) ? 'cut' : 'broken';
    if (end < 0) {
      if (!(first ? isStatusBegun(line) : isFieldBegun(line))) return 'broken';
      return window.length === MAX_HEAD ? 'cut' : 'waiting';
    }
    if (!line.endsWith('\r')) return 'broken';
    const said = line.slice(0, -1);
    if (!first && said === '') return { lines, end: from + end + 1 };
    if (!(first ? STATUS_LINE : FIELD).test(said)) return 'broken';
    lines.push(said);
    at = end + 1;
  }
}

function isStatusBegun(line: string): boolean {
  const whole = line.endsWith('\r') ? line.slice(0, -1) : line + 'HTTP/1.1 200'.slice(line.length);
  return STATUS_LINE.test(whole);
}

function isFieldBegun(line: string): boolean {
  if (line === '' || line === '\r') return true;
  return line.endsWith('\r') ? FIELD.test(line.slice(0, -1)) : FIELD_BEGUN.test(line);
}
