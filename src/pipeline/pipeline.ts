import { randomUUID } from 'node:crypto';
import { staysHere } from '#/config/local-provider.ts';
import { detectionFor } from '#/inspect/detectors/detector.ts';
import { withPlainModel } from '#/inspect/ids.ts';
import { inspect, uninspected, type OnFindings } from '#/inspect/inspect.ts';
import { modelsOf } from '#/inspect/token-lists.ts';
import { demandOf } from '#/meter/usage-bounds.ts';
import { givingBack } from '#/meter/settlement/give-back.ts';
import { count, hold } from '#/meter/meter.ts';
import { meterMemory } from '#/meter/meter-memory.ts';
import { createSweeper } from './background/sweeper.ts';
import { turnAway } from '#/meter/turn-away.ts';
import { createTreasury, type Treasury } from '#/meter/settlement/settlement.ts';
import type { OpenHold } from '#/ports/limit-counters.ts';
import { AnswerCache } from '#/dispatch/cache/answer-cache.ts';
import { dispatch } from '#/dispatch/dispatch.ts';
import { Endpoints } from '#/dispatch/endpoints.ts';
import { namingNearest } from '#/route/nearest-models.ts';
import { Ownership } from '#/dispatch/kept/ownership.ts';
import type { Target, Candidate } from '#/call/target.ts';
import { routeCall, routeLocal } from '#/route/route.ts';
import { LearnedRejects } from '#/dispatch/unsupported-parameters.ts';
import { inspectedDocument, prepare } from '#/dispatch/prepare.ts';
import { Repeats } from '#/dispatch/cache/hot-cache.ts';
import { keptOf, retained } from '#/dispatch/retained-call.ts';
import { createContentWriter } from '#/seal/content/content-writer.ts';
import { endedRow, type EndedCall } from '#/seal/ended-row.ts';
import { Entry } from '#/seal/call-record.ts';
import { createLedgerWriter, type RowDraft } from '#/seal/ledger-writer.ts';
import { GatewayError } from '#/errors/gateway-error.ts';
import { admit, admitLarge } from './admit.ts';
import { leaveOut } from '#/route/skip.ts';
import { DECIDING, type Family, type WireDocument } from '#/wire/document/document.ts';
import type { Call, Emit, Ingress, Opening } from '#/call/call.ts';
import type { CorridorDeps } from './pipeline-deps.ts';
import { sealedEvents } from './pipeline-event.ts';
import { deskFor } from '#/inspect/attachments/attachment-reader.ts';
import { LargeWork } from '#/runtime/large-work.ts';
import { turnsFor } from '#/runtime/loop-turns.ts';
import { anonymize, type AnonymizeRequest, type AnonymizedDocument } from './anonymize/anonymize.ts';
import { PassingMap } from '#/runtime/passing.ts';
import { servePassage } from './passthrough/passthrough.ts';
import type { PassthroughCall, PassthroughAnswer } from '#/call/passthrough-call.ts';
import { createPassageStages } from './passthrough/steps.ts';
import { serve, type Stages } from './model-call.ts';
import { contentsBeside } from '#/route/provider-side-tools.ts';
import { RecentDocuments } from '#/inspect/attachments/recent-documents.ts';
import { saidIn, spokenIn, type Spoken } from '#/inspect/user-text.ts';
import { guardScope } from '#/inspect/scope/scope-guard.ts';

/** The assembled corridor of one process. */
export interface Corridor {
  /** Serves a call, whose answer `emit` takes. */
  serve(ingress: Ingress, emit: Emit): Promise<void>;
  /** A call that is passed on without being translated: audio, video, files. */
  pass(passage: PassthroughCall): AsyncGenerator<PassthroughAnswer>;
  /** A document without personal data, and what it was found to have. // spec 2.5 */
  anonymize(request: AnonymizeRequest): Promise<AnonymizedDocument>;
  /** Why a request is refused whatever it asks for, to be sealed by `refuse`; undefined: call `leave` when it is over. */
  turnAway(caller: Pick<Opening, 'id' | 'key' | 'snapshot' | 'startedAt' | 'headers'>): GatewayError | undefined;
  /** A request that was not turned away is over, whether or not it came to the counters. */
  leave(caller: Pick<Opening, 'id' | 'key'>): void;
  /** Seals a request that was refused before its body could be read. */
  refuse(opening: Opening, family: Family, error: GatewayError): Promise<void>;
  /** Seals a call that ends without walking the corridor: a job. What it holds is let go of by the sweeper. */
  close(call: EndedCall): void;
  /** Takes over what dead processes left, then keeps doing so. Resolves also when the counters can't be reached yet. */
  start(): Promise<void>;
  /** Makes all rows durable and settles them, as far as that is possible before the deadline. */
  drain(deadlineMs: number): Promise<boolean>;
  stop(): void;
  readonly openHolds: number;
  /** Endpoints that are left alone because they fail. */
  readonly openCircuits: number;
  readonly pendingRows: number;
  readonly pendingSettlements: number;
  readonly droppedRows: number;
  readonly pendingContent: number;
  readonly drift: Treasury['drift'];
}

/** Wires the steps to each other. Every arrow between them is here. */
export function createCorridor(deps: CorridorDeps): Corridor {
  const { counters, ledger, onEvent } = deps;
  const strand = randomUUID();
  const open = new PassingMap<OpenHold>();
  const treasury = createTreasury({ ...deps, open, owner: strand, behind: () => writer.replaying });
  const { restorer, settler } = treasury;
  const sweeper = createSweeper({
    counters,
    ledger,
    owner: strand,
    open,
    organizations: () => [...(deps.snapshot()?.organizations.keys() ?? [])],
    recover: () => writer.recover(),
    behind: () => writer.replaying,
    seal: (draft) => writer.enqueue(draft),
    settle: (settlements) => treasury.settle(settlements),
    onFault: (error) => onEvent({ kind: 'sweep.fault', error }),
    onAbandoned: (holds) => onEvent({ kind: 'calls.abandoned', holds }),
  });
  const writer = createLedgerWriter({
    ledger,
    ...(deps.journal && { journal: deps.journal }),
    strand,
    fence: sweeper,
    onDurable: (settlements) => sweeper.settleWritten(settlements),
    onDropped: (callId) => open.delete(callId),
    onFault: (error) => onEvent({ kind: 'ledger.fault', error }),
    onJournalFault: (error) => onEvent({ kind: 'journal.fault', error }),
    onReplay: (state) => onEvent({ kind: `journal.${state}` }),
    onRefused: (rows) => onEvent({ kind: 'journal.refused', rows }),
  });
  const ensureAlive = async (): Promise<void> => {
    if (sweeper.fresh()) return;
    await sweeper.renew().catch((error: unknown) => sweeper.fresh() || Promise.reject(error as Error));
  };
  const meterDeps = {
    ...meterMemory(),
    counters,
    prices: deps.prices,
    restorer,
    onRefused: treasury.refused,
    ensureAlive,
    owner: strand,
    open,
  };
  const giveBack = givingBack({ ...meterDeps, isContested: (callId) => sweeper.isContested(callId) });
  const seal = (draft: RowDraft): void => {
    writer.enqueue(draft);
    for (const event of sealedEvents(draft.row)) onEvent(event);
  };
  const openEntry = (opening: Opening, family: Family): Entry => {
    const entry = new Entry(opening, family, (draft) => {
      if (draft.settlement) giveBack(draft.settlement);
      seal(draft);
      for (const field of new Set(entry.shadow.map((one) => one.field))) onEvent({ kind: 'shadow.differed', field });
    });
    return entry;
  };
  const requireRoom = (): void => {
    if (!writer.accepting)
      throw new GatewayError('ledger_unavailable', 'The audit ledger accepts no rows. Nothing was sent.');
  };
  const guard = ({ key, signal }: Opening, spoken: Spoken, entry: Entry): Promise<void> => {
    const onVerdict = (verdict: string): void => void (entry.scope = verdict);
    return guardScope(key.workload.policy, () => saidIn(spoken), { models: deps.models, signal, onVerdict });
  };
  const [largeWork, learned] = [new LargeWork(), new LearnedRejects()];
  const onCacheFault = (error: unknown): void => onEvent({ kind: 'cache.fault', error });
  const answers = new AnswerCache({ store: deps.responseCache, cipher: deps.cipher, onFault: onCacheFault });
  const repeats = new Repeats({
    store: deps.responseCache,
    onFault: onCacheFault,
    onFound: () => onEvent({ kind: 'cache.asked', result: 'hit' }),
  });
  const content = createContentWriter({
    store: deps.retainedContent,
    cipher: deps.cipher,
    onFault: (error) => onEvent({ kind: 'content.fault', error }),
    onDropped: (callId) => onEvent({ kind: 'content.dropped', callId }),
  });
  const endpoints = new Endpoints(onEvent);
  const ownership = new Ownership(deps.keptObjects, onEvent);
  const files = deps.documents && new RecentDocuments(deps.documents);
  const stages: Stages = {
    open: (ingress) => openEntry(ingress, ingress.codec.family),
    known: (ingress) => repeats.find(ingress),
    admit(ingress) {
      const known = (call: Call): Call => withPlainModel(call, deps.detection);
      const turns = turnsFor(ingress.text, ingress);
      return turns ? admitLarge(ingress, turns, largeWork, known) : known(admit(ingress));
    },
    async inspect(call, entry) {
      const { policy } = call.key.workload;
      if (policy.scopeGuard.mode !== 'off') await guard(call, spokenIn(call.document), entry);
      // What a local model decides by is protected like what leaves. // spec 4.4.8
      if (!DECIDING.has(call.codec.family) && staysHere(call.ask.model, call.key.workload.organization))
        return uninspected(call.document, call.codec);
      const onFindings: OnFindings = (findings, unscanned) => {
        const detectors = deps.detectors.of(policy.dlp, unscanned);
        Object.assign(entry, { findings, unscanned, detectors, removed: call.remove.map(({ label }) => label) });
      };
      const detection = detectionFor(call, deps.detection);
      const codec = contentsBeside(call.codec, call.toolServers);
      const asked = modelsOf(call.ask.model, call.key.workload.organization);
      const desk = deskFor(call, files);
      return inspect(call.document, codec, policy.dlp, call.remove, detection, onFindings, desk, asked, call.turns);
    },
    route: (call, inspection, entry) => {
      const inspected = (): Promise<WireDocument> => inspectedDocument(call, inspection);
      return routeCall({ ...call, media: inspection.media, inspected }, deps, entry);
    },
    async prepare(call, inspection, targets, entry) {
      const left = (target: Target, why: string): void => leaveOut(entry, target, why);
      return ownership.claim(call, await prepare(call, inspection, targets, deps.media, left), left);
    },
    async recall(call, candidates) {
      const recalled = await answers.recall(call, candidates);
      if (recalled.state !== 'off') onEvent({ kind: 'cache.asked', result: recalled.state });
      return recalled;
    },
    demand: demandOf,
    meter: async (call, candidates, demand, entry) => {
      requireRoom();
      const debited = { ...call, model: call.ask.model, stream: call.ask.stream };
      const held = await hold(debited, candidates, demand, meterDeps).catch(namingNearest(call, deps));
      for (const one of candidates) if (!held.plan.includes(one)) leaveOut(entry, one, 'no price is known for it');
      return held;
    },
    count(ingress) {
      requireRoom();
      return count(ingress, meterDeps);
    },
    dispatch(work, entry, emit) {
      const { call, inspection, recalled } = work;
      const retain = (candidate: Candidate, answer: Buffer | undefined): void =>
        content.enqueue(keptOf(call, retained(call, inspection, candidate, answer, recalled.hit)));
      const keeps = call.key.workload.policy.contentRetention;
      return dispatch({ ...work, learned, endpoints, ownership, retain: keeps ? retain : undefined }, entry, emit);
    },
    remember(call, inspection, hit, headers, text, entry) {
      const row = entry.recurring();
      // A translated answer bears the id of the call that it is for.
      if (!row || !hit.stored || hit.candidate.translation) return;
      const keeps = call.key.workload.policy.contentRetention;
      const kept = keeps ? retained(call, inspection, hit.candidate, undefined, hit) : undefined;
      repeats.note(call, { row, headers, text, content: kept }, hit.stored);
    },
    retain(ingress, repeat) {
      if (repeat.content) content.enqueue(keptOf(ingress, repeat.content));
    },
  };
  const passages = createPassageStages({ ...deps, openEntry, requireRoom, guard, meterDeps, endpoints, ownership });
  return {
    serve: (ingress, emit) => serve(ingress, stages, emit),
    pass: (passage) => servePassage(passage, passages),
    anonymize: (request) =>
      anonymize(request, {
        open: (opening) => openEntry(opening, 'documents'),
        leave: () => void open.delete(request.id),
        route: (model, entry) => routeLocal(model, request.key.workload, deps, entry),
        meter: (subject, target, demand) => passages.meter(subject, target, demand),
        detection: deps.detection,
        detectors: deps.detectors,
        engine: deps.documents,
      }),
    turnAway: (caller) => turnAway(caller, meterDeps),
    leave: (caller) => meterDeps.arrivals.leave(caller),
    close: (call) => seal(endedRow(call, Date.now())),
    async refuse(opening, family, error) {
      using entry = openEntry(opening, family);
      entry.failed(error);
    },
    async start() {
      // Before holds are closed: rows on disk say more than the holds can tell.
      await writer.recover().catch((error: unknown) => onEvent({ kind: 'journal.fault', error }));
      await sweeper.renew().catch((error: unknown) => onEvent({ kind: 'sweep.fault', error }));
      sweeper.start();
      treasury.start();
    },
    async drain(deadlineMs) {
      const until = performance.now() + deadlineMs;
      const sealed = await writer.drain(deadlineMs);
      const settled = await settler.drain(Math.max(0, until - performance.now()));
      await content.drain(Math.max(0, until - performance.now()));
      await ownership.drain(Math.max(0, until - performance.now()));
      return sealed && settled;
    },
    stop() {
      treasury.stop();
      sweeper.stop();
      writer.stop();
      settler.stop();
      content.stop();
      ownership.stop();
    },
    get openHolds() {
      return open.size;
    },
    get openCircuits() {
      return endpoints.open;
    },
    get pendingRows() {
      return writer.pending;
    },
    get pendingSettlements() {
      return settler.pending;
    },
    get droppedRows() {
      return writer.dropped;
    },
    get pendingContent() {
      return content.pending;
    },
    get drift() {
      return treasury.drift;
    },
  };
}
