/** A request that would not arrive as it is meant: a line end in a value, a field that is the connection's own. */
export class BadRequest extends Error {
  override readonly name = 'BadRequest';
  readonly code = 'ERR_BAD_REQUEST';
}

const NAME = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
const PLAIN_VALUE = /^[\t\x20-\x7e]*$/;
const VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;
const PLAIN_PATH = /^\/[\x21-\x7e]*$/;
const PATH = /^\/[\x21-\x7e\x80-\xff]*$/;
const METHOD = /^[A-Z]{1,16}$/;

/** Fields about the framing of a request and about its connection: only the gateway sets them. */
const OURS: ReadonlySet<string> = new Set([
  'connection',
  'content-length',
  'expect',
  'keep-alive',
  'transfer-encoding',
  'upgrade',
]);

/** The head of a request up to its framing and its empty line, a character a byte. */
export interface RequestHead {
  readonly text: string;
  /** Nothing in it takes more than a byte in UTF-8. */
  readonly ascii: boolean;
}

/** What a request's head is made of. */
export interface RequestLine {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** Writes a head. Throws `BadRequest` for what could be read as more than the request it is. // RFC 9112 3, RFC 9110 5.5 */
export function requestHead({ method, path, headers }: RequestLine, authority: string): RequestHead {
  let ascii = PLAIN_PATH.test(path);
  if (!METHOD.test(method) || (!ascii && !PATH.test(path)))
    throw new BadRequest('a method or path that cannot be sent');
  let text = `${method} ${path} HTTP/1.1\r\nhost: ${authority}\r\nconnection: keep-alive\r\n`;
  for (const name of Object.keys(headers)) {
    const value = headers[name];
    if (value === undefined) continue;
    const plain = PLAIN_VALUE.test(value);
    if (!NAME.test(name) || (!plain && !VALUE.test(value)))
      throw new BadRequest('a field with characters that cannot be sent');
    ascii &&= plain;
    const lower = name.toLowerCase();
    if (lower === 'host') {
      if (value !== authority) throw new BadRequest('a field host that is not the host asked');
      continue;
    }
    if (OURS.has(lower)) throw new BadRequest(`the field ${lower} is the connection's own`);
    text += `${name}: ${value}\r\n`;
  }
  return { text, ascii };
}

/** The last lines of a head for a body of so many bytes. // RFC 9110 8.6 */
export function framedBy(method: string, bytes: number): string {
  const expected = method === 'POST' || method === 'PUT' || method === 'PATCH';
  if (bytes === 0) return expected ? 'content-length: 0\r\n\r\n' : '\r\n';
  return `content-length: ${bytes}\r\n\r\n`;
}
