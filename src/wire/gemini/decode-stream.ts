import type { ModelAnswer, Part, StreamEvent } from '../hub/canonical.ts';
import { collectAnswer } from '../hub/collect-answer.ts';
import { readId } from '../answer/answer-id.ts';
import type { StreamDecoder } from '../hub/codec.ts';
import { errorMessage } from '../answer/error-message.ts';
import { isObject, type Json, type JsonObject } from '../document/json.ts';
import { kindOfMedia } from '../request/media.ts';
import type { SseEvent } from '../answer/sse.ts';
import { mintedId } from '../hub/tool-ids.ts';
import { withSearches } from '../answer/usage.ts';
import { PartialArguments } from './partial-arguments.ts';
import { blockReason, finishReason, firstCandidate, readUsage, searchesIn, type Shown } from './read-answer.ts';

/** Blocks of this family that others have no equal of. */
const OPAQUE = ['executableCode', 'codeExecutionResult', 'toolCall', 'toolResponse', 'fileData', 'inlineData'];

interface OpenPart {
  readonly index: number;
  readonly type: 'text' | 'reasoning' | 'tool-call';
  /** Of a call whose arguments come in pieces. */
  readonly pieces?: PartialArguments;
}

/** Reads a buffered answer: a stream of one chunk. Undefined for an error, or when there is nothing of an answer in it. */
export function decodeAnswer(body: JsonObject): ModelAnswer | undefined {
  if (body['error'] !== undefined || !(firstCandidate(body) || blockReason(body))) return undefined;
  const decoder = new GeminiStreamDecoder();
  const { finish, ...answer } = collectAnswer([...decoder.chunk(body), ...decoder.end()]);
  return { ...answer, finish: finish ?? { reason: finishReason('STOP', decoder.hasCalled) ?? 'stop' } };
}

/** Reads a `streamGenerateContent` stream: partial answers that add up, without a marker of the end. // wire-formats 4.1 */
export class GeminiStreamDecoder implements StreamDecoder {
  #events: StreamEvent[] = [];
  #id: string | undefined;
  #started = false;
  #finished = false;
  #parts = 0;
  #calls = 0;
  #open: OpenPart | undefined;
  #shown: Shown;
  /** Queries that it searched the web with. */
  #searches = 0;

  get finished(): boolean {
    return this.#finished;
  }

  /** Whether the model has called a tool so far. */
  get hasCalled(): boolean {
    return this.#calls > 0;
  }

  decode(event: SseEvent): readonly StreamEvent[] {
    if (event.data === undefined || event.data.trim() === '') return [];
    const said: unknown = JSON.parse(event.data);
    // Some errors come in an array of one.
    const body: unknown = Array.isArray(said) ? (said as readonly unknown[])[0] : said;
    if (!isObject(body)) return [{ type: 'warning', message: 'a chunk is not an object' }];
    return this.chunk(body);
  }

  /** One partial answer, or a whole one. */
  chunk(body: JsonObject): readonly StreamEvent[] {
    const { error } = body;
    if (error !== undefined && error !== null) {
      this.#error(error);
      return this.#take();
    }
    const candidate = firstCandidate(body);
    this.#shown = shownIn(candidate) ?? this.#shown;
    this.#searches = Math.max(this.#searches, searchesIn(candidate));
    const told = readUsage(body['usageMetadata'], this.#shown);
    const usage = told && withSearches(told, this.#searches);
    if (!this.#started) {
      this.#started = true;
      this.#id = readId(body['responseId']);
      this.#say({ type: 'start', ...(this.#id ? { id: this.#id } : {}), ...(usage ? { usage } : {}) });
    } else if (usage) this.#say({ type: 'usage', usage });
    if (candidate) this.#candidate(candidate);
    else if (blockReason(body) !== undefined) this.#finish('PROHIBITED_CONTENT');
    return this.#take();
  }

  end(): readonly StreamEvent[] {
    this.#close();
    return this.#take();
  }

  #candidate({ content, finishReason: word }: JsonObject): void {
    const parts = isObject(content) && Array.isArray(content['parts']) ? (content['parts'] as readonly Json[]) : [];
    for (const part of parts) {
      if (isObject(part)) this.#part(part);
      else this.#warn('a part is not an object');
    }
    if (typeof word === 'string' && word !== '') this.#finish(word);
  }

  #part(part: JsonObject): void {
    const { text, functionCall, thoughtSignature } = part;
    const signature = typeof thoughtSignature === 'string' && thoughtSignature !== '' ? thoughtSignature : undefined;
    if (isObject(functionCall)) this.#call(functionCall, signature);
    else if (typeof text === 'string') this.#text(text, part['thought'] === true, signature);
    else this.#block(part);
  }

  #text(text: string, isThought: boolean, signature: string | undefined): void {
    const type = isThought ? 'reasoning' : 'text';
    if (text !== '' || (isThought && signature !== undefined)) {
      const open = this.#open?.type === type ? this.#open : this.#start({ type, text: '' }, type);
      if (text !== '') this.#say({ type: 'part-delta', index: open.index, text });
      if (!isThought || signature === undefined) return this.#sign(signature);
      this.#say({ type: 'part-proof', index: open.index, proof: { family: 'gemini', value: signature } });
    } else this.#sign(signature);
  }

  /** The signature of an answer's text is a block of its own here: nothing but this family has a place for it. */
  #sign(signature: string | undefined): void {
    if (signature === undefined) return;
    const value = { text: '', thoughtSignature: signature };
    this.#whole({ type: 'opaque', family: 'gemini', name: 'thoughtSignature', value });
  }

  #block(part: JsonObject): void {
    const { inlineData, thoughtSignature } = part;
    if (isObject(inlineData) && typeof inlineData['data'] === 'string') {
      const mediaType = typeof inlineData['mimeType'] === 'string' ? inlineData['mimeType'].toLowerCase() : '';
      const kind = kindOfMedia(mediaType);
      if (kind !== 'document') {
        this.#whole({ type: 'media', kind, mediaType, source: { data: inlineData['data'] } });
        return this.#sign(typeof thoughtSignature === 'string' ? thoughtSignature : undefined);
      }
    }
    const name = OPAQUE.find((known) => part[known] !== undefined);
    if (name === undefined && Object.keys(part).length === 0) return;
    if (name === undefined) this.#warn('a part is of an unknown kind');
    this.#whole({ type: 'opaque', family: 'gemini', name: name ?? 'unknown', value: part });
  }

  /** A whole call; or its name, pieces of its arguments, and an empty piece at the end. */
  #call(call: JsonObject, signature: string | undefined): void {
    const { name, args, partialArgs, willContinue } = call;
    if (typeof name === 'string' && name !== '') {
      const id = this.#callId(call['id'], name, signature);
      const proof = signature === undefined ? {} : { proof: { family: 'gemini', value: signature } as const };
      this.#calls++;
      const part: Part = { type: 'tool-call', id, name, argumentsJson: '', ...proof };
      this.#start(part, 'tool-call', isObject(args) ? undefined : new PartialArguments());
      if (isObject(args)) this.#say({ type: 'part-delta', index: this.#parts - 1, text: JSON.stringify(args) });
    }
    const pieces = this.#open?.pieces;
    if (name === undefined && signature !== undefined && this.#open?.type === 'tool-call') {
      this.#say({ type: 'part-proof', index: this.#open.index, proof: { family: 'gemini', value: signature } });
    }
    for (const piece of Array.isArray(partialArgs) ? (partialArgs as readonly Json[]) : []) {
      if (!pieces?.add(piece)) this.#warn('a piece of arguments has no place');
    }
    if (willContinue !== true && this.#open?.type === 'tool-call') this.#close();
  }

  #callId(given: Json | undefined, name: string, signature = ''): string {
    if (typeof given === 'string' && given !== '') return given;
    return mintedId(`${this.#id ?? ''}/${this.#calls}/${name}/${signature}`);
  }

  #start(part: Part, type: OpenPart['type'], pieces?: PartialArguments): OpenPart {
    this.#close();
    this.#open = { index: this.#parts++, type, ...(pieces ? { pieces } : {}) };
    this.#say({ type: 'part-start', index: this.#open.index, part });
    return this.#open;
  }

  #whole(part: Part): void {
    this.#close();
    const index = this.#parts++;
    this.#say({ type: 'part-start', index, part }, { type: 'part-end', index });
  }

  #close(): void {
    if (!this.#open) return;
    const { index, pieces } = this.#open;
    if (pieces) this.#say({ type: 'part-delta', index, text: pieces.json });
    this.#say({ type: 'part-end', index });
    this.#open = undefined;
  }

  #finish(word: string): void {
    this.#close();
    const reason = finishReason(word, this.hasCalled);
    if (reason === undefined) this.#warn('the answer ended for an unknown reason');
    this.#finished = true;
    this.#say({ type: 'finish', finish: { reason: reason ?? 'stop' } });
  }

  #error(error: Json): void {
    this.#close();
    const code = isObject(error) ? (error['status'] ?? error['code']) : undefined;
    const told = typeof code === 'string' || typeof code === 'number' ? { code: String(code).slice(0, 64) } : {};
    this.#say({ type: 'error', message: errorMessage(error), ...told });
  }

  #warn(message: string): void {
    this.#say({ type: 'warning', message });
  }

  #say(...events: readonly StreamEvent[]): void {
    this.#events.push(...events);
  }

  #take(): readonly StreamEvent[] {
    const events = this.#events;
    this.#events = [];
    return events;
  }
}

/** Sound or pictures among the parts of an answer. */
function shownIn(candidate: JsonObject | undefined): Shown {
  const content = candidate?.['content'];
  const parts = isObject(content) && Array.isArray(content['parts']) ? (content['parts'] as readonly Json[]) : [];
  for (const part of parts) {
    const data = isObject(part) ? part['inlineData'] : undefined;
    const mediaType = isObject(data) && typeof data['mimeType'] === 'string' ? data['mimeType'].toLowerCase() : '';
    const shown = /^(audio|image|video)\//.exec(mediaType)?.[1];
    if (shown !== undefined) return shown === 'audio' ? 'audio' : 'image';
  }
  return undefined;
}
