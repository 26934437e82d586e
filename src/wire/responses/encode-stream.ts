import type { Finish, Part, Proof, StreamEvent } from '../hub/canonical.ts';
import type { AnswerContext, StreamEncoder } from '../hub/codec.ts';
import { writeEvent } from '../answer/sse.ts';
import type { Usage } from '../answer/usage.ts';
import { CallWriter, MessageWriter, ReasoningWriter, WholeWriter, type ItemWriter, type Said } from './encode-item.ts';
import { idOf, wholeItem } from './output-items.ts';
import { progressOf, responseObject, type Progress } from './response-object.ts';

/** What a part of the hub is written by. `message` and `reasoning` have none before their first text. */
type PartWriter =
  | {
      readonly kind: 'message';
      readonly type: 'text' | 'refusal';
      into?: { message: MessageWriter; contentIndex: number };
    }
  | { readonly kind: 'reasoning'; into?: ReasoningWriter }
  | { readonly kind: 'call'; readonly into: CallWriter };

const TERMINAL = { completed: 'response.completed', incomplete: 'response.incomplete', failed: 'response.failed' };

/**
 * Writes an answer's stream in the order the vendor's own has: every item opens, grows and is told whole, and the last
 * event tells the response with all of them. // wire-formats 4.1, 5.1
 */
export class ResponsesStreamEncoder implements StreamEncoder {
  readonly #context: AnswerContext;
  readonly #items: ItemWriter[] = [];
  readonly #parts = new Map<number, PartWriter>();
  #message: MessageWriter | undefined;
  #sequence = 0;
  #started = false;
  #hasRefused = false;
  #finish: Finish = { reason: 'stop' };
  #usage: Usage | undefined;

  constructor(context: AnswerContext) {
    this.#context = context;
  }

  encode(event: StreamEvent): string {
    switch (event.type) {
      case 'finish':
        this.#finish = event.finish;
        return '';
      case 'usage':
        this.#usage = event.usage;
        return '';
      case 'error':
      case 'warning':
        return '';
      default:
        return this.#begin() + this.#text(this.#said(event));
    }
  }

  #said(event: Exclude<StreamEvent, { type: 'finish' | 'usage' | 'error' | 'warning' }>): readonly Said[] {
    switch (event.type) {
      case 'start':
        this.#usage = event.usage ?? this.#usage;
        return [];
      case 'part-start':
        return this.#open(event.index, event.part);
      case 'part-delta':
        return this.#delta(event.index, event.text);
      case 'part-proof':
        return this.#prove(event.index, event.proof);
      case 'part-end':
        return this.#close(event.index);
      case 'end':
        return this.#end();
    }
  }

  #begin(): string {
    if (this.#started) return '';
    this.#started = true;
    const response = responseObject(this.#context, { status: 'in_progress', output: [] });
    return this.#text([
      { type: 'response.created', response },
      { type: 'response.in_progress', response },
    ]);
  }

  #text(said: readonly Said[]): string {
    let text = '';
    for (const { type, ...members } of said) {
      text += writeEvent(JSON.stringify({ type, sequence_number: this.#sequence++, ...members }), type);
    }
    return text;
  }

  #open(index: number, part: Part): readonly Said[] {
    switch (part.type) {
      case 'text':
      case 'refusal':
        this.#parts.set(index, { kind: 'message', type: part.type });
        return this.#delta(index, part.text);
      case 'reasoning':
        this.#parts.set(index, { kind: 'reasoning' });
        return [...this.#delta(index, part.text), ...(part.proof ? this.#prove(index, part.proof) : [])];
      case 'tool-call': {
        const sealed = this.#sealMessage();
        const into = this.#item('fc', (place) => new CallWriter(this.#context, place, part));
        this.#parts.set(index, { kind: 'call', into });
        return [...sealed, ...into.begin()];
      }
      default:
        return this.#whole(part);
    }
  }

  #whole(part: Part): readonly Said[] {
    const item = wholeItem(part, idOf('ig', this.#context, this.#items.length));
    if (item === undefined) return [];
    const sealed = this.#sealMessage();
    return [...sealed, ...this.#item('ig', (place) => new WholeWriter(place, item)).begin()];
  }

  #delta(index: number, text: string): readonly Said[] {
    const part = this.#parts.get(index);
    if (part === undefined || text === '') return [];
    if (part.kind === 'call') return part.into.delta(text);
    if (part.kind === 'reasoning') return this.#reasoned(part, (into) => into.delta(text));
    if (part.into) return part.into.message.delta(part.into.contentIndex, text);
    const opening = this.#openContent(part);
    return [...opening.said, ...opening.message.delta(opening.contentIndex, text)];
  }

  /** A message takes every text that comes before another item. */
  #openContent(part: Extract<PartWriter, { kind: 'message' }>) {
    if (part.type === 'refusal') this.#hasRefused = true;
    const begun: Said[] = [];
    let message = this.#message;
    if (message === undefined || message.sealed) {
      message = this.#item('msg', (place) => new MessageWriter(place));
      this.#message = message;
      begun.push(...message.begin());
    }
    const { contentIndex, said } = message.openContent(part.type);
    part.into = { message, contentIndex };
    return { message, contentIndex, said: [...begun, ...said] };
  }

  #prove(index: number, proof: Proof): readonly Said[] {
    const part = this.#parts.get(index);
    if (part?.kind !== 'reasoning' || proof.family !== 'responses') return [];
    return this.#reasoned(part, (into) => {
      into.proof = proof;
      return [];
    });
  }

  #reasoned(
    part: Extract<PartWriter, { kind: 'reasoning' }>,
    say: (into: ReasoningWriter) => readonly Said[],
  ): readonly Said[] {
    if (part.into) return say(part.into);
    const sealed = this.#sealMessage();
    const into = this.#item('rs', (place) => new ReasoningWriter(place));
    part.into = into;
    return [...sealed, ...into.begin(), ...say(into)];
  }

  #close(index: number): readonly Said[] {
    const part = this.#parts.get(index);
    this.#parts.delete(index);
    if (part?.into === undefined) return [];
    if (part.kind === 'message') return part.into.message.closeContent(part.into.contentIndex);
    return part.into.close();
  }

  #sealMessage(): readonly Said[] {
    return this.#message?.seal() ?? [];
  }

  #item<W extends ItemWriter>(
    prefix: Parameters<typeof idOf>[0],
    make: (place: { id: string; outputIndex: number }) => W,
  ): W {
    const outputIndex = this.#items.length;
    const writer = make({ id: idOf(prefix, this.#context, outputIndex), outputIndex });
    this.#items.push(writer);
    return writer;
  }

  #end(): readonly Said[] {
    const said = [...this.#parts.keys()].flatMap((index) => this.#close(index));
    said.push(...this.#sealMessage());
    const progress: Progress = {
      ...progressOf(this.#finish, this.#hasRefused),
      output: this.#items.map(({ item }) => item),
      usage: this.#usage,
    };
    const type = progress.status === 'in_progress' ? 'response.in_progress' : TERMINAL[progress.status];
    return [...said, { type, response: responseObject(this.#context, progress) }];
  }
}
