import type { SeenRequest, SetAnswer } from './stand-in.ts';

/** A vector that 32-bit floats hold exactly. */
export const VECTOR = [0.5, -0.25, 1.5, 0] as const;

/** The pictures, sounds and pages that vendors make: bytes that are no text. */
export const PICTURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0xff, 0x00]);
export const SOUND = Buffer.from(Array.from({ length: 4096 }, (_, index) => (index * 31) % 256));
export const TRANSCRIPT = 'Lunch at noon.';

type Body = Readonly<Record<string, unknown>>;
type Respond = (request: SeenRequest, body: Body) => SetAnswer;

/** By method and path below the kind, in a vendor's own words. */
const ANSWERS: readonly (readonly [method: string, path: RegExp, respond: Respond])[] = [
  ['POST', /\/embeddings$/, embeddings],
  ['POST', /:batchEmbedContents$/, geminiEmbeddings],
  ['POST', /\/completions$/, ({ path }, body) => (path.includes('/chat/') ? talk : legacyCompletion(body))],
  ['POST', /\/moderations$/, () => json({ id: 'modr-1', model: 'omni-moderation', results: [MODERATION] })],
  ['POST', /\/audio\/speech$/, () => ({ type: 'audio/mpeg', body: SOUND })],
  ['POST', /\/audio\/transcriptions$/, () => json({ text: TRANSCRIPT, usage: { type: 'duration', seconds: 3 } })],
  [
    'POST',
    /\/images\/(generations|edits)$/,
    () => json({ created: 1, data: [{ b64_json: PICTURE.toString('base64') }] }),
  ],
  ['POST', /\/conversations$/, conversation],
  ['GET', /\/files\/image-1\/content$/, () => ({ type: 'image/png', body: PICTURE })],
  ['DELETE', /\/files\/image-1$/, () => json({ id: 'image-1', object: 'file', deleted: true })],
  ['POST', /\/ocr$/, () => json(PAGES)],
  // `/token`, below no kind: clouds give access tokens.
  ['POST', /^$/, () => json({ access_token: 'token-of-a-cloud', token_type: 'Bearer', expires_in: 3600 })],
];

/** What vendors answer where no model talks. Undefined: a model does. */
export function vendorAnswer(request: SeenRequest): SetAnswer | undefined {
  const path = request.path.split('?')[0] ?? '';
  const row = ANSWERS.find(([method, pattern]) => method === request.method && pattern.test(path));
  if (!row) return undefined;
  const set = row[2](request, bodyOf(request));
  return set === talk ? undefined : set;
}

/** Not set here: the model talks. */
const talk: SetAnswer = { body: '' };

function bodyOf({ headers, body }: SeenRequest): Body {
  return headers['content-type']?.startsWith('application/json') ? (JSON.parse(body.toString('utf8')) as Body) : {};
}

function json(body: object, status = 200): SetAnswer {
  return { status, body };
}

function textsIn(input: unknown): readonly unknown[] {
  return Array.isArray(input) ? (input as unknown[]) : [input];
}

/** One vendor knows no encodings, and refuses what it does not know. */
function embeddings({ kind }: SeenRequest, { input, model, encoding_format: encoding }: Body): SetAnswer {
  if (kind === 'mistral' && encoding !== undefined) return json({ detail: [{ type: 'extra_forbidden' }] }, 422);
  const embedding = encoding === 'base64' ? Buffer.from(new Float32Array(VECTOR).buffer).toString('base64') : VECTOR;
  const data = textsIn(input).map((_, index) => ({ object: 'embedding', index, embedding }));
  return json({ object: 'list', model, data, usage: { prompt_tokens: 4, total_tokens: 4 } });
}

function geminiEmbeddings(_request: SeenRequest, { requests }: Body): SetAnswer {
  return json({ embeddings: textsIn(requests).map(() => ({ values: VECTOR })) });
}

function legacyCompletion({ prompt, model }: Body): SetAnswer {
  return json({
    id: 'cmpl-1',
    object: 'text_completion',
    created: 1,
    model,
    choices: [{ index: 0, text: `${String(prompt)}, and so on`, finish_reason: 'stop', logprobs: null }],
    usage: { prompt_tokens: 3, completion_tokens: 4, total_tokens: 7 },
  });
}

const MODERATION = {
  flagged: true,
  categories: { violence: true },
  category_scores: { violence: 0.9 },
};

/** A conversation with the image tool: the picture is left as a file. */
function conversation(): SetAnswer {
  const chunk = { type: 'tool_file', tool: 'image_generation', file_id: 'image-1', file_name: 'x', file_type: 'png' };
  return json({
    object: 'conversation.response',
    conversation_id: 'conv-1',
    outputs: [
      { type: 'tool.execution', name: 'image_generation', arguments: '{"prompt":"a red fox"}' },
      { type: 'message.output', content: [{ type: 'text', text: 'Here.' }, chunk] },
    ],
    usage: { prompt_tokens: 5, completion_tokens: 5, total_tokens: 10, connectors: { image_generation: 1 } },
  });
}

/** One page of a scanned document. */
export const PAGES = {
  pages: [{ index: 0, markdown: '# Lunch', images: [], dimensions: { dpi: 200, height: 2200, width: 1700 } }],
  model: 'mistral-ocr-latest',
  usage_info: { pages_processed: 1, doc_size_bytes: 9 },
};
