import { isObject } from '#/wire/document/json.ts';
import { embeddingsDialectOf } from '../catalogue/embedding-models.ts';
import { vectorIn, vectorsIn, type EmbeddingsDialect } from '../base/embeddings.ts';

/** Amazon's own models: one text at a time. // wire-formats 5.2 */
const TITAN: EmbeddingsDialect = {
  most: 1,
  write: ([inputText = ''], { dimensions }) => ({ inputText, ...(dimensions !== undefined && { dimensions }) }),
  read({ embedding, inputTextTokenCount }) {
    const vector = vectorIn(embedding);
    return (
      vector && { vectors: [vector], tokens: typeof inputTextTokenCount === 'number' ? inputTextTokenCount : undefined }
    );
  },
};

/** Cohere's models: vectors come as a list, or in an object by their type. */
const COHERE: EmbeddingsDialect = {
  most: 96,
  write: (texts, { dimensions }) => ({
    texts,
    input_type: 'search_document',
    embedding_types: ['float'],
    ...(dimensions !== undefined && { output_dimension: dimensions }),
  }),
  read({ embeddings }, header) {
    const list = isObject(embeddings) ? embeddings['float'] : embeddings;
    if (!Array.isArray(list)) return undefined;
    const counted = Number(header('x-amzn-bedrock-input-token-count') ?? Number.NaN);
    return { vectors: vectorsIn(list), tokens: Number.isNaN(counted) ? undefined : counted };
  },
};

/** How Bedrock is asked for embeddings of this model. */
export function bedrockEmbeddings(model: string): EmbeddingsDialect {
  return embeddingsDialectOf('bedrock', model) === 'cohere' ? COHERE : TITAN;
}
