import type { Family } from '../document/document.ts';
import type { Json, JsonObject } from '../document/json.ts';
import type { Usage } from '../answer/usage.ts';

/**
 * The hub that wire families are translated through. Only what crosses from one family to another goes through here;
 * within a family the original bytes travel. What a family cannot express is dropped by its encoder and named as a loss.
 */

/**
 * A model's evidence for its own reasoning, opaque to everyone else: a thinking signature, a `thoughtSignature`,
 * encrypted reasoning. Byte-exact to the family whose models made it, or dropped. Claude's signatures are of the family
 * `messages` wherever the model is hosted, also when read from `converse`. // spec 4.5.4
 */
export interface Proof {
  readonly family: Family;
  readonly value: string;
}

/** A request to cache the prompt up to here. An unknown `ttl` is kept as written. // spec 4.3.2 */
export interface CacheMark {
  readonly ttl?: string;
}

interface Markable {
  readonly cache?: CacheMark;
}

export interface TextPart extends Markable {
  readonly type: 'text';
  readonly text: string;
}

/** The model declined to answer, in its own words. */
export interface RefusalPart {
  readonly type: 'refusal';
  readonly text: string;
}

/** Content that is not text. `data` is base64 (without a `data:` prefix). */
export interface MediaPart extends Markable {
  readonly type: 'media';
  readonly kind: 'image' | 'audio' | 'document';
  /** IANA media type, lower case, without parameters: `image/png`, `application/pdf`, `text/plain`, `audio/wav`. */
  readonly mediaType: string;
  readonly source: { readonly data: string } | { readonly url: string };
  /** File name or title, if one was given. */
  readonly name?: string;
  /** Asked-for image resolution (`low`, `high`, `auto`). */
  readonly detail?: string;
}

export interface ToolCallPart extends Markable {
  readonly type: 'tool-call';
  readonly id: string;
  readonly name: string;
  /** JSON source text as the model wrote it: may be invalid, may be empty (which means `{}`). */
  readonly argumentsJson: string;
  /** What Gemini signs its calls with. */
  readonly proof?: Proof;
}

export interface ToolResultPart extends Markable {
  readonly type: 'tool-result';
  /** Id of the call it answers. */
  readonly id: string;
  /** Name of the tool, where the family tells it or the request's own calls do. */
  readonly name?: string;
  readonly parts: readonly Part[];
  readonly isError: boolean;
}

export interface ReasoningPart {
  readonly type: 'reasoning';
  /** May be empty while the proof is not: reasoning that is not shown. */
  readonly text: string;
  readonly proof?: Proof;
}

/** A block that only its own family understands: sent to it unchanged, dropped for all others, never masked. */
interface OpaquePart {
  readonly type: 'opaque';
  readonly family: Family;
  /** Its type in that family's words, to name the loss by. */
  readonly name: string;
  readonly value: Json;
}

export type Part = TextPart | RefusalPart | MediaPart | ToolCallPart | ToolResultPart | ReasoningPart | OpaquePart;

/**
 * One turn of the conversation. Results of tools are parts of a `user` turn and come before its other parts; `system` is
 * an instruction in the middle of the conversation (leading ones are `ModelRequest.system`). Neighbouring turns of one
 * role are merged by the decoder.
 */
export interface Turn {
  readonly role: 'user' | 'assistant' | 'system';
  readonly parts: readonly Part[];
}

export interface Tool extends Markable {
  readonly name: string;
  readonly description?: string;
  /** JSON Schema of the arguments; absent where the client gave none. */
  readonly parameters?: JsonObject;
  readonly strict?: boolean;
}

export type ToolChoice =
  | { readonly type: 'auto' | 'none' | 'required' }
  | { readonly type: 'tool'; readonly name: string };

/** From the least to the most. `none`: no reasoning at all. */
export type Effort = 'none' | 'minimal' | 'low' | 'medium' | 'high' | 'xhigh' | 'max';

/** How the answer must look, if it must. */
export type AnswerFormat =
  | { readonly type: 'json' }
  | {
      readonly type: 'json-schema';
      readonly name: string;
      readonly description?: string;
      readonly schema: JsonObject;
      readonly strict?: boolean;
    };

/** A request for one answer, in no family's words. */
export interface ModelRequest {
  /** As the client wrote it. Encoders write it where their family has it; the pipeline renames it afterwards. */
  readonly model: string;
  readonly stream: boolean;
  readonly system: readonly TextPart[];
  /** Never empty; the first is no `assistant` turn unless the client began with one. */
  readonly turns: readonly Turn[];
  readonly tools: readonly Tool[];
  readonly toolChoice?: ToolChoice;
  /** False: at most one call an answer. */
  readonly parallelTools?: boolean;
  readonly maxOutputTokens?: number;
  readonly temperature?: number;
  readonly topP?: number;
  readonly topK?: number;
  readonly stop: readonly string[];
  readonly seed?: number;
  readonly presencePenalty?: number;
  readonly frequencyPenalty?: number;
  readonly format?: AnswerFormat;
  /** Absent: the model's own default. `budget`: tokens, where the client counted them itself; `effort` is set then too. */
  readonly reasoning?: { readonly effort: Effort; readonly budget?: number };
  /** Opaque id of the end user, as the client gave it. */
  readonly user?: string;
  readonly serviceTier?: string;
  readonly promptCacheKey?: string;
}

/** Why an answer ended. */
export type FinishReason =
  | 'stop'
  | 'stop-sequence'
  | 'length'
  /** The context window is full. */
  | 'context'
  | 'tool-calls'
  /** The model declined. */
  | 'refusal'
  /** A filter of the provider's cut in. */
  | 'filter'
  /** A server-side tool paused the turn. */
  | 'pause'
  /** The provider could not read the output of its own model. */
  | 'malformed';

export interface Finish {
  readonly reason: FinishReason;
  /** The string of the request that ended the answer, where the family tells it. */
  readonly stopSequence?: string;
}

/** A whole answer, in no family's words. */
export interface ModelAnswer {
  /** The provider's id for it. */
  readonly id?: string;
  readonly parts: readonly Part[];
  readonly finish: Finish;
  readonly usage?: Usage;
}

/**
 * One thing a stream says. Parts open, grow and close; several may be open at once (chat tool calls), `index` tells them
 * apart and counts from 0 in the order they opened. `usage` may come several times: the last one holds.
 */
export type StreamEvent =
  | { readonly type: 'start'; readonly id?: string; readonly usage?: Usage }
  /** Opens with the known facts: an empty text, a call with its name, or a whole opaque block. */
  | { readonly type: 'part-start'; readonly index: number; readonly part: Part }
  /** Continues `text`, or `argumentsJson` of a call. */
  | { readonly type: 'part-delta'; readonly index: number; readonly text: string }
  | { readonly type: 'part-proof'; readonly index: number; readonly proof: Proof }
  | { readonly type: 'part-end'; readonly index: number }
  | { readonly type: 'usage'; readonly usage: Usage }
  | { readonly type: 'finish'; readonly finish: Finish }
  /** The provider's own words, bounded. Nothing that counts follows. */
  | { readonly type: 'error'; readonly message: string; readonly code?: string }
  /** Something this reader does not know, or that contradicts the family's own rules. Facts only, never content. */
  | { readonly type: 'warning'; readonly message: string }
  /** The family's own end marker. A stream without it is complete when it has finished. */
  | { readonly type: 'end' };

/** Told by name what a translation drops: `thinking`, `top_k`, `tools[web_search]`. Never content. */
export type Lose = (what: string) => void;
