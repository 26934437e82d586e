import type { Effort } from './canonical.ts';
import type { Json } from '../document/json.ts';

/** How the reasoning effort of a model is set. */
type ReasoningControl =
  /** There is no switch, or the model rejects it: nothing is sent. */
  | 'none'
  /** A named effort: `reasoning_effort`, `reasoning.effort`. */
  | 'effort'
  /** Messages family: `thinking: {type: adaptive}` and `output_config.effort`. */
  | 'adaptive'
  /** A number of tokens: `thinking.budget_tokens`, `thinkingBudget`. */
  | 'budget'
  /** Gemini's `thinkingLevel`. */
  | 'level';

export interface ReasoningTraits {
  readonly control: ReasoningControl;
  /** For `effort` in the converse family: the member that takes the word. Absent: `reasoning_effort`. */
  readonly field?: 'reasoning_effort' | 'reasoning.effort' | 'reasoningConfig';
  /** Asked-for effort -> the word the model knows. An effort that is not here is not sent. */
  readonly words: Readonly<Partial<Record<Effort, string>>>;
  /** For `budget`: share of `of` tokens for each effort, clamped to `least` and `most`. 0 for `none` where allowed. */
  readonly budget?: {
    readonly shares: Readonly<Partial<Record<Effort, number>>>;
    /** Shares of this many tokens; absent: of the request's output ceiling. */
    readonly of?: number;
    readonly least: number;
    readonly most?: number;
  };
  /** Thinking can be switched off. */
  readonly canDisable: boolean;
}

/**
 * Properties of one model at one provider. Data of the model catalogue (`providers/catalogue`), overridden by the
 * Provider resource; encoders and `fit` consult it, so that no model's name is known to code.
 */
export interface Traits {
  /** Most tokens of an answer. */
  readonly maxOutputTokens?: number;
  readonly vision: boolean;
  readonly audio: boolean;
  /** Takes PDF files as they are. */
  readonly documents: boolean;
  /** Takes `https` addresses of images and files; otherwise their bytes must be in the request. */
  readonly remoteMedia: boolean;
  readonly tools: boolean;
  readonly reasoning: ReasoningTraits;
  /**
   * `free`: all; `quiet`: all, but none while thinking; `either`: temperature or top_p, and neither while thinking
   * (Claude 4 to 4.6); `fixed`: none.
   */
  readonly sampling: 'free' | 'quiet' | 'either' | 'fixed';
  /** The highest temperature it takes. */
  readonly maxTemperature: number;
  /** Most stop strings; 0: none. */
  readonly maxStops: number;
  /** What the ceiling of an answer is called in the chat family. */
  readonly ceilingName: 'max_tokens' | 'max_completion_tokens';
  /** What an instruction's role is called in the chat family. */
  readonly systemRole: 'system' | 'developer';
  /** `schema`: takes a JSON schema; `object`: only "some JSON"; `tool`: needs a forced tool; `none`: only words. */
  readonly json: 'schema' | 'object' | 'tool' | 'none';
  /** Takes tools of the type `custom` in the chat family; absent: they become functions. */
  readonly customTools?: true;
  /** `tool_choice` may force a tool. */
  readonly forcedTools: boolean;
  /** An instruction may stand in the middle of the conversation. */
  readonly midSystem: boolean;
  /** The conversation may end with the beginning of the answer. */
  readonly prefill: boolean;
  /** `nine`: tool-call ids are exactly nine letters and digits. */
  readonly toolIds: 'any' | 'nine';
  /** Honours explicit cache markers; `hour`: with a ttl of an hour too; `as-written`: what it honours is its own affair. */
  readonly cacheMarks: 'none' | 'five-minutes' | 'hour' | 'as-written';
  /** Claude, wherever it is hosted: its signed thinking can be sent back. */
  readonly claude: boolean;
  /** What the chat family serves the model for, where that is not everything. */
  readonly chat?: 'without-tools' | 'nothing';
  /** In the chat family, content that is all text must be one string. */
  readonly flatText?: boolean;
  /** Top-level members of a chat request that the model needs where the request has none. */
  readonly adds?: Readonly<Record<string, Json>>;
  /** The shape in which it answers typed questions by itself; absent: it is asked for JSON. */
  readonly decides?: 'decisions' | 'systemone';
  /**
   * Top-level members of the family's request (for Gemini, of its `generationConfig` too) that this model or host refuses:
   * dropped, and named as a loss.
   */
  readonly rejects: ReadonlySet<string>;
}

/** A model of which nothing is known: modern, capable, without a switch for reasoning. */
export const UNKNOWN_MODEL: Traits = {
  vision: true,
  audio: true,
  documents: false,
  remoteMedia: true,
  tools: true,
  reasoning: { control: 'none', words: {}, canDisable: true },
  sampling: 'free',
  maxTemperature: 2,
  maxStops: 4,
  ceilingName: 'max_tokens',
  systemRole: 'system',
  json: 'schema',
  forcedTools: true,
  midSystem: true,
  prefill: true,
  toolIds: 'any',
  cacheMarks: 'none',
  claude: false,
  rejects: new Set(),
};
