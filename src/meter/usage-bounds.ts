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
import type { Quantity, Units } from '#/call/units.ts';

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
  const { media, edits, keptBefore = false } = inspection;
  const { body } = call.document;
  const { units = {} } = call.ask;
  const { family } = call.codec;
  const { mediaLength, films } = media.length === 0 ? NO_MEDIA : sizeOf(media);
  // Inline media are ASCII: their code units are their bytes. Tags may be longer than what they replace.
  let textBytes = Buffer.byteLength(call.document.text) - mediaLength;
  for (const edit of edits) textBytes += edit.text.length;
  const sent = sentAtMost(call, media, candidates);
  const ranked = family === 'rerank' ? rankedAtMost(body) : undefined;
  textBytes += sent.fileBytes + (ranked?.queryAgain ?? 0);
  const estimate = estimatedTokens(textBytes + sent.mediaTokens / 4);
  const kept = keptBefore ? KEPT_TOKENS : 0;
  const inputTokens = textBytes + sent.mediaTokens + kept;
  const hasTier = body['service_tier'] !== undefined && !sent.dropsTier;
  const serviceTier = hasTier ? askedServiceTier(body['service_tier']) : undefined;
  const modes = family === 'messages' ? modesOf(body, candidates) : NO_MODES;
  const { beside, brings } = doneByVendor(body);
  const pages = family === 'ocr' ? { pages: units.pages ?? pagesAtMost(mediaLength) } : {};
  return {
    ceiling: {
      inputTokens,
      outputTokens: WITHOUT_OUTPUT.has(family) ? 0 : sent.output,
      textOnly: !keptBefore && media.length === 0,
      ...(serviceTier !== undefined && { serviceTier }),
      ...(modes.speed === 'fast' && { fast: true }),
      ...(modes.inference_geo === 'global' && { anywhere: true }),
      ...units,
      ...beside,
      ...pages,
      ...(ranked && { searches: ranked.mostSearches }),
    },
    servedAs:
      hasTier || modes !== NO_MODES
        ? tierInModes(serviceTier === STANDARD ? undefined : serviceTier, modes)
        : undefined,
    quantities: QUANTITIES[family] ?? TOKENS,
    reservedTokens: estimate,
    estimatedInput: estimate,
    believable: {
      inputTokens: inputTokens + HIDDEN_INPUT_TOKENS + (films + (brings ? 1 : 0)) * KEPT_TOKENS,
      unseenOutput:
        family === 'images' ? call.ask.answers * MOST_TOKENS_PER_IMAGE : sent.unseenOutput + OVERSHOOT_TOKENS,
      readsText: READS_TEXT.has(family),
      units: {
        ...units,
        ...(beside === NOTHING_BESIDE ? BELIEVED_ANYWAY : believedBeside(beside)),
        ...pages,
        ...(ranked && { searches: 2 * ranked.mostSearches }),
      },
    },
  };
}

/** As many as a provider may say that it made where none may be made. */
const BELIEVED_ANYWAY = {
  searches: MOST_BELIEVED_SEARCHES,
  fileSearches: MOST_BELIEVED_SEARCHES,
  containers: MOST_BELIEVED_SEARCHES,
};

/** The same where so many may be made. */
function believedBeside({ searches = 0, fileSearches = 0, containers = 0 }: DoneByVendor['beside']): Units {
  const believed = (most: number): number => Math.max(MOST_BELIEVED_SEARCHES, 2 * most);
  return { searches: believed(searches), fileSearches: believed(fileSearches), containers: believed(containers) };
}

/** The most that any candidate is sent, and what it may answer. */
interface Sent {
  /** UTF-8 bytes of text in place of files. */
  fileBytes: number;
  mediaTokens: number;
  /** The caller's limit, where the candidate receives it. */
  output: number;
  /** Output that may stay hidden: all of its reasoning. */
  unseenOutput: number;
  /** One of them does not receive the service tier. */
  dropsTier: boolean;
}

function sentAtMost(
  { ask: { maxOutputTokens, answers } }: Call,
  media: readonly Media[],
  candidates: readonly Candidate[],
): Sent {
  const most: Sent = { fileBytes: 0, mediaTokens: 0, output: 0, unseenOutput: 0, dropsTier: false };
  for (const candidate of candidates) {
    const { instead, losses, settings, translation } = candidate;
    let fileBytes = 0;
    for (const { textBytes } of instead) fileBytes += textBytes;
    most.fileBytes = Math.max(most.fileBytes, fileBytes);
    if (media.length > 0 || instead.length > 0)
      most.mediaTokens = Math.max(most.mediaTokens, mediaTokens(media, candidate));
    let isTold = maxOutputTokens !== undefined;
    for (const what of losses) {
      if (CEILINGS.has(what)) isTold = false;
      if (what === 'service_tier') most.dropsTier = true;
    }
    const told = Math.max(maxOutputTokens ?? 0, LEAST_CEILING);
    const limit = translation ? told : maxOutputTokens!;
    most.output = Math.max(
      most.output,
      isTold ? limit : Math.max(maxOutputTokens ?? 0, outputCeiling(candidate) * answers),
    );
    const unseen = isTold ? told : (settings?.maxOutputTokens ?? LONGEST_OUTPUT) * answers;
    most.unseenOutput = Math.max(most.unseenOutput, unseen);
  }
  return most;
}

const NO_MODES: Modes = {};

/** The modes in which any candidate is asked. */
function modesOf(body: JsonObject, candidates: readonly Candidate[]): Modes {
  const isKept = (name: string): boolean =>
    candidates.some(({ translation, losses }) => !translation && !losses.includes(name));
  return {
    ...(isKept('speed') && { speed: body['speed'] }),
    ...(isKept('inference_geo') && { inference_geo: body['inference_geo'] }),
  };
}

/** What the vendor may do by itself. */
interface DoneByVendor {
  /** Searches, as many as the caller allows, and machines that it runs code on. */
  readonly beside: Pick<Bounds, 'searches' | 'fileSearches' | 'containers'>;
  /** It brings text into the conversation: results of its tools, stored prompts. */
  readonly brings: boolean;
}

const NOTHING_BESIDE: DoneByVendor['beside'] = {};

function doneByVendor(body: JsonObject): DoneByVendor {
  let brings = false;
  for (const name of BRINGING) brings ||= isObject(body[name]);
  const { tools } = body;
  if (!Array.isArray(tools)) return { beside: NOTHING_BESIDE, brings };
  const most = { searches: 0, fileSearches: 0, containers: 0 };
  for (const tool of tools as readonly Json[]) {
    if (!isObject(tool) || typeof tool['type'] !== 'string') continue;
    brings ||= tool['type'] !== 'function' && tool['type'] !== 'custom';
    const uses = tokenCount(tool['max_uses'] ?? body['max_tool_calls']) || MOST_SEARCHES;
    if (tool['type'].startsWith('web_search')) most.searches += uses;
    else if (tool['type'] === 'file_search') most.fileSearches += uses;
    else most.containers += sessionsOf(tool);
  }
  return { beside: Object.fromEntries(Object.entries(most).filter(([, count]) => count > 0)), brings };
}

/** Input tokens of a request as it came, estimated. */
export function estimatedInput(text: string, media: readonly Media[]): number {
  const { mediaLength, tokens } = sizeOf(media);
  return estimatedTokens(Buffer.byteLength(text) - mediaLength + tokens / 4);
}

interface MediaSize {
  /** Code units that inline media take in a body. */
  readonly mediaLength: number;
  /** Of all media, at most. */
  readonly tokens: number;
  /** Files other than images that the provider fetches: it brings their content into the conversation. */
  readonly films: number;
}

const NO_MEDIA: MediaSize = { mediaLength: 0, tokens: 0, films: 0 };

function sizeOf(media: readonly Media[]): MediaSize {
  let [mediaLength, tokens, films] = [0, 0, 0];
  for (const { kind, source, length } of media) {
    if (source === 'inline') mediaLength += length;
    if (kind !== 'image' && source === 'remote') films++;
    tokens +=
      kind === 'image' ? IMAGE_TOKENS : Math.max(length, source === 'remote' ? REMOTE_FILE_TOKENS : IMAGE_TOKENS);
  }
  return { mediaLength, tokens, films };
}

/** The tokens of all media at most, as a candidate is sent them. */
function mediaTokens(media: readonly Media[], { instead }: Candidate): number {
  const replaced = new Set(instead.map((one) => one.media));
  const { tokens } = sizeOf(media.filter((item) => !replaced.has(item)));
  return instead.reduce((sum, { images, fileLength }) => {
    return sum + images * IMAGE_TOKENS + (fileLength > 0 ? Math.max(fileLength, IMAGE_TOKENS) : 0);
  }, tokens);
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
