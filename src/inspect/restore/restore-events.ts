import type { Finish, Part, StreamEvent } from '#/wire/hub/canonical.ts';
import { CallRestorer } from './restore-call.ts';
import type { Restoration } from './restoration.ts';
import { restoreText, TextRestorer } from './restore-text.ts';

/** Puts originals back in a stream of the hub's events, part by part, holding back no more of a text than half a tag, and of a call what comes after its first tag. */
export class EventRestorer {
  readonly #restoration: Restoration;
  readonly #jsonAnswer: boolean;
  readonly #keepsThinking: boolean;
  readonly #parts = new Map<number, TextRestorer | CallRestorer>();

  /**
   * `jsonAnswer`: the model was asked to answer in JSON, so its text is JSON source. `keepsThinking`: its thinking is
   * signed for the client to send back, so it is not rewritten. // spec 4.5.4
   */
  constructor(restoration: Restoration, jsonAnswer: boolean, keepsThinking = false) {
    this.#restoration = restoration;
    this.#jsonAnswer = jsonAnswer;
    this.#keepsThinking = keepsThinking;
  }

  /** What to pass on for an event. Throws `AnswerOutOfBounds`. */
  restore(event: StreamEvent): readonly StreamEvent[] {
    switch (event.type) {
      case 'part-start':
        return this.#start(event.index, event.part);
      case 'part-delta': {
        const text = this.#parts.get(event.index)?.push(event.text);
        if (text === undefined) return [event];
        return text === '' ? [] : [{ ...event, text }];
      }
      case 'part-end':
        return [...this.#flush(event.index), event];
      case 'finish':
        return [...this.flush(), { ...event, finish: this.#finish(event.finish) }];
      case 'end':
        return [...this.flush(), event];
      default:
        return [event];
    }
  }

  /** Whatever is still held back: nothing more will come. */
  flush(): readonly StreamEvent[] {
    return [...this.#parts.keys()].flatMap((index) => this.#flush(index));
  }

  /** A part's first text is restored as if it were a delta: a tag may begin in it. */
  #start(index: number, part: Part): readonly StreamEvent[] {
    const text = this.#keepsThinking && part.type === 'reasoning' ? undefined : textOf(part);
    if (text === undefined) return [{ type: 'part-start', index, part }];
    const restorer = this.#restorerOf(part);
    this.#parts.set(index, restorer);
    return [{ type: 'part-start', index, part: withText(part, restorer.push(text)) }];
  }

  #restorerOf(part: Part): TextRestorer | CallRestorer {
    if (part.type === 'tool-call') return new CallRestorer(this.#restoration, () => part.name, 'input');
    return new TextRestorer(this.#restoration, this.#jsonAnswer && part.type === 'text' ? 'json' : 'text');
  }

  /** The string that ended an answer is one that the client gave. */
  #finish(finish: Finish): Finish {
    const { stopSequence } = finish;
    if (stopSequence === undefined) return finish;
    return { ...finish, stopSequence: restoreText(stopSequence, this.#restoration, 'text') };
  }

  #flush(index: number): readonly StreamEvent[] {
    const text = this.#parts.get(index)?.flush() ?? '';
    this.#parts.delete(index);
    return text === '' ? [] : [{ type: 'part-delta', index, text }];
  }
}

function textOf(part: Part): string | undefined {
  if (part.type === 'text' || part.type === 'refusal' || part.type === 'reasoning') return part.text;
  return part.type === 'tool-call' ? part.argumentsJson : undefined;
}

function withText(part: Part, text: string): Part {
  if (part.type === 'text' || part.type === 'refusal' || part.type === 'reasoning') return { ...part, text };
  return part.type === 'tool-call' ? { ...part, argumentsJson: text } : part;
}
