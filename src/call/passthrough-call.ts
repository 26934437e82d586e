import type { PassedMethod } from '#/ports/provider.ts';
import type { FormPart } from '#/wire/request/multipart-form.ts';
import type { OperationObjects } from '#/wire/kept/table.ts';
import type { CallContext } from './call.ts';
import type { Limits } from '#/ports/limit-counters.ts';
import type { Quantity } from './units.ts';

/** A call that is passed on without being translated: its bytes stream both ways. // spec 1.3, 4.1 */
export interface PassthroughCall extends CallContext {
  readonly method: PassedMethod;
  /** Path and query below the provider's base address, without the prefix the gateway puts before ids. */
  readonly path: string;
  /** Slug of the provider if the call names no model; behind a gate, also together with a model. */
  readonly provider: string | undefined;
  /** A path without a surface of its own: policy must open it. */
  readonly gate?: Gate | undefined;
  /** What the call is billed by; empty: it is not billed. */
  readonly quantities: readonly Quantity[];
  /** Only with the organization's own key. // spec 4.1 */
  readonly ownKeyOnly: boolean;
  /** What it does with objects that the provider keeps. */
  readonly objects: OperationObjects | 'none';
  /** The id that its path names, as the provider knows it. */
  readonly objectId: string | undefined;
  /** Other steps of its path that may be ids. */
  readonly namedIds?: readonly string[];
  /** Ids in a JSON answer are given the provider's slug, so that later calls find their way. */
  readonly prefixIds: boolean;
  readonly body: PassthroughBody;
}

export type PassthroughBody =
  | { readonly kind: 'none' }
  | { readonly kind: 'json'; readonly text: string }
  /** A body that the gateway cannot read. */
  | {
      readonly kind: 'bytes';
      readonly bytes: AsyncIterable<Uint8Array>;
      readonly contentType: string;
      readonly length: number | undefined;
    }
  | {
      readonly kind: 'form';
      readonly parts: AsyncIterator<FormPart>;
      /** Bytes of the whole form, where they are known. */
      readonly length: number | undefined;
      /** Reserves memory for bytes to keep. Throws `GatewayError` if no memory is left. */
      readonly keep: (bytes: number) => void;
    };

/** What opens a path that has no surface of its own. // spec 1.3 */
export interface Gate {
  /** Its first word below /v1: as policies name it, and allow-lists and price books where a call names no model. */
  readonly word: string;
  /** The table of kept objects says what the call does with them. */
  readonly isKnown: boolean;
  /** It reads, or takes back: whatever it names, nothing is used. */
  readonly isFree: boolean;
}

/** What a surface is handed of the answer: one head, then bytes as they come. */
export type PassthroughAnswer =
  | {
      readonly kind: 'head';
      readonly status: number;
      readonly headers: Readonly<Record<string, string>>;
      readonly limits: Limits;
    }
  | { readonly kind: 'bytes'; readonly bytes: Uint8Array };
