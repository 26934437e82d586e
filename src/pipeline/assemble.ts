import { randomUUID } from 'node:crypto';
import { AnswerCache } from '#/dispatch/cache/answer-cache.ts';
import { HotCache } from '#/dispatch/cache/hot-cache.ts';
import { Upstreams } from '#/dispatch/upstream/upstreams.ts';
import { Ownership } from '#/dispatch/kept/ownership.ts';
import { UnsupportedParameters } from '#/dispatch/unsupported-parameters.ts';
import { RecentDocuments } from '#/inspect/attachments/recent-documents.ts';
import { meterMemory } from '#/meter/meter-memory.ts';
import { createSettlement, type SettlementService } from '#/meter/settlement/settlement.ts';
import { givingBack } from '#/meter/settlement/settler.ts';
import type { OpenHold } from '#/ports/limit-counters.ts';
import { LargeWork } from '#/runtime/large-work.ts';
import { PassingMap } from '#/runtime/passing.ts';
import { createContentWriter } from '#/seal/content/content-writer.ts';
import { createLedgerWriter, type LedgerWriter } from '#/seal/ledger-writer.ts';
import { runCall } from './run-call.ts';
import { SERVER_ANSWER } from './server-answer.ts';
import { ClientSessions } from './tools/clients/client-sessions.ts';
import { OfferedTools } from './tools/offered-tools.ts';
import type { ToolParts } from './tools/tool-parts.ts';
import { listsOf } from './tools/list-kinds.ts';
import { INSTRUCTIONS, PROMPTS, TOOLS } from './tools/offer-kinds.ts';
import { Sweeper } from './background/sweeper.ts';
import { Lease } from './background/lease.ts';
import type { PipelineDeps, PipelineParts } from './pipeline-parts.ts';

/** The parts of one process' pipeline, and what works in the background. */
export interface Assembled {
  readonly parts: PipelineParts & { readonly open: PassingMap<OpenHold> };
  readonly settlement: SettlementService;
  readonly lease: Lease;
  readonly sweeper: Sweeper;
}

/** Puts the parts together that the steps of calls work with. Every arrow between them is here. */
export function assemble(deps: PipelineDeps): Assembled {
  const { onEvent, documents } = deps;
  const open = new PassingMap<OpenHold>();
  const { writer, lease, sweeper, settlement, owner } = assembleLedger(deps, open);
  const memory = meterMemory();
  const { counters, prices } = deps;
  const { restorer, refused: onRefused } = settlement;
  const onCacheFault = (error: unknown): void => onEvent({ kind: 'cache.fault', error });
  const parts: Assembled['parts'] = {
    ...deps,
    open,
    writer,
    giveBack: givingBack({ ...memory, counters, owner, open, isContested: (callId) => lease.isContested(callId) }),
    meter: { ...memory, counters, prices, restorer, onRefused, lease, owner, open },
    largeWork: new LargeWork(),
    hotCache: new HotCache({
      store: deps.responseCache,
      onFault: onCacheFault,
      onFound: () => onEvent({ kind: 'cache.asked', result: 'hit' }),
    }),
    answers: new AnswerCache({ store: deps.responseCache, cipher: deps.cipher, onFault: onCacheFault }),
    content: createContentWriter({
      store: deps.retainedContent,
      cipher: deps.cipher,
      onFault: (error) => onEvent({ kind: 'content.fault', error }),
      onDropped: (callId) => onEvent({ kind: 'content.dropped', callId }),
    }),
    unsupported: new UnsupportedParameters(),
    upstreams: new Upstreams(onEvent),
    ownership: new Ownership(deps.keptObjects, onEvent),
    files: documents && new RecentDocuments(documents),
    tools: toolParts(deps, (start) => runCall(SERVER_ANSWER, 'mcp', start, parts)),
  };
  return { parts, settlement, lease, sweeper };
}

/** Servers of tools, and what they offer. */
function toolParts(deps: PipelineDeps, answerServer: ToolParts['answerServer']): ToolParts {
  const { mcpServers, onEvent, pins, cipher, neighbours } = deps;
  const lists = listsOf(mcpServers, onEvent);
  return {
    servers: mcpServers,
    lists,
    offered: new OfferedTools(TOOLS, lists.tools, pins),
    prompts: new OfferedTools(PROMPTS, lists.prompts, pins),
    instructions: new OfferedTools(INSTRUCTIONS, lists.about, pins),
    clients: new ClientSessions({ cipher, neighbours, servers: mcpServers }),
    answerServer,
  };
}

/** The chain of this process, and whatever closes and settles calls. */
function assembleLedger(deps: PipelineDeps, open: PassingMap<OpenHold>) {
  const { counters, ledger, onEvent } = deps;
  const owner = randomUUID();
  const behind = (): boolean => writer.replaying;
  const organizations = (): string[] => [...(deps.snapshot()?.organizations.keys() ?? [])];
  const settlement = createSettlement({ ...deps, open, owner, behind });
  const onFault = (error: unknown): void => onEvent({ kind: 'sweep.fault', error });
  const lease: Lease = new Lease({
    counters,
    ledger,
    owner,
    open,
    organizations,
    settler: settlement.settler,
    onTakenOver: (holds, missed) => sweeper.takeOver(holds, missed),
    onFault,
  });
  const writer: LedgerWriter = createLedgerWriter({
    ledger,
    ...(deps.journal && { journal: deps.journal }),
    strand: owner,
    fence: lease,
    onDropped: (callId) => open.delete(callId),
    onFault: (error) => onEvent({ kind: 'ledger.fault', error }),
    onJournalFault: (error) => onEvent({ kind: 'journal.fault', error }),
    onReplay: (state) => onEvent({ kind: `journal.${state}` }),
    onRefused: (rows) => onEvent({ kind: 'journal.refused', rows }),
  });
  const sweeper: Sweeper = new Sweeper({
    counters,
    ledger,
    lease,
    owner,
    open,
    organizations,
    recover: () => writer.recover(),
    behind,
    seal: (draft) => writer.enqueue(draft),
    settler: settlement.settler,
    onFault,
    onAbandoned: (holds) => onEvent({ kind: 'calls.abandoned', holds }),
  });
  return { settlement, lease, writer, sweeper, owner };
}
