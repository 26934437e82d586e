import { restoreAnswer } from '#/inspect/restore/restore-answer.ts';
import { mayHoldTag } from '#/inspect/tags.ts';
import type { Restoration } from '#/inspect/restore/restoration.ts';
import { UpstreamFault, type Incoming } from '#/ports/provider.ts';
import { countedOutput } from '#/meter/plausible-usage.ts';
import type { AnswerContext, Codec } from '#/wire/hub/codec.ts';
import { COUNT_FROM, refuseCostlyJson, refuseUnasked } from '#/wire/answer/answer-bounds.ts';
import { readDocument, render, type WireDocument } from '#/wire/document/document.ts';
import { isObject, type JsonObject } from '#/wire/document/json.ts';
import { estimatedTokens } from '#/wire/answer/usage.ts';
import { answerFault } from './answer-fault.ts';
import type { AnswerMeter } from './answer-meter.ts';
import { shownUsage } from './display.ts';
import type { Translation } from '#/call/target.ts';

const MAX_ANSWER_BYTES = 64 * 1024 * 1024;
/** Of a UTF-16 code unit. */
const MOST_BYTES = 3;

/** How a buffered answer is read and shown. */
export interface Reading {
  readonly codec: Codec;
  /** Answers asked for at once. */
  readonly answers: number;
  /** The answer may come later, by its id. */
  readonly inBackground: boolean;
  readonly jsonAnswer: boolean;
  readonly hideCache: boolean;
  /** Set where the provider was asked in another family than the surface's. */
  readonly translation: (Translation & { readonly context: AnswerContext }) | undefined;
  /** The request, where the answer is fitted to it. */
  readonly asked: { readonly request: WireDocument; readonly sent: string } | undefined;
  /** Absent where nothing is to be restored. */
  readonly restoring: (() => Restoration) | undefined;
}

/**
 * A buffered answer as the client gets it: in its own family the bytes of the provider, else rewritten; tags
 * restored. Reports its usage to the meter. Throws `UpstreamFault` if it is not an answer of the provider's family.
 */
export async function readBuffered(reading: Reading, incoming: Incoming, meter: AnswerMeter): Promise<string> {
  const text = await incoming.text(MAX_ANSWER_BYTES);
  const { codec, translation, jsonAnswer, hideCache, restoring } = reading;
  try {
    if (text.length > COUNT_FROM) refuseCostlyJson(text);
    const body: unknown = JSON.parse(text);
    if (!isObject(body)) throw new UpstreamFault('protocol', 'the answer is not a JSON object');
    const shown = translation
      ? translated(body, text, translation, hideCache, meter)
      : verbatim(body, text, reading, meter);
    if (!restoring || !mayHoldTag(shown)) return shown;
    const restoration = restoring();
    const restored = restoreAnswer(shown, codec, restoration, jsonAnswer, shown === text ? body : undefined);
    if (restoration.withheld) meter.lose('restore');
    return restored;
  } catch (thrown) {
    throw answerFault(thrown);
  }
}

function verbatim(
  body: JsonObject,
  raw: string,
  { codec, answers, inBackground, hideCache, asked }: Reading,
  meter: AnswerMeter,
): string {
  const facts = codec.readAnswer(body);
  if (!facts.complete && inBackground && facts.id !== undefined) {
    // What it will use is not known yet: the most that it may is billed.
    meter.identify(facts.id);
    return raw;
  }
  if (!facts.complete) throw new UpstreamFault('protocol', 'the answer is not one of its family');
  if (facts.choices !== undefined && facts.choices > answers) refuseUnasked(facts.choices, answers);
  if (facts.id !== undefined) meter.identify(facts.id);
  const images = Math.min(facts.units?.images ?? 0, answers);
  meter.seen = { ...meter.seen, ...countedOutput(codec.family, raw.length, images) };
  // The bytes of pictures bound nothing: what they may count for is known.
  const bytes = codec.family === 'images' ? 0 : MOST_BYTES * raw.length;
  const { usage, says } = facts;
  const isBelieved = usage === undefined || meter.tell(usage, { bytes, says: says === true, whole: true });
  if (facts.units) meter.tellUnits(facts.units);
  const flat = facts.inChunks ? codec.flatAnswer?.(body) : undefined;
  const text = flat ? JSON.stringify(flat) : raw;
  if (isBelieved && !hideCache && !asked) return text;
  const answer = readDocument(codec.family, text, { lenient: true });
  return render(text, [
    ...(isBelieved ? [] : (codec.tellUsage?.(answer, meter.seen) ?? [])),
    ...(isBelieved && hideCache ? codec.hideCacheCounts(answer) : []),
    ...(asked ? (codec.fitAnswer?.(answer, asked.request, asked.sent) ?? []) : []),
  ]);
}

function translated(
  body: JsonObject,
  text: string,
  { client, upstream, context }: NonNullable<Reading['translation']>,
  hideCache: boolean,
  meter: AnswerMeter,
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
