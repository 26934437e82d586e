import { UpstreamFault, type Incoming } from '#/ports/provider.ts';
import { McpServerFault, type InTurns } from '#/ports/mcp-servers.ts';
import { SseDecoder, SseEventTooLarge } from '#/wire/answer/sse.ts';
import { NotAJsonObject, type WireDocument } from '#/wire/document/document.ts';
import { AmbiguousJson, TooManyValues } from '#/wire/document/scan.ts';
import { isLarge } from '#/wire/document/large-text.ts';
import { isObject, type JsonObject } from '#/wire/document/json.ts';
import { readLargeResult, readResult } from '#/wire/mcp/leaves.ts';
import { RPC } from '#/wire/mcp/message.ts';
import { readFailure } from '../http/failure.ts';
import type { ResultPlace } from './result-room.ts';

/** A message of a server that is no response. */
export interface ServerMessage {
  readonly document: WireDocument;
  readonly method: string;
  /** Of a request that the server makes; undefined: a notice. */
  readonly id: string | number | undefined;
}

export interface AnswerOptions {
  /** The id of the request. */
  readonly id: string;
  /** Most bytes that are read. */
  readonly limit: number;
  readonly place: ResultPlace;
  readonly onMessage: (message: ServerMessage) => void;
  readonly inTurns?: InTurns | undefined;
}

/** Notices of one answer beyond which it is no honest one. */
const MOST_NOTICES = 10_000;
/** Most of an answer that only explains a status. */
export const MOST_EXPLAINED = 64 * 1024;

/**
 * The response to a request, which comes as JSON or in a stream of events with other messages before it. Rejects with
 * `UpstreamFault` (`too_large` and `protocol` among them), `McpServerFault` or `NoRoomForResults`.
 */
export async function readAnswer(incoming: Incoming, options: AnswerOptions): Promise<WireDocument> {
  const type = incoming.header('content-type') ?? '';
  const isGood = incoming.status >= 200 && incoming.status < 300;
  if (isGood && /^text\/event-stream(?=[\t ;]|$)/i.test(type)) return readStream(incoming, options);
  const limit = isGood ? options.limit : Math.min(options.limit, MOST_EXPLAINED);
  const text = await readText(incoming, limit, options.place);
  if (!isGood) return explained(incoming, text, options.id);
  const document = await read(text, options);
  if (!answers(document.body, options.id)) throw protocol('the server answered with no response to the request');
  return document;
}

/** A refusal that the protocol knows is an answer; any other status is a fault of the server, or of our credentials. */
function explained(incoming: Incoming, text: string, id: string): WireDocument {
  const { status } = incoming;
  const own: ReadonlySet<unknown> = new Set([RPC.headerMismatch, RPC.unsupportedVersion]);
  if (status >= 400 && status < 500 && ![401, 403, 407, 408, 429].includes(status)) {
    const document = tryParse(text);
    const error = document?.body['error'];
    const isOurs = document?.body['id'] === undefined || document.body['id'] === null || document.body['id'] === id;
    if (document && isOurs && isObject(error) && !own.has(error['code'])) return document;
    if (isObject(error) && own.has(error['code'])) throw new McpServerFault(status, 'the server refused our revision');
  }
  throw new McpServerFault(status, `the server answered with status ${status}`, readFailure(incoming, '').retryAfterMs);
}

/** A whole body, as far as there is room for it. Rejects as `readAnswer` does. */
export async function readText(incoming: Incoming, limit: number, place: ResultPlace): Promise<string> {
  const parts: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of incoming.chunks()) {
    size += chunk.length;
    if (size > limit) throw new UpstreamFault('too_large', `the answer is larger than ${limit} bytes`);
    place.add(chunk.length);
    parts.push(chunk);
  }
  return Buffer.concat(parts).toString('utf8');
}

async function readStream(incoming: Incoming, options: AnswerOptions): Promise<WireDocument> {
  const decoder = new SseDecoder(options.limit);
  let size = 0;
  let notices = 0;
  try {
    for await (const chunk of incoming.chunks()) {
      size += chunk.length;
      if (size > options.limit)
        throw new UpstreamFault('too_large', `the answer is larger than ${options.limit} bytes`);
      options.place.add(chunk.length);
      for (const { data } of decoder.push(chunk)) {
        if (data === undefined || data === '') continue;
        const document = await read(data, options);
        if (answers(document.body, options.id)) return document;
        if (++notices > MOST_NOTICES) throw protocol('the server sends no response, only messages');
        tell(document, options);
      }
    }
    for (const { data } of decoder.end()) {
      const document = data === undefined || data === '' ? undefined : await read(data, options);
      if (document && answers(document.body, options.id)) return document;
    }
  } catch (thrown) {
    if (!(thrown instanceof SseEventTooLarge)) throw thrown;
    throw new UpstreamFault('too_large', `an event is larger than ${options.limit} characters`);
  }
  throw new UpstreamFault('reset', 'the stream of the server ended without a response');
}

function tell(document: WireDocument, { onMessage }: AnswerOptions): void {
  const message = asMessage(document);
  if (message) onMessage(message);
}

/** What an event says outside of an answer; undefined: it is a response. Throws as `readAnswer` rejects. */
export function messageIn(data: string): ServerMessage | undefined {
  return asMessage(parsed(data));
}

function asMessage(document: WireDocument): ServerMessage | undefined {
  const { method, id } = document.body;
  if (typeof method !== 'string') return undefined;
  return { document, method, id: typeof id === 'string' || typeof id === 'number' ? id : undefined };
}

function answers(body: JsonObject, id: string): boolean {
  return body['method'] === undefined && body['id'] === id && (isObject(body['result']) || isObject(body['error']));
}

/** A message, a large one in turns. Rejects as `readAnswer` does. */
async function read(text: string, { inTurns }: Pick<AnswerOptions, 'inTurns'>): Promise<WireDocument> {
  if (!inTurns || !isLarge(text)) return parsed(text);
  try {
    return await inTurns(readLargeResult(text));
  } catch (cause) {
    throw faultOf(cause);
  }
}

function parsed(text: string): WireDocument {
  try {
    return readResult(text);
  } catch (cause) {
    throw faultOf(cause);
  }
}

function faultOf(cause: unknown): unknown {
  if (cause instanceof TooManyValues) return new UpstreamFault('too_large', 'the answer has too many values');
  if (cause instanceof NotAJsonObject || cause instanceof AmbiguousJson)
    return protocol('the server did not answer in JSON');
  return cause;
}

function tryParse(text: string): WireDocument | undefined {
  try {
    return readResult(text);
  } catch {
    return undefined;
  }
}

export function protocol(message: string): UpstreamFault {
  return new UpstreamFault('protocol', message);
}
