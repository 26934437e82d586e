import type { Inspection } from '#/inspect/inspect.ts';
import { mayHoldTag, restoreAnswer } from '#/inspect/restore/restore-answer.ts';
import type { Call } from '#/call/call.ts';
import { UpstreamFault, type Incoming } from '#/ports/provider.ts';
import { countedOutput } from '#/meter/plausible-usage.ts';
import type { UsageBounds } from '#/meter/usage-bounds.ts';
import type { AnswerContext } from '#/wire/hub/codec.ts';
import { refuseCostlyJson, refuseUnasked } from '#/wire/answer/answer-bounds.ts';
import { readDocument, render } from '#/wire/document/document.ts';
import { isObject, type JsonObject } from '#/wire/document/json.ts';
import { estimatedTokens } from '#/wire/answer/usage.ts';
import { answerFault } from './answer-fault.ts';
import type { AnswerMeter } from './answer-meter.ts';
import { hidesCacheCounts, shownUsage } from './display.ts';
import { contextOf, restorationFor } from './answer-context.ts';
import type { Candidate, Translation } from '#/call/target.ts';

const MAX_ANSWER_BYTES = 64 * 1024 * 1024;
/** Of a UTF-16 code unit. */
const MOST_BYTES = 3;

/**
 * A buffered answer as the client gets it: in its own family the bytes of the provider, else rewritten; tags
 * restored. Reports its usage to the meter. Throws `UpstreamFault` if it is not an answer of the provider's family.
 */
export async function readBuffered(
  call: Call,
  inspection: Inspection,
  bounds: UsageBounds,
  candidate: Candidate,
  incoming: Incoming,
  meter: AnswerMeter,
): Promise<string> {
  const text = await incoming.text(MAX_ANSWER_BYTES);
  const { codec, ask } = call;
  const { translation, provider } = candidate;
  try {
    refuseCostlyJson(text);
    const body: unknown = JSON.parse(text);
    if (!isObject(body)) throw new UpstreamFault('protocol', 'the answer is not a JSON object');
    const hideCache = hidesCacheCounts(provider.config);
    const shown = translation
      ? translated(body, text, translation, hideCache, meter, contextOf(call, candidate, bounds))
      : verbatim(body, text, call, candidate.body, meter, hideCache);
    if (inspection.tags.size === 0 || !mayHoldTag(shown)) return shown;
    const restoration = restorationFor(call, inspection);
    const restored = restoreAnswer(shown, codec, restoration, ask.jsonAnswer, shown === text ? body : undefined);
    if (restoration.withheld) meter.lose('restore');
    return restored;
  } catch (thrown) {
    throw answerFault(thrown);
  }
}

function verbatim(
  body: JsonObject,
  raw: string,
  { codec, document, ask }: Call,
  sent: string,
  meter: AnswerMeter,
  hideCache: boolean,
): string {
  const facts = codec.readAnswer(body);
  if (!facts.complete && ask.background === true && facts.id !== undefined) {
    // What it will use is not known yet: the most that it may is billed.
    meter.identify(facts.id);
    return raw;
  }
  if (!facts.complete) throw new UpstreamFault('protocol', 'the answer is not one of its family');
  refuseUnasked(facts.choices ?? 0, ask.answers);
  if (facts.id !== undefined) meter.identify(facts.id);
  const images = Math.min(facts.units?.images ?? 0, ask.answers);
  meter.seen = { ...meter.seen, ...countedOutput(codec.family, raw.length, images) };
  // The bytes of pictures bound nothing: what they may count for is known.
  const bytes = codec.family === 'images' ? 0 : MOST_BYTES * raw.length;
  const { usage, says } = facts;
  const isBelieved = usage === undefined || meter.tell(usage, { bytes, says: says === true, whole: true });
  if (facts.units) meter.tellUnits(facts.units);
  const flat = codec.flatAnswer?.(body);
  const text = flat ? JSON.stringify(flat) : raw;
  if (isBelieved && !hideCache && !codec.fitAnswer) return text;
  const answer = readDocument(codec.family, text, { lenient: true });
  return render(text, [
    ...(isBelieved ? [] : (codec.tellUsage?.(answer, meter.seen) ?? [])),
    ...(isBelieved && hideCache ? codec.hideCacheCounts(answer) : []),
    ...(codec.fitAnswer?.(answer, document, sent) ?? []),
  ]);
}

function translated(
  body: JsonObject,
  text: string,
  { client, upstream }: Translation,
  hideCache: boolean,
  meter: AnswerMeter,
  context: AnswerContext,
): string {
  const answer = upstream.decodeAnswer(body);
  if (!answer) throw new UpstreamFault('protocol', 'the answer is not one of its family');
  if (answer.id !== undefined) meter.identify(answer.id);
  meter.seen = { ...meter.seen, output: estimatedTokens(text.length) };
  const says = answer.parts.length > 0;
  if (answer.usage) meter.tell(answer.usage, { bytes: MOST_BYTES * text.length, says, whole: true });
  const usage = meter.usage ?? meter.seen;
  return JSON.stringify(client.encodeAnswer({ ...answer, usage: hideCache ? shownUsage(usage) : usage }, context));
}
