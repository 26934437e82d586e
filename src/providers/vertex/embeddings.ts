import { isObject, type Json } from '#/wire/document/json.ts';
import { embeddingsDialectOf } from '../catalogue/embedding-models.ts';
import { vectorIn, type Embedded, type EmbeddingsDialect } from '../base/embeddings.ts';
import { promptTokens } from '../gemini/embeddings.ts';

/** `:predict`. // wire-formats 5.2 */
function predict(most: number): EmbeddingsDialect {
  return {
    most,
    write: (texts, { dimensions }) => ({
      instances: texts.map((content) => ({ content })),
      ...(dimensions !== undefined && { parameters: { outputDimensionality: dimensions } }),
    }),
    read({ predictions }) {
      return Array.isArray(predictions) ? joined((predictions as readonly Json[]).map(predicted)) : undefined;
    },
  };
}

/** One prediction: a vector, and how many tokens its text had. */
function predicted(item: Json): Embedded | undefined {
  const embeddings = isObject(item) ? item['embeddings'] : undefined;
  if (!isObject(embeddings)) return undefined;
  const vector = vectorIn(embeddings['values']);
  const statistics = isObject(embeddings['statistics']) ? embeddings['statistics'] : {};
  const tokens = statistics['token_count'];
  return vector && { vectors: [vector], tokens: typeof tokens === 'number' ? tokens : undefined };
}

function joined(all: readonly (Embedded | undefined)[]): Embedded {
  let tokens: number | undefined = 0;
  for (const one of all) tokens = tokens === undefined || one?.tokens === undefined ? undefined : tokens + one.tokens;
  return { vectors: all.flatMap((one) => one?.vectors ?? []), tokens };
}

const embedContent: EmbeddingsDialect = {
  most: 1,
  write: ([text = ''], { dimensions }) => ({
    content: { parts: [{ text }] },
    ...(dimensions !== undefined && { embedContentConfig: { outputDimensionality: dimensions } }),
  }),
  read(answer) {
    const { embedding } = answer;
    const vector = isObject(embedding) ? vectorIn(embedding['values']) : undefined;
    return vector && { vectors: [vector], tokens: promptTokens(answer) };
  },
};

/** A dialect, and the method of the address it is spoken at. */
interface VertexEmbeddings {
  readonly method: string;
  readonly dialect: EmbeddingsDialect;
}

const PREDICT: VertexEmbeddings = { method: 'predict', dialect: predict(100) };
const PREDICT_ONE: VertexEmbeddings = { method: 'predict', dialect: predict(1) };
const CONTENT: VertexEmbeddings = { method: 'embedContent', dialect: embedContent };

/** How Vertex is asked for embeddings of this model. */
export function vertexEmbeddings(model: string): VertexEmbeddings {
  const name = embeddingsDialectOf('vertex', model);
  if (name === 'vertex-content') return CONTENT;
  return name === 'vertex-predict-one' ? PREDICT_ONE : PREDICT;
}
