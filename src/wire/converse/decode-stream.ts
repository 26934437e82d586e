import type { Part, StreamEvent } from '../hub/canonical.ts';
import type { StreamDecoder } from '../hub/codec.ts';
import { errorMessage } from '../answer/error-message.ts';
import { isObject, type Json, type JsonObject } from '../document/json.ts';
import type { SseEvent } from '../answer/sse.ts';
import { argumentsObject } from '../hub/tool-arguments.ts';
import { opaque, readFinish, readImage, readUsage, redacted } from './decode-answer.ts';

type Kind = 'text' | 'reasoning' | 'tool-call';

/** A block whose part is open, or which is held until it is whole. */
type Block =
  | { readonly kind: Kind; readonly index: number }
  | { readonly kind: 'redacted'; readonly pieces: string[] }
  | { readonly kind: 'image'; readonly format: Json; readonly pieces: string[] }
  | { readonly kind: 'server-call'; readonly start: JsonObject; readonly pieces: string[] }
  | { readonly kind: 'server-result'; readonly start: JsonObject; readonly items: Json[] };

const NAMES = ['messageStart', 'contentBlockStart', 'contentBlockDelta', 'contentBlockStop', 'messageStop', 'metadata'];

/**
 * Reads a `converse-stream`: blocks of text and thinking come without a start, usage after the stop. The payload is bare
 * under the name of its event, or the only member of an object. // wire-formats 4.1
 */
export class ConverseStreamDecoder implements StreamDecoder {
  #events: StreamEvent[] = [];
  readonly #blocks = new Map<number, Block>();
  #parts = 0;
  #started = false;
  #hasCalled = false;
  #finished = false;

  /** Usage follows the stop, but an answer that was stopped is whole without it. */
  get finished(): boolean {
    return this.#finished;
  }

  decode(event: SseEvent): readonly StreamEvent[] {
    if (event.data === undefined || event.data.trim() === '') return [];
    const said: unknown = JSON.parse(event.data);
    if (!isObject(said)) {
      this.#warn('an event is not an object');
      return this.#take();
    }
    const wrapped = Object.keys(said).find((name) => NAMES.includes(name) || name.endsWith('Exception'));
    const name = wrapped ?? event.event ?? '';
    const payload = wrapped === undefined ? said : said[wrapped];
    this.#event(name, isObject(payload) ? payload : {});
    return this.#take();
  }

  end(): readonly StreamEvent[] {
    for (const at of [...this.#blocks.keys()]) this.#close(at);
    return this.#take();
  }

  #event(name: string, payload: JsonObject): void {
    const at = typeof payload['contentBlockIndex'] === 'number' ? payload['contentBlockIndex'] : 0;
    switch (name) {
      case 'messageStart':
        return this.#start();
      case 'contentBlockStart':
        return isObject(payload['start']) ? this.#open(at, payload['start']) : undefined;
      case 'contentBlockDelta':
        return isObject(payload['delta']) ? this.#delta(at, payload['delta']) : undefined;
      case 'contentBlockStop':
        return this.#close(at);
      case 'messageStop':
        return this.#stop(payload);
      case 'metadata':
        return this.#usage(payload);
      default:
        return this.#other(name, payload);
    }
  }

  #other(name: string, payload: JsonObject): void {
    if (name !== 'exception' && !name.endsWith('Exception')) return this.#warn('an event is of an unknown kind');
    const code = name === 'exception' ? payload['type'] : name;
    const told = typeof code === 'string' ? { code: code.slice(0, 64) } : {};
    this.#events.push({ type: 'error', message: errorMessage(payload), ...told });
  }

  #start(): void {
    if (this.#started) return;
    this.#started = true;
    this.#events.push({ type: 'start' });
  }

  #open(at: number, start: JsonObject): void {
    this.#close(at);
    const { toolUse, toolResult, image } = start;
    if (isObject(toolUse) && toolUse['type'] !== undefined) {
      this.#blocks.set(at, { kind: 'server-call', start: toolUse, pieces: [] });
    } else if (isObject(toolUse)) this.#openCall(at, toolUse);
    else if (isObject(toolResult)) this.#blocks.set(at, { kind: 'server-result', start: toolResult, items: [] });
    else if (isObject(image)) this.#blocks.set(at, { kind: 'image', format: image['format'] ?? null, pieces: [] });
    else if (Object.keys(start).length > 0) this.#warn('a block is of an unknown kind');
  }

  #openCall(at: number, { toolUseId, name }: JsonObject): void {
    if (typeof toolUseId !== 'string' || typeof name !== 'string') return this.#warn('a call has no id or no name');
    this.#hasCalled = true;
    this.#part(at, 'tool-call', { type: 'tool-call', id: toolUseId, name, argumentsJson: '' });
  }

  #delta(at: number, delta: JsonObject): void {
    const { text, toolUse, reasoningContent, toolResult, image, citation } = delta;
    if (typeof text === 'string') this.#text(at, 'text', text);
    else if (isObject(reasoningContent)) this.#reasoning(at, reasoningContent);
    else if (isObject(toolUse) && typeof toolUse['input'] === 'string') this.#input(at, toolUse['input']);
    else if (Array.isArray(toolResult)) this.#hold(at, 'server-result', toolResult as readonly Json[]);
    else if (isObject(image) && isObject(image['source'])) this.#hold(at, 'image', [image['source']['bytes'] ?? null]);
    else if (citation === undefined) this.#warn('a delta is of an unknown kind');
  }

  /** Blocks open with the first of what they hold. */
  #text(at: number, kind: 'text' | 'reasoning', text: string): void {
    if (text === '') return;
    const block = this.#blocks.get(at);
    const open = block?.kind === kind ? block : this.#part(at, kind, { type: kind, text: '' });
    this.#events.push({ type: 'part-delta', index: open.index, text });
  }

  #reasoning(at: number, { text, signature, redactedContent }: JsonObject): void {
    if (typeof text === 'string') this.#text(at, 'reasoning', text);
    if (typeof redactedContent === 'string') {
      if (this.#blocks.get(at)?.kind !== 'redacted') this.#reopen(at, { kind: 'redacted', pieces: [] });
      this.#hold(at, 'redacted', [redactedContent]);
    }
    if (typeof signature !== 'string' || signature === '') return;
    const block = this.#blocks.get(at);
    const open = block?.kind === 'reasoning' ? block : this.#part(at, 'reasoning', { type: 'reasoning', text: '' });
    this.#events.push({ type: 'part-proof', index: open.index, proof: { family: 'messages', value: signature } });
  }

  #input(at: number, input: string): void {
    const block = this.#blocks.get(at);
    if (block?.kind === 'server-call') block.pieces.push(input);
    else if (block?.kind !== 'tool-call') this.#warn('arguments of a call that has not begun');
    else if (input !== '') this.#events.push({ type: 'part-delta', index: block.index, text: input });
  }

  #hold(at: number, kind: 'redacted' | 'image' | 'server-result', pieces: readonly Json[]): void {
    const block = this.#blocks.get(at);
    if (block === undefined || block.kind !== kind) return this.#warn('a delta of a block that has not begun');
    // One by one: what a provider lists may be more than a call takes arguments.
    for (const piece of pieces) {
      if (block.kind === 'server-result') block.items.push(piece);
      else if ('pieces' in block && typeof piece === 'string') block.pieces.push(piece);
    }
  }

  #part(at: number, kind: Kind, part: Part): { readonly index: number } {
    const block = { kind, index: this.#parts++ };
    this.#reopen(at, block);
    this.#start();
    this.#events.push({ type: 'part-start', index: block.index, part });
    return block;
  }

  #reopen(at: number, block: Block): void {
    this.#close(at);
    this.#blocks.set(at, block);
  }

  #close(at: number): void {
    const block = this.#blocks.get(at);
    if (block === undefined) return;
    this.#blocks.delete(at);
    if ('index' in block) {
      this.#events.push({ type: 'part-end', index: block.index });
      return;
    }
    const index = this.#parts++;
    this.#start();
    this.#events.push({ type: 'part-start', index, part: whole(block) }, { type: 'part-end', index });
  }

  #stop({ stopReason, additionalModelResponseFields }: JsonObject): void {
    for (const at of [...this.#blocks.keys()]) this.#close(at);
    const finish = readFinish(stopReason, additionalModelResponseFields, this.#hasCalled);
    if (finish === undefined) this.#warn('the answer ended for an unknown reason');
    this.#finished = true;
    this.#start();
    this.#events.push({ type: 'finish', finish: finish ?? { reason: this.#hasCalled ? 'tool-calls' : 'stop' } });
  }

  #usage(payload: JsonObject): void {
    const usage = readUsage(payload['usage'], payload['serviceTier']);
    if (usage) this.#events.push({ type: 'usage', usage });
  }

  #warn(message: string): void {
    this.#events.push({ type: 'warning', message });
  }

  #take(): readonly StreamEvent[] {
    const events = this.#events;
    this.#events = [];
    return events;
  }
}

function whole(block: Exclude<Block, { readonly index: number }>): Part {
  switch (block.kind) {
    case 'redacted':
      return redacted(base64(block.pieces));
    case 'image': {
      const image = { format: block.format, source: { bytes: base64(block.pieces) } };
      return readImage(image) ?? opaque({ image });
    }
    case 'server-call':
      return opaque({ toolUse: { ...block.start, input: argumentsObject(block.pieces.join('')) } });
    case 'server-result':
      return opaque({ toolResult: { ...block.start, content: block.items } });
  }
}

/** Pieces of base64, each padded on its own, as one; a single piece keeps its bytes. */
function base64(pieces: readonly string[]): string {
  if (pieces.length === 1) return pieces[0] ?? '';
  return Buffer.concat(pieces.map((piece) => Buffer.from(piece, 'base64'))).toString('base64');
}
