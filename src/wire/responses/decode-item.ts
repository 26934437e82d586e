import type { Part, ReasoningPart, RefusalPart, StreamEvent, TextPart } from '../hub/canonical.ts';
import type { JsonObject } from '../document/json.ts';
import { isArray } from '../request/request-shape.ts';
import { decodeCall, decodeContent, opaqueItem } from './decode-answer.ts';
import { BETWEEN_PARAGRAPHS, readReasoning } from './reasoning.ts';

/** A part as it opens when its text is to come. */
type Blank = TextPart | RefusalPart | ReasoningPart;

interface Growing {
  readonly index: number;
  said: string;
  ended: boolean;
}

const CALL = 'call';
const REASONING = 'reasoning';

/**
 * Follows one output item of a stream. Its texts come in pieces and then, more than once, whole: what of the whole was
 * not said before is said then, so that a provider may leave out the pieces. Parts open with their first text.
 */
export class ItemReader {
  /** The item has said that it is whole. */
  done = false;
  readonly #parts = new Map<string, Growing>();
  readonly #open: (part: Part) => number;
  /** The paragraph of reasoning that was last spoken. */
  #paragraph: string | undefined;

  /** `open` gives a part the next index of the stream. */
  constructor(open: (part: Part) => number) {
    this.#open = open;
  }

  /** The item begins: a call tells its name at once. */
  added(item: JsonObject): StreamEvent[] {
    return item['type'] === 'function_call' && !this.done ? this.#call(item) : [];
  }

  /** A piece of a message's content. */
  text(slot: string, blank: Blank, piece: string): StreamEvent[] {
    return this.#grow(slot, blank, piece);
  }

  /** A piece of reasoning; `paragraph` tells those of one item apart, which become one text. */
  reasoning(paragraph: string, piece: string): StreamEvent[] {
    if (piece === '') return [];
    const next = this.#paragraph !== undefined && this.#paragraph !== paragraph;
    this.#paragraph = paragraph;
    return this.#grow(REASONING, BLANK_REASONING, next ? BETWEEN_PARAGRAPHS + piece : piece);
  }

  /** A piece of a call's arguments; before the call has a name there is nothing to say, the whole comes at its end. */
  argumentsPiece(piece: string): StreamEvent[] {
    const part = this.#parts.get(CALL);
    return part === undefined || piece === '' ? [] : this.#more(part, piece);
  }

  /** A message's content is whole. */
  textDone(slot: string, blank: Blank, whole: string): StreamEvent[] {
    return this.#catchUp(slot, blank, whole);
  }

  /** The item is complete: the rest of it is emitted, and its parts end. */
  finish(item: JsonObject): StreamEvent[] {
    if (this.done) return [];
    this.done = true;
    return [...this.#rest(item), ...this.close()];
  }

  /** Ends the part of one slot, or all of them. */
  close(slot?: string): StreamEvent[] {
    const events: StreamEvent[] = [];
    const some = slot === undefined ? this.#parts.values() : [this.#parts.get(slot)];
    for (const part of some) {
      if (part === undefined || part.ended) continue;
      part.ended = true;
      events.push({ type: 'part-end', index: part.index });
    }
    return events;
  }

  #rest(item: JsonObject): StreamEvent[] {
    switch (item['type']) {
      case 'message':
        return isArray(item['content'])
          ? item['content'].flatMap((content, index) => this.#content(content, index))
          : [];
      case 'function_call':
        return this.#call(item);
      case 'reasoning':
        return this.#reasoned(item);
      default:
        return this.#whole(opaqueItem(item));
    }
  }

  #content(content: Parameters<typeof decodeContent>[0], index: number): StreamEvent[] {
    return decodeContent(content).flatMap((part) => {
      if (part.type !== 'text' && part.type !== 'refusal') return this.#whole(part);
      return this.#catchUp(slotOf(part.type, index), { ...part, text: '' }, part.text);
    });
  }

  #call(item: JsonObject): StreamEvent[] {
    const call = decodeCall(item);
    if (this.#parts.has(CALL)) return this.#catchUp(CALL, BLANK_REASONING, call.argumentsJson);
    const index = this.#open(call);
    this.#parts.set(CALL, { index, said: call.argumentsJson, ended: false });
    return [{ type: 'part-start', index, part: call }];
  }

  #reasoned(item: JsonObject): StreamEvent[] {
    const part = readReasoning(item);
    if (part === undefined) return [];
    const events = this.#catchUp(REASONING, BLANK_REASONING, part.text);
    if (part.proof === undefined) return events;
    let growing = this.#parts.get(REASONING);
    if (growing === undefined) {
      growing = this.#begin(REASONING, BLANK_REASONING);
      events.push({ type: 'part-start', index: growing.index, part: BLANK_REASONING });
    }
    return [...events, { type: 'part-proof', index: growing.index, proof: part.proof }];
  }

  #whole(part: Part): StreamEvent[] {
    const index = this.#open(part);
    return [
      { type: 'part-start', index, part },
      { type: 'part-end', index },
    ];
  }

  #grow(slot: string, blank: Blank, piece: string): StreamEvent[] {
    if (piece === '') return [];
    const part = this.#parts.get(slot);
    if (part !== undefined) return this.#more(part, piece);
    const opened = this.#begin(slot, blank);
    return [{ type: 'part-start', index: opened.index, part: blank }, ...this.#more(opened, piece)];
  }

  #begin(slot: string, blank: Blank): Growing {
    const part: Growing = { index: this.#open(blank), said: '', ended: false };
    this.#parts.set(slot, part);
    return part;
  }

  #more(part: Growing, piece: string): StreamEvent[] {
    if (part.ended) return [{ type: 'warning', message: 'a text went on after its end' }];
    part.said += piece;
    return [{ type: 'part-delta', index: part.index, text: piece }];
  }

  #catchUp(slot: string, blank: Blank, whole: string): StreamEvent[] {
    const said = this.#parts.get(slot)?.said ?? '';
    if (whole === said || whole === '') return [];
    if (!whole.startsWith(said)) return [{ type: 'warning', message: 'a whole text differs from its pieces' }];
    return this.#grow(slot, blank, whole.slice(said.length));
  }
}

const BLANK_REASONING: ReasoningPart = { type: 'reasoning', text: '' };

/** Where a message keeps one piece of its content. */
export function slotOf(type: 'text' | 'refusal', contentIndex: unknown): string {
  return `${type}/${typeof contentIndex === 'number' ? contentIndex : 0}`;
}
