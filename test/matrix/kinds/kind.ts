import type { ExitFamily } from '../exits/read-asked.ts';
import type { Framing } from '../stand-in/framing.ts';
import type { Body } from '../vocabulary.ts';

/** Where and how a chat vendor tells its usage; `silent`: not in streams. */
export type UsageStyle = 'openai' | 'deepseek' | 'xai' | 'mistral' | 'groq' | 'silent';

/** What the matrix holds of one kind of provider: how it is configured, reached and asked, from its documentation. */
export interface Kind {
  /** The provider's slug, and the first segment of its address at the stand-in. */
  readonly name: string;
  /** Below the slug. */
  readonly base: string;
  /** Fields of the Provider resource beside slug, address and credentials. */
  readonly spec: Body;
  readonly credential: { readonly type: string; readonly secret: string };
  /** Model id behind the slug. */
  readonly model: string;
  /** What the provider knows the model by. */
  readonly upstream: string;
  /** The family that foreign surfaces are translated to. */
  readonly exit: ExitFamily;
  /** Surfaces that it is asked in as they are. */
  readonly native: readonly ('chat' | 'messages' | 'responses')[];
  /** Below the slug. */
  path(family: ExitFamily, stream: boolean): string;
  readonly framing: Framing;
  /** The header that proves who asks, and what it looks like. */
  readonly auth: readonly [string, RegExp];
  /** The body names the model and whether to stream. */
  readonly inBody: readonly ('model' | 'stream')[];
  /** What high effort is told as, when translated; `undefined`: it is lost. */
  readonly effort: Body | undefined;
  /** What is told when a surface of the provider's own family asks for it; absent: as it was written. */
  readonly nativeEffort?: Body;
  /** Thinking is told as a budget, by clients too. */
  readonly budget?: true;
  /** How the answer is held to a schema: by it, to any JSON, or in words alone. */
  readonly json: 'schema' | 'object' | 'words';
  readonly images: boolean;
  readonly documents: boolean;
  readonly stops: boolean;
  /** In the chat family. */
  readonly systemRole: 'system' | 'developer';
  readonly ceiling: 'max_tokens' | 'max_completion_tokens';
  /** High effort goes without a ceiling. */
  readonly uncapped?: true;
  /** In its own chat family, what an assistant thought is taken back. */
  readonly takesThoughts?: true;
  /** Ids of calls are nine letters and digits. */
  readonly nine?: true;
  /** It gives its calls no ids. */
  readonly callsHaveNoIds?: true;
  /** The protocol's version, where it stands in the body. */
  readonly version?: string;
  /** Gets the body as it was written. */
  readonly untouched?: true;
  /** Members of a body that the vendor answers with an error. // wire-formats 1.5 */
  readonly never: readonly string[];
  readonly usage: UsageStyle;
  /** What its answers call their thoughts; absent: `reasoning_content`. */
  readonly thoughts?: 'reasoning';
  /**
   * How its models decline: in `words` of their own, cut off by a `filter`, or `blocked` before the first word.
   */
  readonly refusal: 'words' | 'filter' | 'blocked';
  /** It holds no conversations: every surface answers that there is no such model. */
  readonly refused?: string;
}
