import { isObject, type Json, type JsonObject } from '#/wire/document/json.ts';
import { vectorsIn, type EmbeddingsDialect } from '../base/embeddings.ts';

/** `:batchEmbedContents` of the Gemini API. // wire-formats 5.2 */
export const geminiBatch: EmbeddingsDialect = {
  most: 100,
  write: (texts, { dimensions }, model) => ({
    requests: texts.map((text) => ({
      model: `models/${model}`,
      content: { parts: [{ text }] },
      ...(dimensions !== undefined && { outputDimensionality: dimensions }),
    })),
  }),
  read(answer) {
    const { embeddings } = answer;
    if (!Array.isArray(embeddings)) return undefined;
    const values = (embeddings as readonly Json[]).map((item) => (isObject(item) ? (item['values'] ?? null) : null));
    return { vectors: vectorsIn(values), tokens: promptTokens(answer) };
  },
};

/** The input tokens of an answer of Google's, where it counts them. */
export function promptTokens({ usageMetadata }: JsonObject): number | undefined {
  const count = isObject(usageMetadata) ? usageMetadata['promptTokenCount'] : undefined;
  return typeof count === 'number' ? count : undefined;
}
