import type { CallContext } from '#/call/call.ts';
import type { ClientAsk, ClientSession } from '#/call/client-session.ts';
import { serverIdentity } from '#/config/server-identity.ts';
import type { McpServerConfig } from '#/config/snapshot.ts';
import { asGatewayError } from '#/errors/gateway-error.ts';
import type { Inspection } from '#/inspect/inspect.ts';
import type { ServerAsk } from '#/ports/mcp-servers.ts';
import { isObject, type Json, type JsonObject } from '#/wire/document/json.ts';
import { locate, render } from '#/wire/document/document.ts';
import type { ClientEra } from '#/wire/mcp/eras.ts';
import { capabilitiesFor, whyNotAsked } from '#/wire/mcp/input.ts';
import { RPC } from '#/wire/mcp/message.ts';
import { lookAt, restoredNotice } from '../results.ts';
import type { AskParts } from '../tool-parts.ts';
import type { SaidSoFar } from './answer.ts';
import { keyFor } from '../protected-key.ts';
import { unknownQuestion, type ClientReply } from './open-asks.ts';

/** Whom a server may ask, and what it knows. */
export interface Asker {
  readonly request: CallContext & {
    readonly era: ClientEra;
    readonly session?: ClientSession | undefined;
    readonly onAsk?: ((ask: ClientAsk) => void) | undefined;
    /** Outside of calls: the caller as it is configured now; undefined: it is no longer good. */
    readonly current?: (() => Pick<CallContext, 'key' | 'snapshot'> | undefined) | undefined;
  };
  readonly server: McpServerConfig;
  /** The tool that is called; undefined: the server asks by itself. */
  readonly tool: string | undefined;
  readonly said: SaidSoFar;
  readonly inspection: Inspection | undefined;
}

/** Questions of one call, or that wait at once outside of calls. */
const MOST_ASKS = 32;
/** All questions together that wait outside of calls, in UTF-16 code units. */
const MOST_WAITING = 256 * 1024;
/** Longest question, in UTF-16 code units. */
const MOST_LENGTH = 1024 * 1024;

/**
 * What a legacy server asks its client, on its way there and back: questions are inspected like results, answers like
 * arguments, each with a row of its own.
 */
export class ClientAsks implements Disposable {
  /** Of all that was said to the server so far. */
  inspection: Inspection | undefined;
  readonly #asker: Asker;
  readonly #parts: AskParts;
  readonly #can: JsonObject;
  readonly #open = new Set<Disposable>();
  /** From when they come until they are answered or refused. */
  readonly #waiting = new Set<ServerAsk>();
  readonly #methods = new Set<string>();
  #said: SaidSoFar;
  #count = 0;
  /** One after the other, so that tags are numbered in one order. */
  #last: Promise<unknown> = Promise.resolve();

  constructor(asker: Asker, parts: AskParts) {
    this.#asker = asker;
    this.#parts = parts;
    this.#said = asker.said;
    this.inspection = asker.inspection;
    const { request, server } = asker;
    this.#can = capabilitiesFor(request.session?.capabilities, server.clientCapabilities);
  }

  /** Methods by which the client was asked, in alphabetical order. */
  get methods(): readonly string[] {
    return [...this.#methods].toSorted();
  }

  /** Answers to the server as the client wrote them, and as they were sent. */
  get written(): readonly string[] {
    return this.#said.answers;
  }

  get sent(): readonly string[] {
    return this.#said.sent.answers;
  }

  /** Takes a question of the server, which gets an answer in any case but that of a client that is silent. */
  take(ask: ServerAsk): void {
    const { body } = ask.document;
    const refusal = whyNotAsked(ask.method, body['params'], this.#can);
    if (refusal !== undefined) return refuse(ask, RPC.methodNotFound, refusal);
    if (!this.#hasRoom(ask)) return refuse(ask, RPC.internal, `A client is asked ${MOST_ASKS} times at most.`);
    this.#count += 1;
    this.#waiting.add(ask);
    this.#last = this.#last
      .then(() => this.#pass(ask, body['params']))
      .catch(() => this.#refuse(ask, RPC.internal, 'The client cannot be asked.'));
  }

  /** Resolves when no question and no answer is still on its way. */
  async done(): Promise<void> {
    await this.#last;
  }

  [Symbol.dispose](): void {
    for (const one of this.#open) one[Symbol.dispose]();
    this.#open.clear();
    this.#waiting.clear();
  }

  #hasRoom({ document: { text } }: ServerAsk): boolean {
    if (this.#asker.tool !== undefined) return this.#count < MOST_ASKS;
    let { length } = text;
    for (const { document } of this.#waiting) length += document.text.length;
    return this.#waiting.size < MOST_ASKS && length <= MOST_WAITING;
  }

  #refuse(ask: ServerAsk, code: number, message: string): void {
    this.#waiting.delete(ask);
    refuse(ask, code, message);
  }

  async #pass(ask: ServerAsk, params: Json | undefined): Promise<void> {
    const { request } = this.#asker;
    const { session, onAsk } = request;
    if (!session || !onAsk) return this.#refuse(ask, RPC.methodNotFound, 'This client cannot be asked.');
    const text = isObject(params) ? await this.#looked(params) : undefined;
    if (text === 'refused')
      return this.#refuse(ask, RPC.internal, 'Refused by data protection: the client is not asked.');
    if (request.signal.aborted) return;
    const opened: Disposable & { readonly id: string } = this.#parts.tools.clients.asks.open({
      session: session.name,
      organization: request.key.workload.organization.id,
      take: (reply) => {
        this.#open.delete(opened);
        return this.#answer(ask, params, reply);
      },
    });
    this.#open.add(opened);
    this.#methods.add(ask.method);
    onAsk({ id: opened.id, method: ask.method, params: text });
  }

  /** The question as policy for results has it, with what its tags stand for. */
  async #looked(params: JsonObject): Promise<string> {
    const { _meta, ...rest } = params;
    const source = JSON.stringify(rest);
    if (source.length > MOST_LENGTH) return 'refused';
    const { request } = this.#asker;
    const { edits, refusal } = await lookAt(locate('mcp', source, rest, { lenient: true }), request, this.#parts);
    if (refusal) return 'refused';
    const { inspection, written } = this;
    const said = { arguments: this.#said.arguments, answers: written };
    return restoredNotice(render(source, edits), { request, inspection, said }) ?? 'refused';
  }

  /** Sends an answer of the client on, after those before it. Rejects with the client's error. */
  #answer(ask: ServerAsk, params: Json | undefined, reply: ClientReply): Promise<void> {
    const answering = this.#last.then(() => this.#send(ask, params, reply)).finally(() => this.#waiting.delete(ask));
    this.#last = answering.catch(() => undefined);
    return answering;
  }

  async #send(ask: ServerAsk, params: Json | undefined, { context, document }: ClientReply): Promise<void> {
    const { request, tool } = this.#asker;
    const { surface, signal, person, session, era } = request;
    let isSent = false;
    try {
      const { key, snapshot, server } = configuredNow(this.#asker);
      const work = await this.#parts.tools.answerServer({
        request: { ...context, key, snapshot, surface, signal, person, parent: request.id, headers: {} },
        server,
        tool,
        method: ask.method,
        form: isObject(params) ? params['requestedSchema'] : undefined,
        said: this.#said,
        eras: [era.version, session?.servers.get(server.name)?.version ?? ''],
        document,
        send: (member) => {
          isSent = true;
          return ask.answer(member);
        },
      });
      const { inspection, written, sent } = work;
      // Texts of one call belong together; those outside of calls do not.
      if (tool === undefined) return;
      this.inspection = inspection;
      this.#said = { ...this.#said, answers: [...this.#said.answers, written], sent };
    } catch (thrown) {
      if (!isSent) refuse(ask, RPC.internal, 'The answer of the client was refused.');
      throw asGatewayError(thrown);
    }
  }
}

/** With what an answer is sent: a call keeps what it began with, an answer outside of calls has the configuration of now. */
function configuredNow({ request, server }: Asker): Pick<CallContext, 'key' | 'snapshot'> & Pick<Asker, 'server'> {
  if (!request.current) return { key: request.key, snapshot: request.snapshot, server };
  const current = request.current();
  const known = current?.key.workload.mcpServers.get(server.name);
  if (!current || !known || serverIdentity(known) !== serverIdentity(server)) throw unknownQuestion();
  return { key: keyFor(current.key, known.trust), snapshot: current.snapshot, server: known };
}

/** Answers a server that is not to wait. Whether it hears that is its own affair. */
function refuse(ask: ServerAsk, code: number, message: string): void {
  ask.answer(`"error":${JSON.stringify({ code, message })}`).catch(() => undefined);
}
