import type { Emit, CallRequest, CallContext } from '#/call/call.ts';
import type { PassthroughCall } from '#/call/passthrough-call.ts';
import type { ReadMethod, ServerReadRequest } from '#/call/server-read.ts';
import type { ClientSession } from '#/call/client-session.ts';
import type { ToolCallRequest, ToolReply } from '#/call/tool-call.ts';
import type { McpServerConfig, WorkloadConfig } from '#/config/snapshot.ts';
import { asGatewayError, GatewayError } from '#/errors/gateway-error.ts';
import type { SettlementService } from '#/meter/settlement/settlement.ts';
import { turnAway } from '#/meter/limits/turn-away.ts';
import { BUILT_IN } from '#/route/tools/built-in.ts';
import { endedRow, type EndedCall } from '#/seal/ended-row.ts';
import type { JsonObject } from '#/wire/document/json.ts';
import type { Family } from '#/wire/document/document.ts';
import { ANONYMIZATION, DOCUMENT_JOB, type AnonymizedDocument, type AnonymizeRequest } from './anonymize.ts';
import { requestFault } from './admit.ts';
import { callBuiltIn } from './built-in-tool.ts';
import { assemble, type Assembled } from './assemble.ts';
import { MODEL_CALL } from './model-call.ts';
import { PASSTHROUGH, type PassthroughStart } from './passthrough.ts';
import type { PipelineDeps } from './pipeline-parts.ts';
import { REPEATED_CALL } from './repeated-call.ts';
import { runCall, sealRefusal, tellSealed } from './run-call.ts';
import { findRead } from './tools/find-read.ts';
import { listenToServers, type Listener } from './tools/clients/listen-to-servers.ts';
import type { ClientSessions } from './tools/clients/client-sessions.ts';
import { findTool, unlisted } from './tools/find-tool.ts';
import { LoopPlaces } from './tools/loop-places.ts';
import { NAMES_SERVERS, readLoop, runsTools } from './tools/read-loop.ts';
import { runToolLoop, type LoopRequest } from './tools/tool-loop.ts';
import { builtInNamed } from './tools/built-in/list.ts';
import { offerBuiltIn, withBuiltIn, type ListedOffer } from './tools/built-in/offer-built-in.ts';
import { lookedThrough } from './tools/listed-entries.ts';
import { offeredResources, type ResourceOffer } from './tools/offered-resources.ts';
import { keyFor } from './tools/protected-key.ts';
import { SERVER_READ } from './server-read.ts';
import { TOOL_CALL } from './tool-call.ts';
import type { ToolParts } from './tools/tool-parts.ts';

/** The assembled steps of one process. */
export class Pipeline {
  readonly #parts: Assembled['parts'];
  readonly #background: Omit<Assembled, 'parts'>;
  readonly #snapshot: PipelineDeps['snapshot'];
  readonly #loopPlaces = new LoopPlaces();

  constructor(deps: PipelineDeps) {
    this.#snapshot = deps.snapshot;
    const { parts, ...background } = assemble(deps);
    this.#parts = parts;
    this.#background = background;
  }

  /** Serves a request to a model, whose answer `emit` takes. It may have the gateway run tools. */
  serve(request: CallRequest, text: string, emit: Emit): Promise<unknown> {
    return NAMES_SERVERS.test(text) && runsTools(request)
      ? this.#serveTools(request, text, emit)
      : this.#serveOne(request, text, emit);
  }

  async #serveTools(request: CallRequest, text: string, emit: Emit): Promise<unknown> {
    let loop: LoopRequest | undefined;
    try {
      loop = await readLoop(request, text, {
        ...this.#parts,
        offering: {
          offerTools: (...asked) => this.offerTools(...asked),
          whyUnlisted: (server) => this.whyUnlisted(server),
        },
      });
    } catch (thrown) {
      const error = asGatewayError(requestFault(thrown));
      this.refuse(request, request.codec.family, error);
      throw error;
    }
    return loop ? this.#runTools(loop, emit) : this.#serveOne(request, text, emit);
  }

  async #runTools(loop: LoopRequest, emit: Emit): Promise<void> {
    const { request } = loop;
    using _place = this.#enterLoop(request);
    await runToolLoop(loop, emit, {
      serve: (round, asked, hear) => this.#serveOne(round, asked, hear),
      callTool: (call) => this.callTool(call),
      snapshot: this.#snapshot,
      seal: (context, error) => this.refuse(context, request.codec.family, error),
    });
  }

  #enterLoop(request: CallRequest): Disposable {
    try {
      return this.#loopPlaces.enter(request);
    } catch (thrown) {
      const error = asGatewayError(thrown);
      this.refuse(request, request.codec.family, error);
      throw error;
    }
  }

  #serveOne(request: CallRequest, text: string, emit: Emit): Promise<unknown> {
    const { responseCache } = request.key.workload.policy;
    if (responseCache.enabled) return this.#serveAgain(request, text, emit);
    return runCall(MODEL_CALL, request.codec.family, { request, text, emit }, this.#parts);
  }

  /** Serves a model call that may be the same as one just answered from the cache. */
  async #serveAgain(request: CallRequest, text: string, emit: Emit): Promise<unknown> {
    const { family } = request.codec;
    const found = this.#parts.hotCache.find(request, text);
    const repeat = found && (await found);
    return repeat
      ? runCall(REPEATED_CALL, family, { request, emit, repeat }, this.#parts)
      : runCall(MODEL_CALL, family, { request, text, emit }, this.#parts);
  }

  /** A call that is passed on without being translated: audio, video, files. */
  async pass(request: PassthroughCall, emit: PassthroughStart['emit']): Promise<void> {
    await runCall(PASSTHROUGH, 'passthrough', { request, emit }, this.#parts);
  }

  /** Calls a tool of an MCP server, and gives what its client is sent. */
  async callTool(request: ToolCallRequest): Promise<ToolReply> {
    const builtIn = builtInNamed(request);
    if (builtIn) return this.#timed(BUILT_IN, request, callBuiltIn(builtIn, request, this.#parts));
    const found = await findTool(request, this.#parts.tools.offered);
    const { server } = found;
    const key = server ? keyFor(request.key, server.trust) : request.key;
    const calling = runCall(TOOL_CALL, 'mcp', { request: { ...request, key }, found }, this.#parts);
    const { reply } = await (server ? this.#timed(server.id, request, calling) : calling);
    return reply;
  }

  /** The sessions of legacy clients. */
  get clients(): ClientSessions {
    return this.#parts.tools.clients;
  }

  /** Passes on what the servers of a session say besides their answers, as `listenToServers` does. */
  listenToServers(listener: Listener, session: ClientSession): Promise<void> {
    return listenToServers(listener, session, this.#parts);
  }

  /** How the rows of an organization name a person: the same each time, and nothing that says who it is. */
  personOf(organization: string, issuer: string, subject: string): string {
    return this.#parts.cipher.names(organization, `person\n${JSON.stringify([issuer, subject])}`)[0] ?? '';
  }

  /** Reads a resource, a prompt or completions of an MCP server, and gives what its client is sent. */
  async read(request: ServerReadRequest): Promise<ToolReply> {
    const found = await findRead(request, this.#parts.tools);
    const { server } = found;
    const key = server ? keyFor(request.key, server.trust) : request.key;
    const reading = runCall(SERVER_READ, 'mcp', { request: { ...request, key }, found }, this.#parts);
    const { reply } = await (server ? this.#timed(server.id, request, reading, request.method) : reading);
    return reply;
  }

  /** What servers list, and what of it workloads are offered. */
  get listed(): Omit<ToolParts, 'servers'> {
    return this.#parts.tools;
  }

  /** Reports how a call of a tool ends, or a request with the method that reads. */
  async #timed<Result>(
    server: string,
    { startedAt }: Pick<CallContext, 'startedAt'>,
    calling: Promise<Result>,
    method?: ReadMethod,
  ): Promise<Result> {
    let outcome = 'answered';
    try {
      return await calling;
    } catch (thrown) {
      outcome = thrown instanceof GatewayError ? thrown.code : 'hung_up';
      throw thrown;
    } finally {
      const durationMs = Math.max(0, Date.now() - startedAt);
      this.#parts.onEvent(
        method
          ? { kind: 'server.read', server, method, outcome, durationMs }
          : { kind: 'tool.called', server, outcome, durationMs },
      );
    }
  }

  /** The tools that a workload is offered by these servers; `own`: with those of the gateway itself. */
  async offerTools(servers: readonly McpServerConfig[], workload: WorkloadConfig, own: boolean): Promise<ListedOffer> {
    const asked = servers.filter(({ offer }) => offer.has('tools'));
    const offer = await this.#parts.tools.offered.of(asked, workload);
    return own
      ? withBuiltIn(offer, asked.length, offerBuiltIn(workload, this.#parts.providers))
      : { ...offer, sources: asked.length };
  }

  /** The resources, or the templates, that a workload is offered by these servers. */
  offerResources(
    kind: 'resources' | 'templates',
    servers: readonly McpServerConfig[],
    workload: WorkloadConfig,
  ): Promise<ResourceOffer> {
    return offeredResources(kind, servers, workload, this.#parts.tools.lists);
  }

  /** Entries of such a list after the policy for results. */
  lookThroughList(
    entries: readonly JsonObject[],
    address: 'uri' | 'uriTemplate',
    context: Pick<CallContext, 'key' | 'signal'>,
  ): Promise<readonly JsonObject[]> {
    return lookedThrough(entries, address, context, this.#parts.detection);
  }

  /** Why a server lists no tools. */
  whyUnlisted(server: McpServerConfig): GatewayError {
    return unlisted(server, this.#parts.tools.offered.faultOf(server));
  }

  /** A document without personal data, and what it was found to have. // spec 2.5 */
  async anonymize(request: AnonymizeRequest): Promise<AnonymizedDocument> {
    const { lasting } = request;
    const { anonymized } = lasting
      ? await runCall(DOCUMENT_JOB, 'documents', { request, goesOn: lasting.goesOn }, this.#parts)
      : await runCall(ANONYMIZATION, 'documents', { request }, this.#parts);
    return anonymized;
  }

  /** Why a request is refused whatever it asks for, to be sealed by `refuse`; undefined: call `leave` when it is over. */
  turnAway(caller: Pick<CallContext, 'id' | 'key' | 'snapshot' | 'startedAt' | 'headers'>): GatewayError | undefined {
    return turnAway(caller, this.#parts.meter);
  }

  /** A request that was not turned away is over, whether or not it came to the counters. */
  leave(caller: Pick<CallContext, 'id' | 'key'>): void {
    const { arrivals } = this.#parts.meter;
    if (arrivals.hasAny) arrivals.leave(caller);
  }

  /** Seals a request that was refused before its body could be read. `family`: what its surface speaks. */
  refuse(request: CallContext, family: Family, error: GatewayError): void {
    sealRefusal(request, family, error, this.#parts);
  }

  /** Seals a call that ends without its steps: a job. What it holds is let go of by the sweeper. */
  close(call: EndedCall): void {
    const draft = endedRow(call, Date.now());
    this.#parts.writer.enqueue(draft);
    tellSealed(draft.row, this.#parts.onEvent);
  }

  /** Takes over what dead processes left, then keeps doing so. Resolves also when the counters can't be reached yet. */
  async start(): Promise<void> {
    const { onEvent, writer } = this.#parts;
    const { lease, sweeper, settlement } = this.#background;
    // Before holds are closed: rows on disk say more than the holds can tell.
    await writer.recover().catch((error: unknown) => onEvent({ kind: 'journal.fault', error }));
    await lease.renew().catch((error: unknown) => onEvent({ kind: 'sweep.fault', error }));
    sweeper.start();
    settlement.start();
  }

  /** Makes all rows durable and settles them, as far as that is possible before the deadline. */
  async drain(deadlineMs: number): Promise<boolean> {
    const { writer, content, ownership } = this.#parts;
    const until = performance.now() + deadlineMs;
    const sealed = await writer.drain(deadlineMs);
    const settled = await this.#background.settlement.settler.drain(Math.max(0, until - performance.now()));
    await content.drain(Math.max(0, until - performance.now()));
    await ownership.drain(Math.max(0, until - performance.now()));
    return sealed && settled;
  }

  stop(): void {
    const { settlement, sweeper } = this.#background;
    const { writer, content, ownership } = this.#parts;
    for (const one of [settlement, sweeper, writer, settlement.settler, content, ownership]) one.stop();
  }

  get openHolds(): number {
    return this.#parts.open.size;
  }

  /** Upstreams that are left alone because they fail. */
  get openCircuits(): number {
    return this.#parts.upstreams.open;
  }

  get pendingRows(): number {
    return this.#parts.writer.pending;
  }

  get pendingSettlements(): number {
    return this.#background.settlement.settler.pending;
  }

  get droppedRows(): number {
    return this.#parts.writer.dropped;
  }

  get pendingContent(): number {
    return this.#parts.content.pending;
  }

  get drift(): SettlementService['drift'] {
    return this.#background.settlement.drift;
  }
}
