import type { StreamEvent } from '../hub/canonical.ts';
import { mintedId } from '../hub/tool-ids.ts';
import type { CallPiece } from './answer-texts.ts';
import { ObjectSource } from './object-source.ts';

interface Call {
  readonly givenId: string | undefined;
  /** Which of the answer's calls it is. */
  readonly ordinal: number;
  /** Which of the stream's parts it is; undefined until its name is known. */
  part: number | undefined;
  name: string;
  argumentsJson: string;
  /** The arguments so far, as far as they must be understood. */
  readonly source: ObjectSource;
  closed: boolean;
}

/** More calls than any model has open at once: the eldest of them is taken for complete. */
const MOST_OPEN = 256;

/** Puts tool calls together from their chunks. Several may be open at once; each closes when it is surely complete. */
export class CallReader {
  readonly #open = new Set<Call>();
  readonly #byIndex = new Map<number, Call>();
  readonly #byId = new Map<string, Call>();
  #last: Call | undefined;
  readonly #nextPart: () => number;

  /** `nextPart`: numbers the parts of the stream. */
  constructor(nextPart: () => number) {
    this.#nextPart = nextPart;
  }

  get any(): boolean {
    return this.#last !== undefined;
  }

  /** `answerId`: what an id is made from where the vendor gives none. */
  read(piece: CallPiece, answerId: string): StreamEvent[] {
    const events: StreamEvent[] = [];
    let call = this.#continued(piece);
    if (!call) {
      events.push(...this.#makeRoom());
      call = this.#add(piece.id);
    }
    if (piece.index !== undefined) this.#byIndex.set(piece.index, call);
    if (call.closed) {
      if (piece.argumentsJson.trim() !== '') events.push({ type: 'warning', message: 'a complete tool call goes on' });
      return events;
    }
    call.name ||= piece.name;
    call.argumentsJson += piece.argumentsJson;
    call.source.add(piece.argumentsJson);
    if (call.part !== undefined) {
      if (piece.argumentsJson !== '') {
        events.push({ type: 'part-delta', index: call.part, text: piece.argumentsJson });
      }
    } else if (call.name !== '') events.push(this.#begin(call, answerId));
    return events;
  }

  /** Closes all that are open. */
  end(): StreamEvent[] {
    return [...this.#open].map((call) => this.#close(call));
  }

  /** The call that a piece goes on with: a new id under an old index is a new call. // wire-formats 4.1 */
  #continued({ index, id, name }: CallPiece): Call | undefined {
    if (index === undefined && id !== undefined) return this.#byId.get(id);
    const call = index === undefined ? this.#last : this.#byIndex.get(index);
    if (!call || (id !== undefined && id !== call.givenId)) return undefined;
    if (id === undefined && name !== '' && (index === undefined || call.source.complete)) return undefined;
    return call;
  }

  /** A new call ends those before it that do not go on. */
  #makeRoom(): StreamEvent[] {
    const over = [...this.#open].filter(({ part, source }) => part !== undefined && source.complete);
    const events = over.map((call) => this.#close(call));
    const [eldest] = this.#open;
    if (eldest && this.#open.size === MOST_OPEN) events.push(this.#close(eldest));
    return events;
  }

  #add(givenId: string | undefined): Call {
    const ordinal = this.#last === undefined ? 0 : this.#last.ordinal + 1;
    const source = new ObjectSource();
    const call: Call = { givenId, ordinal, part: undefined, name: '', argumentsJson: '', source, closed: false };
    this.#last = call;
    this.#open.add(call);
    if (givenId !== undefined && !this.#byId.has(givenId)) this.#byId.set(givenId, call);
    return call;
  }

  #begin(call: Call, answerId: string): StreamEvent {
    const index = (call.part = this.#nextPart());
    const id = call.givenId ?? mintedId(`${answerId}/${call.ordinal}`);
    const { name, argumentsJson } = call;
    return { type: 'part-start', index, part: { type: 'tool-call', id, name, argumentsJson } };
  }

  #close(call: Call): StreamEvent {
    call.closed = true;
    this.#open.delete(call);
    if (call.part !== undefined) return { type: 'part-end', index: call.part };
    return { type: 'warning', message: 'a tool call without a name' };
  }
}
