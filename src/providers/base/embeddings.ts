import { UpstreamFault, type Incoming, type Outgoing } from '#/ports/provider.ts';
import { BadRequestShape } from '#/wire/hub/codec.ts';
import type { Json, JsonObject } from '#/wire/document/json.ts';
import { madeAnswer, readObject, succeeded } from '../http/made-answer.ts';

/** Texts to embed, as an embeddings request asks for them. */
export interface EmbeddingsAsk {
  readonly texts: readonly string[];
  /** Length of the vectors, where the client named one. */
  readonly dimensions: number | undefined;
}

/** Result for some texts, in their order. */
export interface Embedded {
  readonly vectors: readonly (readonly Json[])[];
  /** Input tokens, where the provider counts them. */
  readonly tokens: number | undefined;
}

/** How one kind of model is asked for embeddings that does not speak the embeddings family. */
export interface EmbeddingsDialect {
  /** Most texts of one request. */
  readonly most: number;
  write(texts: readonly string[], ask: EmbeddingsAsk, model: string): JsonObject;
  /** Undefined: no answer of this dialect. */
  read(answer: JsonObject, header: (name: string) => string | undefined): Embedded | undefined;
}

/** Most texts of one request, as in the family's own API. */
const MOST_TEXTS = 2048;
/** Requests under way at once, for dialects that take few texts at a time. */
const AT_ONCE = 4;
const MAX_ANSWER = 64 * 1024 * 1024;

/** Reads what must cross to another dialect. Throws `BadRequestShape`, also for input in tokens of another tokenizer. */
export function readEmbeddingsAsk(body: JsonObject): EmbeddingsAsk {
  const { input, dimensions } = body;
  const texts: readonly Json[] = typeof input === 'string' ? [input] : Array.isArray(input) ? input : [];
  if (texts.length === 0 || texts.length > MOST_TEXTS || !texts.every((text) => typeof text === 'string')) {
    throw new BadRequestShape(
      `input must be a string or an array of 1 to ${MOST_TEXTS} strings for this model`,
      'input',
    );
  }
  if (dimensions !== undefined && dimensions !== null && typeof dimensions !== 'number') {
    throw new BadRequestShape('dimensions must be a number', 'dimensions');
  }
  return { texts, dimensions: dimensions ?? undefined };
}

/**
 * Asks for embeddings in a dialect and gives the answer in the embeddings family's words, vectors as numbers. `post`
 * sends one request of the dialect. A failure of any of them is the failure of the whole.
 */
export async function embed(
  { body, model }: Pick<Outgoing, 'body' | 'model'>,
  dialect: EmbeddingsDialect,
  post: (body: string) => Promise<Incoming>,
): Promise<Incoming> {
  const ask = readEmbeddingsAsk(JSON.parse(body) as JsonObject);
  const batches: string[][] = [];
  for (let at = 0; at < ask.texts.length; at += dialect.most) batches.push(ask.texts.slice(at, at + dialect.most));
  const parts: Embedded[] = [];
  let failure: Incoming | undefined;
  let next = 0;
  const work = async (): Promise<void> => {
    for (let at = next++; at < batches.length && !failure; at = next++) {
      const texts = batches[at] ?? [];
      const incoming = await post(JSON.stringify(dialect.write(texts, ask, model)));
      if (succeeded(incoming)) parts[at] = await embeddedIn(incoming, dialect, texts.length);
      else if (failure) incoming.close();
      else failure = incoming;
    }
  };
  const workers = await Promise.allSettled(Array.from({ length: Math.min(AT_ONCE, batches.length) }, work));
  const broken = workers.find((worker) => worker.status === 'rejected');
  if (broken) {
    failure?.close();
    throw broken.reason;
  }
  return failure ?? madeAnswer(200, embeddingsAnswer(model, parts));
}

async function embeddedIn(incoming: Incoming, dialect: EmbeddingsDialect, texts: number): Promise<Embedded> {
  const answer = await readObject(incoming, MAX_ANSWER);
  const embedded = dialect.read(answer, (name) => incoming.header(name));
  if (embedded?.vectors.length !== texts) throw new UpstreamFault('protocol', 'the answer has no vector for each text');
  return embedded;
}

function embeddingsAnswer(model: string, parts: readonly Embedded[]): JsonObject {
  const vectors = parts.flatMap((part) => part.vectors);
  let tokens: number | undefined = 0;
  for (const part of parts)
    tokens = part.tokens === undefined || tokens === undefined ? undefined : tokens + part.tokens;
  return {
    object: 'list',
    data: vectors.map((embedding, index) => ({ object: 'embedding', index, embedding })),
    model,
    // Without a reported count, the gateway's own estimate is used.
    ...(tokens !== undefined && { usage: { prompt_tokens: tokens, total_tokens: tokens } }),
  };
}

/** The numbers of a vector; undefined if it is not a vector. */
export function vectorIn(value: Json | undefined): readonly Json[] | undefined {
  return Array.isArray(value) && value.length > 0 && value.every((item) => typeof item === 'number')
    ? value
    : undefined;
}

/** The vectors of a list, without invalid ones: the count then shows that one is missing. */
export function vectorsIn(list: readonly Json[]): readonly (readonly Json[])[] {
  return list.map(vectorIn).filter((vector) => vector !== undefined);
}
