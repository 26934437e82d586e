import type { ModelRequest } from '#/wire/hub/canonical.ts';
import type { RouterDecision } from '#/wire/systemone/decision.ts';
import type { RouterState } from '#/wire/systemone/state.ts';

/** What a local model is for. */
export type ModelKind = 'names' | 'router' | 'typed';

/** A name in a text: UTF-16 offsets, end exclusive. */
export interface FoundName {
  readonly start: number;
  readonly end: number;
  /** `PERSON_NAME`, `LOCATION`, `ORGANIZATION` or `ADDRESS`. */
  readonly category: string;
}

/** What the router makes of a request: calibrated probabilities. // spec 2.6 */
export interface RouterOpinion {
  /** That it takes several steps that depend on each other. */
  readonly reasoning: number;
  /** Of the levels 0 trivial, 1 simple, 2 moderate, 3 hard. */
  readonly complexity: readonly number[];
  /** By task: `code`, `writing`, … */
  readonly task: Readonly<Record<string, number>>;
  /** SHA-256 of the weights. */
  readonly revision: string;
}

/** One of the things that a question may be answered with, as the model reads it. */
interface TypedOption {
  readonly name: string;
  readonly description?: string;
}

/** A question about a state. A proposition (`noul`) has two options: that it holds, and that it does not. */
export interface TypedQuestion {
  readonly type: 'noul' | 'choice' | 'score';
  readonly instructions: string;
  readonly options: readonly TypedOption[];
}

/** The answers to a set of questions, in their order. */
export interface TypedDecision {
  readonly answers: readonly {
    /** Of the question's options, in their order; they add up to 1. */
    readonly probabilities: readonly number[];
    /** How much the answer is to be relied on, 0 to 1; undefined where the model does not say. */
    readonly answerConfidence: number | undefined;
  }[];
  /** SHA-256 of the weights. */
  readonly revision: string;
}

/** What a state is: JSON, read here as it is. */
export type TypedState = string | readonly unknown[] | Readonly<Record<string, unknown>>;

/** Which models an installation has. */
export interface ModelsThere {
  /** Whether or not they can be asked. */
  readonly installed: ReadonlySet<ModelKind>;
  /** They can be asked now. */
  readonly ready: ReadonlySet<ModelKind>;
  /** SHA-256 of their weights, of those that say. */
  readonly revisions: ReadonlyMap<ModelKind, string>;
}

/**
 * Models on the installation's own machines; nothing leaves through them. All verbs reject with `ModelFault`, or with the
 * signal's reason. // spec 4.4.7
 */
export interface LocalModels {
  /** The names in each text, in order of place. */
  names(texts: readonly string[], signal: AbortSignal): Promise<readonly (readonly FoundName[])[]>;
  route(state: RouterState, signal: AbortSignal): Promise<RouterOpinion>;
  decide(state: TypedState, questions: readonly TypedQuestion[], signal: AbortSignal): Promise<TypedDecision>;
  /** The same for the scope guard, which does not wait behind the questions of others. // spec 2.8 */
  judge(state: TypedState, questions: readonly TypedQuestion[], signal: AbortSignal): Promise<TypedDecision>;
  /** Those that the installation has, whether or not they can be asked, and those that can now. */
  there(): Promise<ModelsThere>;
}

/**
 * `busy`: try again in `retryAfterMs`. `unavailable`: it is not there, gives no answer, or its files are not its own.
 * `too_long`: it would read a question, or all of them together, only in part. // spec 4.4.5
 */
export type ModelFaultKind = 'busy' | 'unavailable' | 'too_long';

/** A question without an answer. The message is sent to the client: no content, no internals. */
export class ModelFault extends Error {
  override readonly name = 'ModelFault';
  readonly kind: ModelFaultKind;
  readonly retryAfterMs: number;
  /** Which question is too long, from 0; undefined: all of them together. */
  readonly question: number | undefined;

  constructor(
    kind: ModelFaultKind,
    message: string,
    options: ErrorOptions & { retryAfterMs?: number; question?: number | undefined } = {},
  ) {
    super(message, options);
    this.kind = kind;
    this.retryAfterMs = options.retryAfterMs ?? 2000;
    this.question = options.question;
  }
}

/** What the local router model makes of a request. // spec 2.6 */
export interface RouterVerdict extends RouterDecision {
  /** `code`, `writing`, `translation`, … */
  readonly task: string;
  /** 0 trivial, 1 simple, 2 moderate, 3 hard. */
  readonly complexity: number;
}

/** The local router model behind automatic aliases. Nothing of a request leaves the installation through it. */
export interface Router {
  /** Undefined when it abstains. Rejects when it is busy or cannot answer: the documented rule decides then. */
  judge(request: ModelRequest, signal: AbortSignal): Promise<RouterVerdict | undefined>;
}
