import type { ApiConfig, McpServerConfig } from '#/config/snapshot.ts';
import {
  McpServerFault,
  type InTurns,
  type ListedTool,
  type ToolAnswer,
  type ToolListing,
} from '#/ports/mcp-servers.ts';
import { UpstreamFault, type Incoming } from '#/ports/provider.ts';
import { locate, type WireDocument } from '#/wire/document/document.ts';
import { isObject, type JsonObject } from '#/wire/document/json.ts';
import { isLarge, PIECE } from '#/wire/document/large-text.ts';
import { AmbiguousJson, TooManyValues } from '#/wire/document/scan.ts';
import { finish } from '#/wire/document/steps.ts';
import { readLargeArguments, readLargeResult, readResult } from '#/wire/mcp/leaves.ts';
import { UnfitArgument, writeApiRequest, type ApiRequest } from '#/wire/openapi/write-request.ts';
import { writeApiResults, type ApiAnswer } from '#/wire/openapi/write-result.ts';
import type { Transport } from '../http/transport.ts';
import { Credential } from './credential.ts';
import type { ForUser } from './exchanges.ts';
import type { ResultPlace, ResultRoom } from './result-room.ts';
import { withoutSecret } from './without-secret.ts';

/** One call of an operation. */
export interface ApiAsk {
  readonly tool: string;
  /** JSON source of the arguments; undefined: the call has none. */
  readonly arguments: string | undefined;
  /** Works on large arguments and answers; absent: that is done at once. */
  readonly inTurns?: InTurns | undefined;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

const AT_ONCE: InTurns = async (steps) => finish(steps);

/** What rows and lists say in the place of a revision of the protocol. */
const SPOKEN = 'OpenAPI';
/** Bytes of an answer that is an error: some of it is passed on. */
const MOST_FAILURE = 64 * 1024;
/** A result takes so many times its bytes while it is made: as bytes, as text and as JSON. */
const ROOM_PER_BYTE = 4;

const NO_OPERATIONS: ApiConfig = { operations: new Map(), digest: '' };

/** One HTTP API as this process asks it: each operation is a tool, and each call one request. */
export class ApiPeer {
  readonly #server: McpServerConfig;
  readonly #api: ApiConfig;
  readonly #transport: Transport;
  readonly #credential: Credential;
  readonly #room: ResultRoom;
  readonly #origin: string;
  /** Of the base address, without a slash at its end. */
  readonly #base: string;
  readonly #agent: string;

  /** `client`: what the gateway calls itself. `user`: the user that the API is asked for. */
  constructor(server: McpServerConfig, transport: Transport, room: ResultRoom, client: JsonObject, user?: ForUser) {
    this.#server = server;
    this.#api = server.api ?? NO_OPERATIONS;
    this.#transport = transport;
    this.#credential = new Credential(server, transport, user);
    this.#room = room;
    const { origin, pathname } = new URL(server.url);
    this.#origin = origin;
    this.#base = pathname.replace(/\/$/, '');
    this.#agent = typeof client['name'] === 'string' ? client['name'] : 'gateway';
  }

  /**
   * Sends one request, once, and makes a result of its answer, whatever its status. Redirects are not followed. Rejects with
   * `UpstreamFault`, `McpServerFault` where the API refuses the credential, `McpTokenFault` or `NoRoomForResults`.
   */
  async call(ask: ApiAsk): Promise<ToolAnswer> {
    const request = await this.#request(ask);
    const place = this.#room.enter(this.#server.id);
    try {
      let secret: string | undefined;
      const incoming = await this.#credential.send(ask, (credential, until) => {
        ({ secret } = credential);
        return this.#send(request, credential.headers, until, ask.signal);
      });
      const { status } = incoming;
      if (status === 401 && this.#server.auth.type !== 'none') {
        incoming.close();
        throw new McpServerFault(status, 'the API refuses the credential');
      }
      const bytes = await this.#read(incoming, place);
      const contentType = incoming.header('content-type')?.slice(0, 256) ?? '';
      const retryAfter = incoming.header('retry-after');
      const answer = { status, contentType, bytes: withoutSecret(bytes, secret), retryAfter };
      const uri = `gatewarden:///api/${this.#server.name}/${ask.tool}`;
      const document = await this.#document(answer, uri, ask.inTurns ?? AT_ONCE);
      const release = (): void => place[Symbol.dispose]();
      return { kind: 'result', document, version: SPOKEN, status, [Symbol.dispose]: release };
    } catch (thrown) {
      place[Symbol.dispose]();
      throw thrown;
    }
  }

  /** The operations, without asking: they are in the resource. */
  list(): ToolListing {
    const tools = [...this.#api.operations].map(([name, { definition }]): ListedTool => {
      const { inputSchema } = definition;
      return {
        name,
        definition: definition as JsonObject,
        inputSchema: isObject(inputSchema) ? inputSchema : {},
        headers: [],
      };
    });
    const bytes = JSON.stringify(tools).length;
    return { tools, leftOut: 0, bytes, ttlMs: undefined, version: SPOKEN };
  }

  async #request({ tool, arguments: source, inTurns = AT_ONCE }: ApiAsk): Promise<ApiRequest> {
    const operation = this.#api.operations.get(tool);
    if (!operation) throw unsent('the API has no operation with this name');
    const text = source ?? '{}';
    try {
      const document = isLarge(text) ? await inTurns(readLargeArguments(text)) : read(text);
      return writeApiRequest(operation, document.body, document);
    } catch (thrown) {
      // The arguments were looked at before: a fault in them now is not the client's.
      if (thrown instanceof UnfitArgument || isUnreadable(thrown)) throw unsent(thrown.message);
      throw thrown;
    }
  }

  #send(
    { method, path, headers, body }: ApiRequest,
    credential: Readonly<Record<string, string>>,
    until: number,
    signal: AbortSignal,
  ): Promise<Incoming> {
    return this.#transport.send({
      method,
      origin: this.#origin,
      path: `${this.#base}${path}`,
      headers: {
        accept: 'application/json, */*;q=0.8',
        'accept-encoding': 'identity',
        'user-agent': this.#agent,
        ...headers,
        ...credential,
      },
      body,
      timeoutMs: Math.max(1, until - performance.now()),
      idle: false,
      signal,
    });
  }

  async #read(incoming: Incoming, place: ResultPlace): Promise<Buffer> {
    const encoding = incoming.header('content-encoding')?.toLowerCase() ?? 'identity';
    if (encoding !== 'identity') {
      incoming.close();
      throw new UpstreamFault('protocol', 'the API answered in an encoding that was not asked for');
    }
    const isGood = incoming.status >= 200 && incoming.status < 300;
    const most = isGood ? this.#server.maxResultBytes : Math.min(MOST_FAILURE, this.#server.maxResultBytes);
    const parts: Uint8Array[] = [];
    let size = 0;
    for await (const chunk of incoming.chunks()) {
      size += chunk.length;
      // Of an error, the beginning is enough.
      if (size > most && !isGood) break;
      if (size > most) throw tooLarge(most);
      place.add(chunk.length * ROOM_PER_BYTE);
      parts.push(chunk);
    }
    return Buffer.concat(parts);
  }

  /** The fullest of the results that can be inspected and is not too large; a large one in turns with other work. */
  async #document(answer: ApiAnswer, uri: string, inTurns: InTurns): Promise<WireDocument> {
    const most = this.#server.maxResultBytes;
    const steps = writeApiResults(answer, uri);
    const results = answer.bytes.length > PIECE ? await inTurns(steps) : finish(steps);
    for (const text of results) {
      if (Buffer.byteLength(text) > most) continue;
      try {
        return isLarge(text) ? await inTurns(readLargeResult(text)) : readResult(text);
      } catch (thrown) {
        if (!isUnreadable(thrown)) throw thrown;
      }
    }
    throw tooLarge(most);
  }
}

function read(text: string): WireDocument {
  return locate('mcp', text, JSON.parse(text) as JsonObject);
}

/** Whether a text has too many values, or is one that parsers disagree about. */
function isUnreadable(thrown: unknown): thrown is AmbiguousJson | TooManyValues {
  return thrown instanceof AmbiguousJson || thrown instanceof TooManyValues;
}

function unsent(message: string): McpServerFault {
  const fault = new McpServerFault(400, message);
  fault.sent = false;
  return fault;
}

function tooLarge(most: number): UpstreamFault {
  return new UpstreamFault('too_large', `the result is larger than ${most} bytes`);
}
