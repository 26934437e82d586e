import { randomBytes } from 'node:crypto';
import type { CallContext } from '#/call/call.ts';
import type { ClientSession } from '#/call/client-session.ts';
import { GatewayError } from '#/errors/gateway-error.ts';
import type { Neighbours } from '#/ports/neighbours.ts';
import type { ContentCipher } from '#/seal/content/content-cipher.ts';
import { readDocument, type WireDocument } from '#/wire/document/document.ts';

/** What a client answers to a server's question, and the request that it came with. */
export interface ClientReply {
  readonly context: Pick<CallContext, 'id' | 'startedAt'>;
  /** The whole message. */
  readonly document: WireDocument;
}

/** A question that waits for its answer in this process. */
interface Waiting {
  readonly session: string;
  readonly organization: string;
  /** Rejects with the client's error. */
  readonly take: (reply: ClientReply) => Promise<void>;
}

/** An answer on its way to the process where the question waits. */
interface Relayed {
  readonly id: string;
  readonly call: string;
  readonly at: number;
  /** Encrypted, in base64. */
  readonly body: string;
}

/** Longest answer that another process is sent. */
const MOST_RELAYED = 1024 * 1024;
const ID = /^([0-9a-f-]{36})\.[\w-]{16}$/;

/** Questions of servers that wait for the answers of their clients, each in the process that its server asked. */
export class OpenAsks {
  readonly #waiting = new Map<string, Waiting>();
  readonly #neighbours: Pick<Neighbours, 'name' | 'send'>;
  readonly #cipher: ContentCipher;

  constructor(neighbours: Pick<Neighbours, 'name' | 'send'>, cipher: ContentCipher) {
    this.#neighbours = neighbours;
    this.#cipher = cipher;
  }

  get size(): number {
    return this.#waiting.size;
  }

  /** Registers a question until it is answered or disposed of. The id is what its client answers by. */
  open(waiting: Waiting): Disposable & { readonly id: string } {
    const id = `${this.#neighbours.name}.${randomBytes(12).toString('base64url')}`;
    this.#waiting.set(id, waiting);
    return { id, [Symbol.dispose]: () => void this.#waiting.delete(id) };
  }

  /** Hands an answer to its question, wherever that waits. Throws the client's error. */
  async answer(id: unknown, session: ClientSession, organization: string, reply: ClientReply): Promise<void> {
    const process = typeof id === 'string' ? ID.exec(id)?.[1] : undefined;
    if (typeof id !== 'string' || process === undefined) throw unknownQuestion();
    if (process !== this.#neighbours.name) return this.#relay(id, process, session, organization, reply);
    const waiting = this.#waiting.get(id);
    if (waiting?.session !== session.name) throw unknownQuestion();
    this.#waiting.delete(id);
    await waiting.take(reply);
  }

  async #relay(
    id: string,
    process: string,
    session: ClientSession,
    organization: string,
    { context, document }: ClientReply,
  ): Promise<void> {
    if (document.text.length > MOST_RELAYED)
      throw new GatewayError('request_too_large', `An answer may have at most ${MOST_RELAYED / 1024} KiB.`);
    const place = placeOf(id, session.name, organization);
    const body = this.#cipher.encrypt(place, Buffer.from(document.text)).toString('base64');
    const relayed: Relayed = { id, call: context.id, at: context.startedAt, body };
    try {
      await this.#neighbours.send(JSON.stringify(relayed), process);
    } catch (cause) {
      const message = 'The answer cannot be handed to the gateway process that waits for it. Try again.';
      throw new GatewayError('upstream_overloaded', message, { retryAfterMs: 1000 }, { cause });
    }
  }

  /** Takes an answer that another process received. One that was not sealed for its question is dropped. */
  async hear({ id, call, at, body }: Relayed): Promise<void> {
    const waiting = this.#waiting.get(id);
    if (!waiting) return;
    const place = placeOf(id, waiting.session, waiting.organization);
    const text = this.#cipher.decrypt(place, Buffer.from(body, 'base64'))?.toString();
    if (text === undefined) return;
    this.#waiting.delete(id);
    await waiting.take({ context: { id: call, startedAt: at }, document: readDocument('mcp', text) });
  }
}

function placeOf(id: string, session: string, organization: string) {
  return { organization, purpose: 'session' as const, name: JSON.stringify(['answer', id, session]) };
}

export function unknownQuestion(): GatewayError {
  return new GatewayError('invalid_request', 'No question with this id waits for an answer.', { param: 'id' });
}
