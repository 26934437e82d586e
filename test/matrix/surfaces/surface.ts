import type { Case, Ending } from '../cases.ts';
import type { Body, Counts, Told } from '../vocabulary.ts';

/** How clients of one surface ask for a case and read the answer. */
export interface Surface {
  readonly name: string;
  readonly family: 'chat' | 'messages' | 'responses';
  readonly path: string;
  /** What its answers' ids look like, where they are the gateway's own. */
  readonly id: RegExp;
  /** The headers that carry a client's key, and those that its clients always send. */
  headers(key: string): Readonly<Record<string, string>>;
  /** Its requests have stop strings. */
  readonly stops: boolean;
  /** `thinking`: how its clients tell a model to think that has several ways. */
  ask(one: Case, model: string, stream: boolean, thinking?: 'budget'): Body;
  /** Throws when it is no answer of the surface's. */
  read(bytes: Uint8Array): Told;
  /** Throws when the events are not in the surface's order. */
  readStream(bytes: Uint8Array): Told;
  /** What the surface's usage says. */
  counts(usage: Body): Counts;
  /** The surface's word for an ending; `refusedInWords`: the model itself declined, in a text. */
  finishes(ending: Ending, refusedInWords: boolean): string;
  /** An error envelope. */
  error(body: unknown): { readonly type: unknown; readonly message: unknown };
  readonly errorType: Readonly<Record<number, string>>;
  /** The type of an error event in a stream. */
  readonly failed: string;
  /** The same where the provider says that it has too much to do. */
  readonly overloaded: string;
}
