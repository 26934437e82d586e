import type { CustomTerm, Snapshot, VirtualKeyConfig } from '#/config/snapshot.ts';
import type { Ask, Codec } from '#/wire/hub/codec.ts';
import type { Limits } from '#/ports/limit-counters.ts';
import type { Edit, WireDocument } from '#/wire/document/document.ts';
import type { ToolServers } from '#/wire/request/tool-servers.ts';
import type { Slices } from '#/runtime/loop-slices.ts';

/** The endpoints, as audit rows name them. */
export type Surface =
  | 'chat'
  | 'messages'
  | 'responses'
  | 'completions'
  | 'embeddings'
  | 'moderations'
  | 'rerank'
  | 'ocr'
  | 'documents'
  | 'images'
  | 'systemone'
  | 'decisions'
  | 'audio'
  | 'videos'
  | 'files'
  | 'mcp'
  | 'passthrough';

/** The facts of a request as soon as its caller is known: every audit row begins with it. */
export interface CallContext {
  /** UUIDv7; the request id of headers, envelopes and the audit trail. */
  readonly id: string;
  /** Milliseconds since the epoch. */
  readonly startedAt: number;
  /** The caller. Its workload and organization, and the policy in force, hang on it. */
  readonly key: VirtualKeyConfig;
  readonly snapshot: Snapshot;
  readonly surface: Surface;
  /** The person that an access token names, as rows name persons; absent: the caller has a key. */
  readonly person?: string | undefined;
  /** The request that the gateway makes this call for; absent: a client's own call. */
  readonly parent?: string;
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  /** Aborted when the client hangs up, or when the process ends its grace. */
  readonly signal: AbortSignal;
}

/** A request to an endpoint, without its unread body, which steps take separately. */
export interface CallRequest extends CallContext {
  readonly codec: Codec;
  /** Takes memory for bytes that are kept to the end of the request besides its body. Throws when no memory is left. */
  readonly keep?: ((bytes: number) => void) | undefined;
}

/** A request that was read and found well-formed. */
export interface Call extends CallRequest {
  readonly document: WireDocument;
  readonly ask: Ask;
  /** It is for a model of the gateway itself, and stays here (`staysHere`). */
  readonly isLocal: boolean;
  /** Servers of tools that the provider is to call, where policy lets it. */
  readonly toolServers: ToolServers | undefined;
  /** Terms of the `gw` extension. */
  readonly remove: readonly CustomTerm[];
  /** Edits that every provider's copy of the request gets. */
  readonly edits: readonly Edit[];
  /** How long the provider may take to answer. */
  readonly timeoutMs: number;
  /** Those that work on its text takes; absent: it is small. */
  readonly slices?: Slices | undefined;
  /** Its place among large calls in work; absent: it is small. */
  readonly place?: Disposable | undefined;
}

/**
 * Parts that the pipeline hands to a surface, in this order: `accepted` once only the provider can still refuse the
 * call; one head; then the body. A buffered answer has one body; a stream has one per upstream read, of whole events.
 */
export type Answer =
  | {
      readonly kind: 'accepted';
      readonly stream: boolean;
      readonly headers: Readonly<Record<string, string>>;
      readonly limits: Limits;
    }
  /** `headers`: those of the answer so far. */
  | { readonly kind: 'head'; readonly headers?: Readonly<Record<string, string>> }
  | { readonly kind: 'body'; readonly text: string };

/** Accepts the next part of an answer. False: the client no longer waits for the rest. */
export type Emit = (answer: Answer) => boolean | Promise<boolean>;

/** Why a call's signal was aborted. */
export class ClientHungUp extends Error {
  override readonly name = 'ClientHungUp';
}

/** The client has said that it no longer wants the answer: nothing of it is waited for. */
export class ClientCancelled extends ClientHungUp {}

/** The process is ending and its grace for open streams is over. // spec 6.1.5 */
export class ServerRestarting extends Error {
  override readonly name = 'ServerRestarting';
}
