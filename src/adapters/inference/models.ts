import Type, { type TSchema, type Static } from 'typebox';
import { Compile, type Validator } from 'typebox/compile';
import {
  ModelFault,
  type FoundName,
  type LocalModels,
  type ModelFaultKind,
  type ModelKind,
  type ModelsThere,
  type RouterOpinion,
  type TypedDecision,
  type TypedQuestion,
  type TypedState,
} from '#/ports/local-models.ts';
import type { Lookup } from './addresses.ts';
import { Exchange, faultIn, NoExchange, type Exchanged } from './exchange.ts';

export interface LocalModelsOptions {
  /** Where they are now; undefined while they are not there. Asked for each request. */
  readonly url: () => string | undefined;
  /** Milliseconds to an answer, waiting in the model's queue included; by default a little more than a model may take. */
  readonly timeoutMs?: number;
  /** Where names lead; the system's resolver unless given. */
  readonly lookup?: Lookup;
}

const TIMEOUT_MS = 12_000;
const READY_TIMEOUT_MS = 5000;
const CONNECT_TIMEOUT_MS = 1000;
/** Answers of millions of words are no larger. */
const MAX_ANSWER_BYTES = 64 * 1024 * 1024;

const FAULTS: ReadonlySet<ModelFaultKind> = new Set<ModelFaultKind>(['busy', 'unavailable', 'too_long']);
const KINDS: readonly ModelKind[] = ['names', 'router', 'typed'];

const PROBABILITY = Type.Number({ minimum: 0, maximum: 1 });
const REVISION = Type.String({ pattern: '^[0-9a-f]{64}$' });
const SPAN = Type.Tuple([Type.Integer({ minimum: 0 }), Type.Integer({ minimum: 0 }), Type.String(), PROBABILITY]);
const NAMES = Compile(Type.Object({ spans: Type.Array(Type.Array(SPAN)), revision: REVISION }));
const ROUTER = Compile(
  Type.Object({
    reasoning: PROBABILITY,
    complexity: Type.Array(PROBABILITY, { minItems: 4, maxItems: 4 }),
    task: Type.Record(Type.String(), PROBABILITY),
    revision: REVISION,
  }),
);
const TYPED = Compile(
  Type.Object({
    answers: Type.Array(
      Type.Object({ probabilities: Type.Array(PROBABILITY), answer_confidence: Type.Optional(PROBABILITY) }),
    ),
    revision: REVISION,
  }),
);
const THERE = Compile(
  Type.Object({
    models: Type.Array(
      Type.Object({
        kind: Type.String(),
        // One that does not say is missed where it cannot be asked.
        installed: Type.Optional(Type.Boolean()),
        revision: Type.Optional(Type.Union([REVISION, Type.Null()])),
        fault: Type.Union([Type.String(), Type.Null()]),
      }),
    ),
  }),
);

/** Local models over HTTP (inference/README.md). An answer that does not match the question is `unavailable`. */
export function openLocalModels(options: LocalModelsOptions): LocalModels & { close(): Promise<void> } {
  return new ModelsByHttp(options);
}

/** What `typed` is asked. */
interface Typed {
  readonly state: TypedState;
  readonly questions: readonly TypedQuestion[];
  readonly lane?: 'guard';
}

class ModelsByHttp implements LocalModels {
  readonly #url: LocalModelsOptions['url'];
  readonly #timeoutMs: number;
  readonly #exchange: Exchange;

  constructor({ url, timeoutMs = TIMEOUT_MS, lookup }: LocalModelsOptions) {
    this.#url = url;
    this.#timeoutMs = timeoutMs;
    const bounds = { connectTimeoutMs: CONNECT_TIMEOUT_MS, maxAnswerBytes: MAX_ANSWER_BYTES };
    this.#exchange = new Exchange({ ...bounds, ...(lookup && { lookup }) });
  }

  async names(texts: readonly string[], signal: AbortSignal): Promise<readonly (readonly FoundName[])[]> {
    const { spans } = await this.#ask('names', { texts }, NAMES, signal);
    if (spans.length !== texts.length) throw noSuchAnswer();
    return spans.map((list, index) => {
      const { length } = texts[index] ?? '';
      if (list.some(([start, end]) => start >= end || end > length)) throw noSuchAnswer();
      return list.map(([start, end, category]) => ({ start, end, category }));
    });
  }

  route(state: Parameters<LocalModels['route']>[0], signal: AbortSignal): Promise<RouterOpinion> {
    return this.#ask('router', state, ROUTER, signal);
  }

  decide(state: TypedState, questions: readonly TypedQuestion[], signal: AbortSignal): Promise<TypedDecision> {
    return this.#decided({ state, questions }, signal);
  }

  judge(state: TypedState, questions: readonly TypedQuestion[], signal: AbortSignal): Promise<TypedDecision> {
    return this.#decided({ state, questions, lane: 'guard' }, signal);
  }

  async there(): Promise<ModelsThere> {
    const { signal } = new AbortController();
    const address = { url: this.#url(), path: '/v1/models' };
    const answer = await orFault(this.#exchange.ask(address, { method: 'GET' }, signal, READY_TIMEOUT_MS));
    const { models } = parsed(answer.text, THERE);
    const those = (are: (model: (typeof models)[number]) => boolean): ReadonlySet<ModelKind> =>
      new Set(KINDS.filter((kind) => models.some((model) => model.kind === kind && are(model))));
    const told = models.flatMap(({ kind, revision }) => {
      const known = KINDS.find((one) => one === kind);
      return known && typeof revision === 'string' ? [[known, revision] as const] : [];
    });
    return {
      installed: those(({ installed }) => installed !== false),
      ready: those(({ fault }) => fault === null),
      revisions: new Map(told),
    };
  }

  close(): Promise<void> {
    return this.#exchange.close();
  }

  async #ask<S extends TSchema>(
    kind: ModelKind,
    question: object,
    answer: Validator<Record<never, never>, S>,
    signal: AbortSignal,
  ): Promise<Static<S>> {
    const headers = { 'content-type': 'application/json' };
    const sent = { method: 'POST' as const, headers, body: JSON.stringify(question) };
    const address = { url: this.#url(), path: `/v1/${kind}` };
    const told = await orFault(this.#exchange.ask(address, sent, signal, this.#timeoutMs));
    if (told.status !== 200) throw faultOf(told);
    return parsed(told.text, answer);
  }

  async #decided(asked: Typed, signal: AbortSignal): Promise<TypedDecision> {
    const { answers, revision } = await this.#ask('typed', asked, TYPED, signal);
    const fits = answers.every(({ probabilities }, at) => probabilities.length === asked.questions[at]?.options.length);
    if (!fits || answers.length !== asked.questions.length) throw noSuchAnswer();
    return {
      answers: answers.map(({ probabilities, answer_confidence: answerConfidence }) => {
        return { probabilities, answerConfidence };
      }),
      revision,
    };
  }
}

async function orFault(exchanged: Promise<Exchanged>): Promise<Exchanged> {
  try {
    return await exchanged;
  } catch (thrown) {
    if (!(thrown instanceof NoExchange)) throw thrown;
    const late = thrown.why === 'late';
    throw new ModelFault('unavailable', `the local models ${late ? 'did not answer in time' : 'cannot be reached'}`, {
      cause: thrown.cause,
    });
  }
}

function parsed<S extends TSchema>(text: string, answer: Validator<Record<never, never>, S>): Static<S> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw noSuchAnswer(cause);
  }
  if (!answer.Check(value)) throw noSuchAnswer();
  return value;
}

function noSuchAnswer(cause?: unknown): ModelFault {
  return new ModelFault('unavailable', 'the local model returned an invalid answer', { cause });
}

function faultOf({ status, text, retryAfter }: Exchanged): ModelFault {
  const fault = status === 503 || status === 422 ? faultIn(text, FAULTS) : undefined;
  if (!fault) return new ModelFault('unavailable', `the local models answered with status ${status}`);
  const seconds = Number(retryAfter);
  return new ModelFault(fault.kind, fault.message, {
    question: fault.question,
    ...(seconds > 0 && { retryAfterMs: seconds * 1000 }),
  });
}
