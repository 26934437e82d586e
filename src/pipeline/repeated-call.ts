import type { Emit, CallRequest } from '#/call/call.ts';
import type { Limits } from '#/ports/limit-counters.ts';
import type { CallFacts } from '#/call/facts.ts';
import type { Repeat } from '#/dispatch/cache/hot-cache.ts';
import { headWith } from '#/dispatch/losses.ts';
import { keptOf } from '#/dispatch/retained-call.ts';
import { count } from '#/meter/meter.ts';
import type { PipelineParts } from './pipeline-parts.ts';
import { Steps, type CallStart, type Stated } from './run-call.ts';

interface RepeatedCallStart extends CallStart<CallRequest> {
  readonly repeat: Repeat;
  readonly emit: Emit;
}

/** The way of a call that is the same as one just answered from the cache: it is counted, and not read again. // spec 4.3.4 */
export const REPEATED_CALL = new Steps<PipelineParts, RepeatedCallStart>()
  .step('admit', recognize)
  .step('meter', countRequest)
  .step('dispatch', accept)
  .step('dispatch', answerAgain);

function recognize({ repeat }: RepeatedCallStart): Stated<object> {
  return { facts: repeat.row.read };
}

interface Counted extends RepeatedCallStart {
  readonly limits: Limits;
}

async function countRequest({ request }: RepeatedCallStart, parts: PipelineParts): Promise<Pick<Counted, 'limits'>> {
  parts.writer.requireRoom();
  return { limits: await count(request, parts.meter) };
}

/** From here on it counts as a hit; a refused call does not. */
async function accept({ request, repeat, limits, emit }: Counted, { content }: PipelineParts) {
  const { row, headers } = repeat;
  await emit({ kind: 'accepted', stream: row.read.asked.stream, headers, limits });
  if (repeat.content) content.enqueue(keptOf(request, repeat.content));
  return { facts: row.answered };
}

async function answerAgain({ request, repeat, emit }: Counted): Promise<{ readonly facts: CallFacts }> {
  if (request.signal.aborted) throw request.signal.reason as Error;
  await emit(headWith(repeat.row.answered.losses));
  await emit({ kind: 'body', text: repeat.text });
  return { facts: { isServed: !request.signal.aborted } };
}
