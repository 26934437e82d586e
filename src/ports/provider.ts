import type { CredentialConfig, ProviderConfig } from '#/config/snapshot.ts';
import type { Lose } from '#/wire/hub/canonical.ts';
import type { CloudDialect } from '#/wire/request/cloud-dialect.ts';
import type { Edit, Family, WireDocument } from '#/wire/document/document.ts';
import type { Traits } from '#/wire/hub/traits.ts';

/** A request to a provider. */
export interface Outgoing {
  readonly family: Family;
  /** Model id as the provider knows it (`Provider.upstreamModel`). */
  readonly model: string;
  readonly stream: boolean;
  /** The whole body in the family's words, with the model renamed and `fit` applied. */
  readonly body: string;
  /** The client's headers, lower case: a provider forwards those its protocol has (beta flags), never credentials. */
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  /** As of `Ask`. */
  readonly dialect?: CloudDialect;
  /** The account to ask with, one of the configuration's; undefined: it has none. */
  readonly credential: CredentialConfig | undefined;
  /** Milliseconds to the whole answer, or for a stream to its first byte and between any two. */
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

/** How a call that is passed on may be made. */
export type PassedMethod = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** A call that is passed on without being understood: audio, video, files. Bodies stream both ways. */
export interface Passing {
  readonly method: PassedMethod;
  /** Path and query below the provider's base address, beginning with `/`: `/audio/speech`. */
  readonly path: string;
  readonly contentType: string | undefined;
  readonly body: AsyncIterable<Uint8Array> | undefined;
  /** As of `Outgoing`; absent: the gateway asks by itself. */
  readonly headers?: Outgoing['headers'];
  /** As of `Outgoing`. */
  readonly credential: CredentialConfig | undefined;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

/** How a vendor is asked for its models. */
export type ListAsk = Pick<Passing, 'credential' | 'timeoutMs' | 'signal'>;

/** The answer: the head, and the body to be read once, in whole or in pieces. */
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

/** Facts about the call besides its body that `fit` may need. */
export interface FitContext {
  /** Model id without the provider prefix. */
  readonly model: string;
  readonly stream: boolean;
  /** The client asked for the usage frame of a stream. */
  readonly includeUsage: boolean;
  /** Explicit prompt caching is on for the organization. // spec 4.3.3 */
  readonly promptCache: boolean;
  /** As of `Ask`. */
  readonly dialect?: CloudDialect;
  /** Stands for the organization towards a provider that caches by key: derived, never its name. // spec 4.3.3 */
  readonly organizationCacheKey: string;
}

/** What a request asks of a model that not every family of a provider has. */
interface Needs {
  readonly tools: boolean;
}

/** What a provider says in an answer that is an error. */
export interface ProviderFailure {
  /** Its own words, bounded; undefined when it has none. */
  readonly message: string | undefined;
  /** How long it asks us to wait, in milliseconds. */
  readonly retryAfterMs: number | undefined;
  /** Whether asking again can help; undefined: as the status says. */
  readonly retryable: boolean | undefined;
  /** The status it means, where it differs from the one it sent (a refusal inside a 200, a kind told in a header). */
  readonly status: number | undefined;
}

/** A provider as the pipeline sees it: the families it speaks, its peculiarities, and a way to ask it. */
export interface Provider {
  readonly config: ProviderConfig;
  /**
   * Families in which it serves this model, the one to translate to first. Empty: it does not serve it. `needs`: what the
   * request asks for, where a family serves the model for some requests only; absent: families that serve all of them.
   */
  families(model: string, needs?: Needs): readonly Family[];
  /** Ids of models that its vendor offers, as far as the model catalogue knows; absent: none is known. */
  readonly known?: readonly string[];
  /**
   * Fetches the ids of the models that an account can call from its vendor: names only. Absent if the vendor
   * has no list. Rejects with `UpstreamFault`.
   */
  list?(ask: ListAsk): Promise<readonly string[]>;
  /** Whether it can answer for this model now, where that is known without asking it; absent: it is not known. */
  answers?(model: string): boolean;
  /** What it knows the model by: a deployment, an inference profile; else the model id. */
  upstreamModel(model: string): string;
  /** Where a call for this model is processed: what the configuration says, unless the model's id says worse. */
  jurisdiction(model: string): string;
  traits(model: string): Traits;
  /**
   * Edits this provider and model need in a body of a family it speaks, whichever mode it is sent in: members it
   * would reject, markers it has no use for, names it has for things. Does not rename the model.
   */
  fit(document: WireDocument, context: FitContext, lose: Lose): readonly Edit[];
  /** Resolves when the answer's head is there. Streams come as server-sent events. Rejects with `UpstreamFault`. */
  send(outgoing: Outgoing): Promise<Incoming>;
  /** Absent where it has nothing to pass on. */
  pass?(passing: Passing): Promise<Incoming>;
  /** Reads the head and body of an answer that is an error. */
  readFailure(incoming: Pick<Incoming, 'status' | 'header'>, body: string): ProviderFailure;
}

/**
 * `timeout`: no answer in time; `connect`: never reached; `reset`: cut off; `protocol`: not HTTP or not this family;
 * `too_large`: more than an answer may be; `aborted`: by us.
 */
export type UpstreamFaultKind = 'timeout' | 'connect' | 'reset' | 'protocol' | 'too_large' | 'aborted';

/** What a fault of an answer says that went on and on, a byte now and then. */
export class AnswerWithoutEnd extends Error {
  override readonly name = 'AnswerWithoutEnd';
  readonly seconds: number;

  constructor(seconds: number) {
    super(`an answer lasts ${seconds} seconds at most`);
    this.seconds = seconds;
  }
}

/** A provider that could not be reached or stopped answering. The message names the fault, never an address or content. */
export class UpstreamFault extends Error {
  override readonly name = 'UpstreamFault';
  readonly kind: UpstreamFaultKind;
  /** Whether the request was sent, or may have been: all but what failed before there was a connection. */
  sent: boolean;

  constructor(kind: UpstreamFaultKind, message: string, options?: ErrorOptions) {
    super(message, options);
    this.kind = kind;
    this.sent = kind !== 'connect';
  }
}
