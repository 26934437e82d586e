import type { Call, Emit } from '#/call/call.ts';
import { Stopped, type CallFacts, type StatedFacts } from '#/call/facts.ts';
import { AnswerTally } from '#/dispatch/answer-tally.ts';
import type { CacheHit } from '#/dispatch/cache/recalled.ts';
import { recurringOf } from '#/dispatch/cache/hot-cache.ts';
import type { Coming, Dispatch, Retain } from '#/dispatch/dispatch.ts';
import { ask } from '#/dispatch/dispatch.ts';
import { passOn } from '#/dispatch/pass-on.ts';
import { keptOf, retained, withAnswer } from '#/dispatch/retained-call.ts';
import type { Inspection } from '#/inspect/inspect.ts';
import type { ContentDraft } from '#/seal/content/content-writer.ts';
import type { PipelineParts } from './pipeline-parts.ts';
import type { Stated } from './run-call.ts';

/** A call that only its provider can still refuse. */
interface Accepted extends Dispatch {
  readonly emit: Emit;
  /** Of the answer so far. */
  readonly headers: Readonly<Record<string, string>>;
}

/** A call once the head of its answer is there. Its prompt is no longer needed. */
interface Answering {
  readonly coming: Coming;
  readonly emit: Emit;
  /** Set where the answer came from the cache. */
  readonly repeatable: Repeatable | undefined;
}

/** A call that was answered from the cache, to be remembered. */
interface Repeatable {
  readonly call: Call;
  readonly inspection: Inspection;
  readonly hit: CacheHit;
  readonly headers: Readonly<Record<string, string>>;
}

/** Asks the candidates, until the answer comes that is passed on. */
export async function askCandidates(work: Accepted, parts: PipelineParts): Promise<Answering> {
  const { call, inspection, recalled, emit, headers } = work;
  const { hit } = recalled;
  const tally = new AnswerTally();
  try {
    const coming = await ask(work, parts, retainFor(work, parts), tally);
    return { coming, emit, repeatable: hit && { call, inspection, hit, headers } };
  } catch (thrown) {
    throw new Stopped(thrown, tally);
  }
}

/** Undefined unless policy retains content. */
function retainFor({ call, inspection, recalled }: Accepted, { content }: PipelineParts): Retain | undefined {
  if (!call.key.workload.policy.contentRetention) return undefined;
  return (candidate) => retaining(keptOf(call, retained(call, inspection, candidate, recalled.hit)), content);
}

/** A function of its own: a closure within `retainFor` would hold the call. */
function retaining(draft: ContentDraft, content: PipelineParts['content']): ReturnType<Retain> {
  return (answer) => content.enqueue(answer ? withAnswer(draft, answer) : draft);
}

interface Answered extends Answering {
  /** The body as its client got it; empty unless it came from the cache. */
  readonly heard: string;
}

/** Hands the answer on as it comes. */
export async function passAnswer({
  coming,
  emit,
  repeatable,
}: Answering): Promise<Pick<Answered, 'heard'> & { readonly facts: CallFacts }> {
  const { tally } = coming;
  let heard = '';
  const listening: Emit | undefined =
    repeatable &&
    ((answer) => {
      if (answer.kind === 'body') heard += answer.text;
      return emit(answer);
    });
  try {
    await passOn(coming, listening ?? emit);
    return { heard, facts: tally };
  } catch (thrown) {
    throw new Stopped(thrown, tally);
  }
}

/** Remembers a call that was answered from the cache, for the next one that is identical byte for byte. */
export function rememberAnswer(
  { repeatable, heard }: Answered,
  { hotCache }: PipelineParts,
  stated: StatedFacts,
): Stated<object> {
  const row = repeatable && recurringOf(stated);
  if (!row) return {};
  const { call, inspection, hit, headers } = repeatable;
  // A translated answer bears the id of the call that it is for.
  if (!hit.stored || hit.candidate.translation) return {};
  const keeps = call.key.workload.policy.contentRetention;
  const content = keeps ? retained(call, inspection, hit.candidate, hit) : undefined;
  hotCache.note(call, call.document.text, { row, headers, text: heard, content }, hit.stored);
  return {};
}
