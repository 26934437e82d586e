import type { Family } from '#/wire/document/document.ts';

/** What a vendor takes in the requests of one family. */
export interface FamilyRules {
  /** Top-level members it takes; absent: all. */
  readonly members?: ReadonlySet<string>;
  /** Top-level members it refuses. */
  readonly refuses?: readonly string[];
  /** Its own names for members: `seed` is its `random_seed`. */
  readonly names?: Readonly<Record<string, string>>;
  /** Its own words for service tiers; a tier that is not here is not sent. Absent: all are. */
  readonly tiers?: Readonly<Record<string, string>>;
  /** Other vendors' words for a tier that it has under its own; a tier that is not here is sent as it is. */
  readonly foreignTiers?: Readonly<Record<string, string>>;
}

/** The messages vendor's word, as it is in OpenAI's families. // wire-formats 2.7 */
export const OPENAI_TIERS: Readonly<Record<string, string>> = { standard_only: 'default' };

/** What a vendor takes in chat requests. */
export interface ChatRules extends FamilyRules {
  /** Members of a message it takes; absent: all. */
  readonly messageMembers?: ReadonlySet<string>;
  /** Only the result of a tool may have a `name`. */
  readonly namesToolsOnly?: boolean;
  /**
   * `stream_options`: `usage` takes `include_usage` and nothing else, `any` the rest too, `unpadded` can leave out the
   * padding of frames, `none` refuses it.
   */
  readonly streamOptions: 'any' | 'unpadded' | 'usage' | 'none';
  /** Every function must have parameters. */
  readonly needsParameters?: boolean;
}

/** Rules by family; a family that is not here is sent as it is. */
export type VendorRules = Readonly<Partial<Record<Exclude<Family, 'chat'>, FamilyRules>>> & {
  readonly chat: ChatRules;
  /** Nothing is changed but what metering needs, and what the configuration says that a model refuses. */
  readonly untouched?: boolean;
};

/** What strict OpenAI-compatible vendors have in common; each adds its own members. // wire-formats 1.5 */
const COMMON = [
  ...['model', 'messages', 'stream', 'stream_options', 'max_tokens', 'max_completion_tokens', 'temperature', 'top_p'],
  ...['n', 'stop', 'seed', 'tools', 'tool_choice', 'parallel_tool_calls', 'response_format', 'user'],
  ...['presence_penalty', 'frequency_penalty', 'reasoning_effort'],
];

/** An allow-list of chat members: the common ones and these. */
export function chatMembers(...more: string[]): ReadonlySet<string> {
  return new Set([...COMMON, ...more]);
}

/** An allow-list of message members: the common ones and these. */
export function messageMembers(...more: string[]): ReadonlySet<string> {
  return new Set(['role', 'content', 'name', 'tool_calls', 'tool_call_id', ...more]);
}

/** Members of an embeddings request that every vendor takes. */
export const EMBEDDING_MEMBERS: ReadonlySet<string> = new Set([
  'model',
  'input',
  'encoding_format',
  'dimensions',
  'user',
]);
