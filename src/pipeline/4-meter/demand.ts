import type { Inspection } from '#inspect/inspect.ts';
import type { Call } from '#pipeline/call.ts';
import type { Candidate } from '#route/plan.ts';
import { estimatedTokens } from '#wire/usage.ts';

/** What a call may use, known before it is dispatched. */
export interface Demand {
  /** No answer within the request's own bounds uses more. */
  readonly ceiling: { readonly inputTokens: number; readonly outputTokens: number };
  /** Reserved against tokens per minute, corrected when settled. */
  readonly reservedTokens: number;
  /** Input tokens billed when a provider reports none. */
  readonly estimatedInput: number;
}

/** Output ceiling of a model whose configuration names none, when the caller names none either. */
const DEFAULT_MAX_OUTPUT_TOKENS = 16_384;
/** No vendor counts an image as more tokens. */
const IMAGE_TOKENS = 16_384;
const REMOTE_FILE_TOKENS = 262_144;

/**
 * The most a call can use. Byte-level tokenizers make at least one byte a token, so the body's bytes bound its text
 * tokens; media have bounds of their own.
 */
export function demandOf(call: Call, inspection: Inspection, candidates: readonly Candidate[]): Demand {
  let media = 0;
  let mediaLength = 0;
  for (const { kind, source, length } of inspection.media) {
    if (source === 'inline') mediaLength += length;
    media +=
      kind === 'image' ? IMAGE_TOKENS : Math.max(length, source === 'remote' ? REMOTE_FILE_TOKENS : IMAGE_TOKENS);
  }
  // Inline media are ASCII: their code units are their bytes. Tags may be longer than what they replace.
  const grown = inspection.edits.reduce((sum, edit) => sum + edit.text.length, 0);
  const textBytes = Buffer.byteLength(call.text) - mediaLength + grown;
  const estimatedInput = estimatedTokens(textBytes + media / 4);
  const named = call.ask.maxOutputTokens;
  const perAnswer = Math.max(
    ...candidates.map(({ settings }) => settings?.maxOutputTokens ?? DEFAULT_MAX_OUTPUT_TOKENS),
  );
  return {
    ceiling: { inputTokens: textBytes + media, outputTokens: named ?? perAnswer * call.ask.answers },
    reservedTokens: estimatedInput + (named ?? 0),
    estimatedInput,
  };
}
