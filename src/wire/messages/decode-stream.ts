import { NO_OBJECT, type FrameFacts } from '../answer/frame.ts';
import type { Part, StreamEvent } from '../hub/canonical.ts';
import type { StreamDecoder } from '../hub/codec.ts';
import { isObject, type Json, type JsonObject } from '../document/json.ts';
import type { SseEvent } from '../answer/sse.ts';
import { decodeBlock, stringOf } from './decode-answer.ts';
import { isKnownStopReason, readFinish } from './finish.ts';
import { MessagesStreamReader } from './read-stream.ts';
import { streamText, UNTOLD_DELTAS } from './stream-texts.ts';

/** Longest word of a provider's that a warning repeats. */
const MAX_WORD = 64;

/** A block that was begun and not ended. */
interface OpenBlock {
  /** Undefined for a block that only this family knows: it is emitted whole, at its end. */
  readonly index: number | undefined;
  readonly type: Part['type'];
  block: Record<string, Json | undefined>;
  /** JSON source of the input of a held block. */
  input: string;
  signature: string;
}

/** Decodes a messages stream into the hub's events. // wire-formats 4.1 */
export class MessagesStreamDecoder implements StreamDecoder {
  readonly #reader = new MessagesStreamReader();
  readonly #open = new Map<unknown, OpenBlock>();
  #events: StreamEvent[] = [];
  #parts = 0;
  #started = false;

  get finished(): boolean {
    return this.#reader.finished;
  }

  decode(event: SseEvent): readonly StreamEvent[] {
    const facts = this.#reader.read(event);
    if (facts.body) this.#read(facts.body, facts);
    else if (facts === NO_OBJECT) this.#warn('an event is not an object');
    return this.#take();
  }

  end(): readonly StreamEvent[] {
    this.#closeAll();
    return this.#take();
  }

  #read(body: JsonObject, facts: FrameFacts): void {
    switch (body['type']) {
      case 'content_block_delta':
        this.#delta(body['index'], body['delta']);
        return;
      case 'message_start':
        this.#start(body['message'], facts);
        return;
      case 'content_block_start':
        this.#openBlock(body['index'], body['content_block']);
        return;
      case 'content_block_stop':
        this.#close(body['index']);
        return;
      case 'message_delta':
        this.#last(body, facts);
        return;
      case 'message_stop':
        this.#closeAll();
        this.#say({ type: 'end' });
        return;
      case 'error':
        this.#error(facts);
        return;
      case 'ping':
        return;
      default:
        this.#warn(`unknown event ${word(body['type'])}`);
    }
  }

  /** Some proxies repeat it: only the first one starts anything. */
  #start(message: Json | undefined, { id, usage }: FrameFacts): void {
    if (!isObject(message)) return this.#warn('a message_start has no message');
    if (this.#started) return;
    this.#started = true;
    this.#say({ type: 'start', ...(id === undefined ? {} : { id }), ...(usage === undefined ? {} : { usage }) });
  }

  #openBlock(at: Json | undefined, block: Json | undefined): void {
    if (!isObject(block)) return this.#warn('a content_block_start has no block');
    this.#close(at, false);
    const part = decodeBlock(block);
    const index = part.type === 'opaque' ? undefined : this.#parts++;
    this.#open.set(at, {
      index,
      type: part.type,
      block: { ...block },
      input: '',
      signature: stringOf(block, 'signature'),
    });
    if (index !== undefined) this.#say({ type: 'part-start', index, part: opened(part) });
  }

  #delta(at: Json | undefined, delta: Json | undefined): void {
    const open = this.#open.get(at);
    if (!open || !isObject(delta)) return this.#warn('a delta belongs to no block');
    if (open.index === undefined) return hold(open, delta);
    const type = stringOf(delta, 'type');
    const row = streamText(type);
    if (row?.part !== open.type) {
      if (!UNTOLD_DELTAS.has(type)) this.#warn(`unknown delta ${word(type)}`);
    } else if (row.isProof) open.signature += stringOf(delta, row.member);
    else this.#grow(open.index, stringOf(delta, row.member));
  }

  #grow(index: number, text: string): void {
    if (text !== '') this.#say({ type: 'part-delta', index, text });
  }

  #close(at: Json | undefined, expected = true): void {
    const open = this.#open.get(at);
    if (!open) {
      if (expected) this.#warn('a content_block_stop ends no block');
      return;
    }
    this.#open.delete(at);
    const { signature } = open;
    if (open.index === undefined) return this.#sayWhole(open);
    const { index } = open;
    if (signature !== '' && open.type === 'reasoning') {
      this.#say({ type: 'part-proof', index, proof: { family: 'messages', value: signature } });
    }
    this.#say({ type: 'part-end', index });
  }

  #sayWhole({ block, input }: OpenBlock): void {
    const index = this.#parts++;
    const value = input === '' ? block : { ...block, input: this.#parsed(input) };
    this.#say({ type: 'part-start', index, part: decodeBlock(value) });
    this.#say({ type: 'part-end', index });
  }

  #parsed(source: string): Json {
    try {
      return JSON.parse(source) as Json;
    } catch {
      this.#warn('the input of a server tool is not JSON');
      return {};
    }
  }

  #closeAll(): void {
    for (const at of [...this.#open.keys()]) this.#close(at as Json);
  }

  #last({ delta }: JsonObject, { usage }: FrameFacts): void {
    if (usage) this.#say({ type: 'usage', usage });
    const finish = isObject(delta) ? readFinish(delta) : undefined;
    if (!finish || !isObject(delta)) return;
    if (!isKnownStopReason(delta['stop_reason'])) this.#warn(`unknown stop_reason ${word(delta['stop_reason'])}`);
    this.#closeAll();
    this.#say({ type: 'finish', finish });
  }

  #error({ error = '', errorKind: code }: FrameFacts): void {
    this.#say({ type: 'error', message: error, ...(code !== undefined && { code }) });
  }

  #warn(message: string): void {
    this.#say({ type: 'warning', message });
  }

  #say(event: StreamEvent): void {
    this.#events.push(event);
  }

  #take(): readonly StreamEvent[] {
    const events = this.#events;
    this.#events = [];
    return events;
  }
}

/** A part as it opens: a call's input comes afterwards, unless it came at once; so does the proof of thinking. */
function opened(part: Part): Part {
  if (part.type === 'tool-call')
    return { ...part, argumentsJson: part.argumentsJson === '{}' ? '' : part.argumentsJson };
  return part.type === 'reasoning' ? { type: 'reasoning', text: part.text } : part;
}

/** Adds deltas to a block that is emitted whole: texts grow, other members are set. */
function hold(open: OpenBlock, delta: JsonObject): void {
  if (delta['type'] === 'input_json_delta') {
    open.input += stringOf(delta, 'partial_json');
    return;
  }
  const { block } = open;
  for (const name in delta) {
    // No name of a block is this one, and setting it would set something else.
    if (name === 'type' || name === '__proto__') continue;
    const before = block[name];
    const more = delta[name];
    block[name] = typeof before === 'string' && typeof more === 'string' ? before + more : more;
  }
}

/** A provider's word as a warning may repeat it: no content. */
function word(value: Json | undefined): string {
  return typeof value === 'string' && /^\w+$/.test(value) ? value.slice(0, MAX_WORD) : 'without a name';
}
