import type { Call } from '#/call/call.ts';
import type { Target, Candidate } from '#/call/target.ts';
import type { Media } from '#/wire/hub/codec.ts';
import type { Edit, Family } from '#/wire/document/document.ts';
import { pagesAtMost } from '#/wire/ocr/pages.ts';
import { rankedAtMost } from '#/wire/rerank/size.ts';
import { isObject, type Json, type JsonObject } from '#/wire/document/json.ts';
import { sessionsOf } from '#/wire/responses/containers.ts';
import { askedServiceTier, estimatedTokens, tierInModes, tokenCount, type Modes } from '#/wire/answer/usage.ts';
import { MOST_TOKENS_PER_IMAGE, WITHOUT_OUTPUT, type Believable } from './plausible-usage.ts';
import { STANDARD, type Bounds } from './pricing/price.ts';
import type { Quantity } from '#/call/units.ts';

/** What a call may use, known before it is dispatched. */
export interface UsageBounds {
  /** No answer within the request's own bounds uses more. */
  readonly ceiling: Bounds;
  /** The service tier and the modes that are asked for; undefined: the ordinary ones, or whichever the vendor chooses. */
  readonly servedAs: string | undefined;
  /** What the call is billed by: a price must cover one of these. */
  readonly quantities: readonly Quantity[];
  /** Of input, reserved against tokens per minute with the likely output; corrected when settled. */
  readonly reservedTokens: number;
  /** Input tokens billed when a provider reports none. */
  readonly estimatedInput: number;
  /** What a provider may say that the call used. */
  readonly believable: Believable;
}

/** What inspection left of a request. */
export interface Inspected {
  readonly media: readonly Media[];
  readonly edits: readonly Edit[];
  /** The provider stores the earlier turns of the conversation. */
  readonly keptBefore?: boolean;
}

/** Output ceiling of a model whose configuration names none, when the caller names none either. */
const DEFAULT_MAX_OUTPUT_TOKENS = 16_384;
/** No vendor counts an image as more tokens. */
const IMAGE_TOKENS = 16_384;
const REMOTE_FILE_TOKENS = 262_144;
/** Maximum input from a conversation that the provider stores: the longest context. */
const KEPT_TOKENS = 1_048_576;
/** The lowest ceiling that every family has a word for. // wire-formats 5.1 */
const LEAST_CEILING = 16;
/** Default where the caller sets no bound: vendors have none, and searches beyond it are still billed. // ADR 0005 */
const MOST_SEARCHES = 10;
/** What vendors put before every prompt at most: instructions of their own, descriptions of tools, what a search found. */
const HIDDEN_INPUT_TOKENS = 32_768;
/** The longest answer of any model whose configuration names no length. */
const LONGEST_OUTPUT = 131_072;
/** How many tokens vendors may count beyond the requested ceiling: end tokens, frames of tool calls. */
const OVERSHOOT_TOKENS = 256;
/** More searches are believed only of a request that allows as many. */
const MOST_BELIEVED_SEARCHES = 100;
/** Members by which a request has the provider bring in text that it does not hold itself. */
const BRINGING = ['prompt', 'web_search_options', 'search_parameters'];
/** Families whose models read text, and say how much of it. */
const READS_TEXT: ReadonlySet<Family> = new Set(['chat', 'messages', 'responses', 'completions', 'embeddings']);
/** What the ceiling of an answer is called in the families of surfaces. */
const CEILINGS = new Set(['max_tokens', 'max_completion_tokens', 'max_output_tokens']);

/**
 * The most a call can use. Byte-level tokenizers make at least one byte a token, so the body's bytes bound its text
 * tokens; media have bounds of their own.
 */
export function usageBoundsOf(call: Call, inspection: Inspected, candidates: readonly Candidate[]): UsageBounds {
  const { mediaLength } = sizeOf(inspection.media);
  // Inline media are ASCII: their code units are their bytes. Tags may be longer than what they replace.
  let grown = 0;
  for (const edit of inspection.edits) grown += edit.text.length;
  let [shown, media, output, unseen] = [0, 0, 0, 0];
  let dropsTier = false;
  for (const candidate of candidates) {
    let inFiles = 0;
    for (const { textBytes } of candidate.instead) inFiles += textBytes;
    shown = Math.max(shown, inFiles);
    media = Math.max(media, mediaTokens(inspection.media, candidate));
    output = Math.max(output, outputBound(call, candidate));
    unseen = Math.max(unseen, unseenBound(call, candidate));
    dropsTier ||= candidate.losses.includes('service_tier');
  }
  const textBytes = Buffer.byteLength(call.text) - mediaLength + grown + shown;
  const { units = {} } = call.ask;
  const { family } = call.codec;
  const kept = inspection.keptBefore === true ? KEPT_TOKENS : 0;
  const serviceTier = dropsTier ? undefined : askedServiceTier(call.document.body['service_tier']);
  const modes = modesOf(call, candidates);
  const beside = besideAtMost(call.document.body);
  const ranked = family === 'rerank' ? rankedAtMost(call.document.body) : undefined;
  const queryAgain = ranked?.queryAgain ?? 0;
  const estimate = estimatedTokens(textBytes + queryAgain + media / 4);
  const ranking = ranked && { searches: ranked.mostSearches };
  const pages = family === 'ocr' ? { pages: units.pages ?? pagesAtMost(mediaLength) } : {};
  return {
    ceiling: {
      inputTokens: textBytes + media + kept + queryAgain,
      outputTokens: WITHOUT_OUTPUT.has(family) ? 0 : output,
      textOnly: kept === 0 && inspection.media.length === 0,
      ...(serviceTier !== undefined && { serviceTier }),
      ...(modes.speed === 'fast' && { fast: true }),
      ...(modes.inference_geo === 'global' && { anywhere: true }),
      ...units,
      ...beside,
      ...pages,
      ...ranking,
    },
    servedAs: tierInModes(serviceTier === STANDARD ? undefined : serviceTier, modes),
    quantities: QUANTITIES[family] ?? TOKENS,
    reservedTokens: estimate,
    estimatedInput: estimate,
    believable: {
      inputTokens:
        textBytes +
        media +
        kept +
        queryAgain +
        HIDDEN_INPUT_TOKENS +
        broughtInAtMost(call.document.body, inspection.media),
      unseenOutput: family === 'images' ? call.ask.answers * MOST_TOKENS_PER_IMAGE : unseen + OVERSHOOT_TOKENS,
      readsText: READS_TEXT.has(family),
      units: {
        ...units,
        searches: believed(beside.searches),
        fileSearches: believed(beside.fileSearches),
        containers: believed(beside.containers),
        ...pages,
        ...(ranked && { searches: 2 * ranked.mostSearches }),
      },
    },
  };
}

/** As many as a provider may say that it made where so many may be made. */
function believed(most = 0): number {
  return Math.max(MOST_BELIEVED_SEARCHES, 2 * most);
}

/** The modes in which any candidate is asked. */
function modesOf({ codec, document: { body } }: Call, candidates: readonly Candidate[]): Modes {
  if (codec.family !== 'messages') return {};
  const isKept = (name: string): boolean =>
    candidates.some(({ translation, losses }) => !translation && !losses.includes(name));
  return {
    ...(isKept('speed') && { speed: body['speed'] }),
    ...(isKept('inference_geo') && { inference_geo: body['inference_geo'] }),
  };
}

/** What the provider itself brings into a conversation: results of its tools, stored prompts, films by address. */
function broughtInAtMost(body: JsonObject, media: readonly Media[]): number {
  const { tools } = body;
  const isTheirs = (tool: Json): boolean =>
    isObject(tool) && typeof tool['type'] === 'string' && tool['type'] !== 'function' && tool['type'] !== 'custom';
  const theirs = Array.isArray(tools) && (tools as readonly Json[]).some(isTheirs);
  const brings = theirs || BRINGING.some((name) => isObject(body[name]));
  const films = media.filter(({ kind, source }) => kind !== 'image' && source === 'remote').length;
  return (films + (brings ? 1 : 0)) * KEPT_TOKENS;
}

/** Output of a candidate that may stay hidden: all of its reasoning. */
function unseenBound({ ask: { maxOutputTokens, answers } }: Call, { losses, settings }: Candidate): number {
  const isTold = maxOutputTokens !== undefined && !losses.some((what) => CEILINGS.has(what));
  return isTold ? Math.max(maxOutputTokens, LEAST_CEILING) : (settings?.maxOutputTokens ?? LONGEST_OUTPUT) * answers;
}

/** Searches that the vendor may make, as many as the caller allows, and machines that it may run code on. */
function besideAtMost(body: JsonObject): Pick<Bounds, 'searches' | 'fileSearches' | 'containers'> {
  const { tools } = body;
  if (!Array.isArray(tools)) return {};
  const most = { searches: 0, fileSearches: 0, containers: 0 };
  for (const tool of tools as readonly Json[]) {
    if (!isObject(tool) || typeof tool['type'] !== 'string') continue;
    const uses = tokenCount(tool['max_uses'] ?? body['max_tool_calls']) || MOST_SEARCHES;
    if (tool['type'].startsWith('web_search')) most.searches += uses;
    else if (tool['type'] === 'file_search') most.fileSearches += uses;
    else most.containers += sessionsOf(tool);
  }
  return Object.fromEntries(Object.entries(most).filter(([, count]) => count > 0));
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

/** The tokens of all media at most, as a candidate is sent them. */
function mediaTokens(media: readonly Media[], { instead }: Candidate): number {
  if (media.length === 0 && instead.length === 0) return 0;
  const replaced = new Set(instead.map((one) => one.media));
  const { tokens } = sizeOf(media.filter((item) => !replaced.has(item)));
  return instead.reduce((sum, { images, fileLength }) => {
    return sum + images * IMAGE_TOKENS + (fileLength > 0 ? Math.max(fileLength, IMAGE_TOKENS) : 0);
  }, tokens);
}

/** The maximum output of a candidate: the caller's limit, if the candidate receives it. */
function outputBound({ ask: { maxOutputTokens, answers } }: Call, candidate: Candidate): number {
  const unnamed = outputCeiling(candidate) * answers;
  if (maxOutputTokens === undefined) return unnamed;
  if (candidate.losses.some((what) => CEILINGS.has(what))) return Math.max(maxOutputTokens, unnamed);
  return candidate.translation ? Math.max(maxOutputTokens, LEAST_CEILING) : maxOutputTokens;
}

/** Maximum output tokens to hold, and to send to a provider that requires a limit, if the caller sets none. */
export function outputCeiling({ settings, provider, model, family }: Target): number {
  // A family that requires a ceiling gets the model's own: a lower one would cut answers that other families give in
  // full.
  const own = family === 'messages' ? provider.traits(model).maxOutputTokens : undefined;
  return settings?.maxOutputTokens ?? own ?? DEFAULT_MAX_OUTPUT_TOKENS;
}

const TOKENS: readonly Quantity[] = ['tokens'];
const QUANTITIES: { readonly [F in Family]?: readonly Quantity[] } = {
  ocr: ['pages'],
  images: ['images', 'tokens'],
  rerank: ['tokens', 'searches', 'calls'],
};
