import type { ProviderConfig } from '#config/snapshot.ts';
import type { Edit, Family, WireDocument } from '#wire/document.ts';

/** What is sent to a provider. */
export interface Outgoing {
  readonly family: Family;
  /** Model id without the provider prefix. */
  readonly model: string;
  readonly stream: boolean;
  readonly body: string;
  /** Milliseconds to the whole answer, or for a stream to its first byte and between any two. */
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

/** What comes back: the head, and the body to be read once, in whole or in pieces. */
export interface Incoming {
  readonly status: number;
  /** Lower-case name. */
  header(name: string): string | undefined;
  /** The whole body. Rejects with `UpstreamFault`. */
  text(limit: number): Promise<string>;
  /** The body as it arrives, with back-pressure. Rejects with `UpstreamFault`. */
  chunks(): AsyncIterable<Uint8Array>;
  /** Drops the connection if the body is not all read. */
  close(): void;
}

/** A provider as the corridor sees it: the families it speaks, its peculiarities, and a way to ask it. */
export interface Provider {
  readonly config: ProviderConfig;
  readonly speaks: readonly [Family, ...Family[]];
  /** Whether a stream may be asked for its usage frame: some vendors refuse the option and send usage anyway. */
  readonly usageOption: boolean;
  /** Edits this provider needs in any request. */
  quirks(document: WireDocument): readonly Edit[];
  /** Resolves when the answer's head is there. Rejects with `UpstreamFault`. */
  send(outgoing: Outgoing): Promise<Incoming>;
}

/** `timeout`: no answer in time; `connect`: never reached; `reset`: cut off; `protocol`: not HTTP or not this family; `aborted`: by us. */
export type UpstreamFaultKind = 'timeout' | 'connect' | 'reset' | 'protocol' | 'aborted';

/** A provider that could not be reached or stopped answering. The message names the fault, never an address or content. */
export class UpstreamFault extends Error {
  override readonly name = 'UpstreamFault';
  readonly kind: UpstreamFaultKind;

  constructor(kind: UpstreamFaultKind, message: string, options?: ErrorOptions) {
    super(message, options);
    this.kind = kind;
  }
}
