import { setTimeout as sleep } from 'node:timers/promises';
import { UpstreamFault, type Incoming, type Outgoing } from '#/ports/provider.ts';
import { isObject, type Json, type JsonObject } from '#/wire/document/json.ts';
import type { HttpApi } from '../http/http-api.ts';
import { madeAnswer, madeFailure, readObject, succeeded } from '../http/made-answer.ts';
import type { Transport } from '../http/transport.ts';

/** Most images of one request; each is a conversation of its own. */
const MOST_IMAGES = 10;
const AT_ONCE = 4;
const MAX_CONVERSATION_BYTES = 4 * 1024 * 1024;
const MAX_IMAGE_BYTES = 48 * 1024 * 1024;
/** The image was made and billed by then, so it is asked for this often. */
const DOWNLOADS = 3;
const DOWNLOAD_WAIT_MS = 250;

const INSTRUCTIONS =
  'Make exactly one image of what the user describes: always call the image tool, once, and say nothing.';

/** A file that the image tool has left with the provider. */
interface ImageFile {
  readonly id: string;
  readonly revisedPrompt: string | undefined;
}

/** One request below the API's base address, with the call's one credential. */
type Ask = (method: 'GET' | 'POST' | 'DELETE', path: string, body?: JsonObject) => Promise<Incoming>;

/** What one conversation came to. */
type Outcome = { readonly image: JsonObject } | { readonly failure: Incoming } | { readonly fault: unknown };

/**
 * Serves an image request by a conversation with a model that has the image tool: Mistral has no address for images.
 * Answers in the images family's words, with images as base64. // wire-formats 7.2, spec 4.2
 */
export async function askForImages(outgoing: Outgoing, api: HttpApi, transport: Transport): Promise<Incoming> {
  const body = JSON.parse(outgoing.body) as JsonObject;
  const { n = 1 } = body;
  if (typeof n !== 'number' || n > MOST_IMAGES) {
    return madeFailure(400, `n must be at most ${MOST_IMAGES} for this model`, 'invalid_n');
  }
  const ask = await asking(outgoing, api, transport);
  const conversation = conversationFor(outgoing.model, body);
  const images: JsonObject[] = [];
  let wrong: Exclude<Outcome, { image: JsonObject }> | undefined;
  let next = 0;
  const work = async (): Promise<void> => {
    while (!wrong && next++ < n) {
      const outcome = await makeImage(conversation, ask, outgoing.signal);
      if ('image' in outcome) images.push(outcome.image);
      else wrong ??= outcome;
    }
  };
  await Promise.all(Array.from({ length: Math.min(AT_ONCE, n) }, work));
  // Finished images are returned, and billed by the image: fewer than requested is not a failure.
  if (images.length > 0) {
    if (wrong && 'failure' in wrong) wrong.failure.close();
    return madeAnswer(200, { created: Math.floor(Date.now() / 1000), data: images });
  }
  if (wrong && 'fault' in wrong) throw wrong.fault;
  return wrong?.failure ?? madeFailure(502, 'no image was created', 'image_generation_failed');
}

/** Asks with one credential throughout: files belong to the account that made them. */
async function asking(outgoing: Outgoing, api: HttpApi, transport: Transport): Promise<Ask> {
  const { origin, pathname } = new URL(api.base);
  const root = pathname.replace(/(?<!\/)\/+$/, '');
  const proof = await api.authorize(outgoing.credential);
  const deadline = performance.now() + outgoing.timeoutMs;
  return (method, path, body) =>
    transport.send({
      method,
      origin,
      path: root + path,
      headers: { accept: '*/*', ...(body && { 'content-type': 'application/json' }), ...proof },
      body: body && JSON.stringify(body),
      timeoutMs: Math.max(1, deadline - performance.now()),
      idle: false,
      signal: outgoing.signal,
    });
}

function conversationFor(model: string, { prompt, size, quality, style, background }: JsonObject): JsonObject {
  // The tool has no settings: they can only be wished for.
  const wishes = Object.entries({ size, quality, style, background }).flatMap(([name, wish]) =>
    typeof wish === 'string' && wish !== 'auto' ? `${name}: ${wish}` : [],
  );
  const asked = typeof prompt === 'string' ? prompt : '';
  return {
    model,
    inputs: wishes.length > 0 ? `${asked}\n\n(${wishes.join(', ')})` : asked,
    tools: [{ type: 'image_generation' }],
    instructions: INSTRUCTIONS,
    store: false,
    stream: false,
  };
}

/** Never rejects: what others made is given in spite of it. */
async function makeImage(conversation: JsonObject, ask: Ask, signal: AbortSignal): Promise<Outcome> {
  try {
    const answer = await ask('POST', '/conversations', conversation);
    if (!succeeded(answer)) return { failure: answer };
    const outputs = outputsOf(await readObject(answer, MAX_CONVERSATION_BYTES));
    const file = imageIn(outputs);
    if (!file) {
      return {
        failure: madeFailure(400, wordsIn(outputs) ?? 'The model did not create an image.', 'image_generation_refused'),
      };
    }
    const path = `/files/${encodeURIComponent(file.id)}`;
    const image = await download(`${path}/content`, ask, signal);
    void forget(path, ask);
    if (image === undefined) return { failure: madeFailure(502, 'the image could not be fetched', 'image_lost') };
    const { revisedPrompt } = file;
    return { image: { b64_json: image, ...(revisedPrompt !== undefined && { revised_prompt: revisedPrompt }) } };
  } catch (fault) {
    return { fault };
  }
}

/** The image as base64. The download is repeated when it fails: creating the image again would be billed again. */
async function download(path: string, ask: Ask, signal: AbortSignal): Promise<string | undefined> {
  for (let round = 0; round < DOWNLOADS; round++) {
    if (round > 0) await sleep(DOWNLOAD_WAIT_MS * round, undefined, { signal }).catch(() => undefined);
    try {
      const incoming = await ask('GET', path);
      if (succeeded(incoming)) return (await bytesOf(incoming)).toString('base64');
      incoming.close();
    } catch (thrown) {
      if (!(thrown instanceof UpstreamFault) || thrown.kind === 'aborted' || thrown.kind === 'timeout') throw thrown;
    }
  }
  return undefined;
}

async function bytesOf(incoming: Incoming): Promise<Buffer> {
  const parts: Uint8Array[] = [];
  let size = 0;
  for await (const part of incoming.chunks()) {
    size += part.length;
    if (size > MAX_IMAGE_BYTES) throw new UpstreamFault('protocol', 'the image is larger than any image');
    parts.push(part);
  }
  return Buffer.concat(parts);
}

/** Deletes the file, if possible: no caller waits for it, and failures do not matter. */
async function forget(path: string, ask: Ask): Promise<void> {
  try {
    (await ask('DELETE', path)).close();
  } catch {
    // The provider deletes its files by itself some day.
  }
}

function outputsOf({ outputs }: JsonObject): readonly JsonObject[] {
  return Array.isArray(outputs) ? (outputs as readonly Json[]).filter(isObject) : [];
}

function imageIn(outputs: readonly JsonObject[]): ImageFile | undefined {
  const made = outputs.find(({ type, name }) => type === 'tool.execution' && name === 'image_generation');
  for (const { content } of outputs) {
    const chunks = Array.isArray(content) ? (content as readonly Json[]).filter(isObject) : [];
    const file = chunks.find(({ type, file_id }) => type === 'tool_file' && typeof file_id === 'string');
    if (file) return { id: file['file_id'] as string, revisedPrompt: promptOf(made?.['arguments']) };
  }
  return undefined;
}

/** The prompt that the model gave to the tool: in an object, or in its JSON text. */
function promptOf(given: Json | undefined): string | undefined {
  let value: unknown = given;
  if (typeof given === 'string') {
    try {
      value = JSON.parse(given);
    } catch {
      return undefined;
    }
  }
  return isObject(value) && typeof value['prompt'] === 'string' ? value['prompt'] : undefined;
}

/** What the model said instead of making an image. */
function wordsIn(outputs: readonly JsonObject[]): string | undefined {
  const texts = outputs.flatMap(({ type, content }) => {
    if (type !== 'message.output') return [];
    if (typeof content === 'string') return content;
    const chunks = Array.isArray(content) ? (content as readonly Json[]).filter(isObject) : [];
    return chunks.flatMap(({ text }) => (typeof text === 'string' ? text : []));
  });
  return texts.length > 0 ? texts.join('') : undefined;
}
