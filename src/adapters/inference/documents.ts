import { randomBytes } from 'node:crypto';
import {
  DocumentFault,
  type DocumentEngine,
  type DocumentFaultKind,
  type DocumentFile,
  type OnPages,
  type PageImage,
  type ReadDocument,
  type RecognizedPage,
  type RedactedDocument,
} from '#/ports/documents.ts';
import type { Lookup } from './addresses.ts';
import { Exchange, faultIn, NoExchange, type Exchanged, type Sent } from './exchange.ts';

export interface DocumentEngineOptions {
  /** Where the engine is now; undefined while it is not there. Asked for each request: a child has a new one when it was restarted. */
  readonly url: () => string | undefined;
  /** Milliseconds to the whole answer, waiting in the engine's queue included. */
  readonly timeoutMs?: number;
  /** Where names lead; the system's resolver unless given. */
  readonly lookup?: Lookup;
}

const TIMEOUT_MS = 1_860_000;
const PING_TIMEOUT_MS = 5000;
const CONNECT_TIMEOUT_MS = 5000;
const RETRY_AFTER_MS = 2000;
/** Of an answer: more than any document's pages have within the engine's own bounds. */
const MAX_ANSWER_BYTES = 1024 * 1024 * 1024;

const KINDS: ReadonlySet<DocumentFaultKind> = new Set<DocumentFaultKind>([
  'unsupported',
  'unreadable',
  'encrypted',
  'too_large',
  'too_slow',
  'too_many_pages',
  'active_content',
  'redaction_failed',
  'busy',
  'unavailable',
  'no_renderer',
]);

/**
 * The document engine over HTTP (inference/README.md). Verbs reject with `DocumentFault`, which is `unavailable` when the
 * engine cannot be reached or ends within a job, or with the signal's reason.
 */
export function openDocumentEngine(options: DocumentEngineOptions): DocumentEngine & { close(): Promise<void> } {
  const { lookup } = options;
  const bounds = { connectTimeoutMs: CONNECT_TIMEOUT_MS, maxAnswerBytes: MAX_ANSWER_BYTES };
  const exchange = new Exchange({ ...bounds, ...(lookup && { lookup }) });
  const timeoutMs = options.timeoutMs ?? TIMEOUT_MS;
  const ask = async <T>(
    verb: string,
    file: DocumentFile,
    told: object,
    signal: AbortSignal,
    onPages?: OnPages,
  ): Promise<T> => {
    const { body, contentType } = formOf(told, file);
    const headers = { 'content-type': contentType, ...(onPages && { 'x-gw-pages': 'tell' }) };
    const sent: Sent = { method: 'POST', headers, body, ...(onPages && { onInfo: pagesTo(onPages) }) };
    const answer = await asked(exchange, { url: options.url(), path: `/v1/${verb}` }, sent, signal, timeoutMs);
    if (answer.status !== 200) throw faultOf(answer);
    return parseResult(answer.text) as T;
  };
  return {
    read: (file, told, signal, onPages) => ask<ReadDocument>('read', file, told, signal, onPages),
    render: (file, told, signal) => ask<readonly PageImage[]>('render', file, told, signal),
    recognize: (file, told, signal) => ask<readonly RecognizedPage[]>('recognize', file, told, signal),
    async redact(file, told, signal, onPages) {
      type OnTheWire = Omit<RedactedDocument, 'bytes'> & { readonly bytes: string };
      const { bytes, ...redacted } = await ask<OnTheWire>('redact', file, told, signal, onPages);
      return { ...redacted, bytes: Buffer.from(bytes, 'base64') };
    },
    async ping() {
      const never = new AbortController().signal;
      const address = { url: options.url(), path: '/readyz' };
      const { status, text } = await asked(exchange, address, { method: 'GET' }, never, PING_TIMEOUT_MS);
      if (status !== 200) throw unavailable(`the document engine is not ready: ${text.slice(0, 200).trim()}`);
    },
    close: () => exchange.close(),
  };
}

/** Reads page counts from informational answers and ignores the rest. */
function pagesTo(onPages: OnPages): NonNullable<Sent['onInfo']> {
  return ({ headers }) => {
    const [, done, of] = /^(\d{1,6})\/(\d{1,6})$/.exec(String(headers['x-gw-pages'])) ?? [];
    if (done !== undefined && Number(done) <= Number(of)) onPages(Number(done), Number(of));
  };
}

function parseResult(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw unavailable('the document engine returned no result', cause);
  }
}

/** As `Exchange.ask`, and what did not come about as a fault. */
async function asked(
  exchange: Exchange,
  address: Parameters<Exchange['ask']>[0],
  sent: Sent,
  signal: AbortSignal,
  timeoutMs: number,
): Promise<Exchanged> {
  try {
    return await exchange.ask(address, sent, signal, timeoutMs);
  } catch (thrown) {
    if (!(thrown instanceof NoExchange)) throw thrown;
    throw unavailable(`the document engine ${NO_ANSWER[thrown.why]}`, thrown.cause);
  }
}

const NO_ANSWER: Readonly<Record<NoExchange['why'], string>> = {
  absent: 'is not running',
  unreachable: 'cannot be reached',
  late: 'did not answer in time',
};

function unavailable(message: string, cause?: unknown): DocumentFault {
  return new DocumentFault('unavailable', message, {
    retryAfterMs: RETRY_AFTER_MS,
    ...(cause !== undefined && { cause }),
  });
}

/** The engine's fault of a document; an answer that the engine did not write counts as unavailable. */
function faultOf({ status, text, retryAfter }: Exchanged): DocumentFault {
  const fault = faultIn(text, KINDS);
  if (!fault || (status !== 422 && status !== 503))
    return unavailable(`the document engine answered with status ${status}`);
  const seconds = Number(retryAfter);
  const waits = status === 503 ? { retryAfterMs: seconds > 0 ? seconds * 1000 : RETRY_AFTER_MS } : {};
  return new DocumentFault(fault.kind, fault.message, waits);
}

/** The two parts of a request. A name may say anything: what would end its header is left out. */
function formOf(options: object, { name, mediaType, bytes }: DocumentFile): { body: Uint8Array; contentType: string } {
  const boundary = `gatewarden-${randomBytes(16).toString('hex')}`;
  const filename = name.replace(/[\p{Cc}"\\]/gu, '_');
  const type = /^[\w.+-]+\/[\w.+-]+$/.test(mediaType) ? mediaType : 'application/octet-stream';
  const body = Buffer.concat([
    Buffer.from(`--${boundary}\r\ncontent-disposition: form-data; name="options"\r\n\r\n${JSON.stringify(options)}`),
    Buffer.from(`\r\n--${boundary}\r\ncontent-disposition: form-data; name="document"; filename="${filename}"\r\n`),
    Buffer.from(`content-type: ${type}\r\n\r\n`),
    bytes,
    Buffer.from(`\r\n--${boundary}--\r\n`),
  ]);
  return { body, contentType: `multipart/form-data; boundary=${boundary}` };
}
