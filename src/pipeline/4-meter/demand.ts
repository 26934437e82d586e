import type { Inspection } from '#inspect/inspect.ts';
import type { Call } from '#pipeline/call.ts';
import type { Target } from '#route/plan.ts';
import type { Media } from '#wire/codec.ts';
import type { Family } from '#wire/document.ts';
import { estimatedTokens } from '#wire/usage.ts';
import type { Bounds, Quantity } from './price.ts';

/** What a call may use, known before it is dispatched. */
export interface Demand {
  /** No answer within the request's own bounds uses more. */
  readonly ceiling: Bounds;
  /** What the call is billed by: a price must cover one of these. */
  readonly quantities: readonly Quantity[];
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
export function demandOf(call: Call, inspection: Inspection, targets: readonly Target[]): Demand {
  const { mediaLength, tokens: media } = sizeOf(inspection.media);
  // Inline media are ASCII: their code units are their bytes. Tags may be longer than what they replace.
  const grown = inspection.edits.reduce((sum, edit) => sum + edit.text.length, 0);
  const textBytes = Buffer.byteLength(call.text) - mediaLength + grown;
  const estimate = estimatedTokens(textBytes + media / 4);
  const { maxOutputTokens: named, answers, units = {} } = call.ask;
  const { family } = call.codec;
  const perAnswer = WITHOUT_OUTPUT.has(family) ? 0 : Math.max(...targets.map(outputCeiling));
  return {
    ceiling: {
      inputTokens: textBytes + media,
      outputTokens: named ?? perAnswer * answers,
      ...units,
      ...(family === 'ocr' && { pages: units.pages ?? pagesAtMost(mediaLength) }),
    },
    quantities: QUANTITIES[family] ?? TOKENS,
    reservedTokens: estimate + (named ?? 0),
    estimatedInput: estimate,
  };
}

/** Input tokens of a request as it came, estimated. */
export function estimatedInput(text: string, media: readonly Media[]): number {
  const { mediaLength, tokens } = sizeOf(media);
  return estimatedTokens(Buffer.byteLength(text) - mediaLength + tokens / 4);
}

/** Code units that inline media take in a body, and the tokens of all media at most. */
function sizeOf(media: readonly Media[]): { readonly mediaLength: number; readonly tokens: number } {
  let mediaLength = 0;
  let tokens = 0;
  for (const { kind, source, length } of media) {
    if (source === 'inline') mediaLength += length;
    tokens +=
      kind === 'image' ? IMAGE_TOKENS : Math.max(length, source === 'remote' ? REMOTE_FILE_TOKENS : IMAGE_TOKENS);
  }
  return { mediaLength, tokens };
}

/** The most output tokens that are held, and asked for where a provider must be told, when the caller names none. */
export function outputCeiling({ settings }: Target): number {
  return settings?.maxOutputTokens ?? DEFAULT_MAX_OUTPUT_TOKENS;
}

const WITHOUT_OUTPUT: ReadonlySet<Family> = new Set(['embeddings', 'moderations', 'ocr']);

const TOKENS: readonly Quantity[] = ['tokens'];
const QUANTITIES: { readonly [F in Family]?: readonly Quantity[] } = {
  ocr: ['pages'],
  images: ['images', 'tokens'],
};

/** No vendor reads more pages at once, and no page takes fewer bytes than this. */
const MOST_PAGES = 1000;
const LEAST_PAGE_LENGTH = 512;

function pagesAtMost(length: number): number {
  return length === 0 ? MOST_PAGES : Math.min(MOST_PAGES, Math.ceil(length / LEAST_PAGE_LENGTH));
}
