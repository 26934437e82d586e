/** How models are asked for embeddings where their host does not speak the embeddings family. */
export type EmbeddingsDialectName =
  /** Gemini API: many texts at once. */
  | 'gemini-batch'
  /** Vertex: `:predict` with many texts. */
  | 'vertex-predict'
  /** Vertex: `:predict` with one text. */
  | 'vertex-predict-one'
  /** Vertex: `:embedContent`, one text. */
  | 'vertex-content'
  /** Bedrock: Amazon's models, one text. */
  | 'titan'
  /** Bedrock: Cohere's models, many texts. */
  | 'cohere';

interface EmbeddingModels {
  readonly host: 'gemini' | 'vertex' | 'bedrock';
  readonly match: RegExp;
  readonly dialect: EmbeddingsDialectName;
}

/** The first row that matches holds. */
const EMBEDDING_MODELS: readonly EmbeddingModels[] = [
  { host: 'gemini', match: /embedding/, dialect: 'gemini-batch' },
  { host: 'vertex', match: /^gemini-embedding-001/, dialect: 'vertex-predict-one' },
  { host: 'vertex', match: /^gemini-.{0,40}embedding/, dialect: 'vertex-content' },
  { host: 'vertex', match: /^text(?:-multilingual)?-?embedding/, dialect: 'vertex-predict' },
  // A profile's prefix names where it runs: eu.cohere.embed-v4.
  { host: 'bedrock', match: /^(?:[a-z]{2,6}\.)?amazon\.titan-embed-/, dialect: 'titan' },
  { host: 'bedrock', match: /^(?:[a-z]{2,6}\.)?cohere\.embed-/, dialect: 'cohere' },
];

/** How a host's model is asked for embeddings; undefined for models that do something else. */
export function embeddingsDialectOf(host: EmbeddingModels['host'], model: string): EmbeddingsDialectName | undefined {
  return EMBEDDING_MODELS.find((row) => row.host === host && row.match.test(model))?.dialect;
}
