import type { StreamEvent } from '../canonical.ts';
import { mintedId } from '../tool-ids.ts';
import type { CallPiece } from './delta.ts';

interface OpenCall {
  readonly givenId: string | undefined;
  /** Which of the stream's parts it is; undefined until its name is known. */
  part: number | undefined;
  name: string;
  argumentsJson: string;
  closed: boolean;
}

/** Puts tool calls together from their chunks. Several may be open at once; each closes when it is surely complete. */
export class CallReader {
  readonly #calls: OpenCall[] = [];
  readonly #byIndex = new Map<number, OpenCall>();
  readonly #nextPart: () => number;

  /** `nextPart`: numbers the parts of the stream. */
  constructor(nextPart: () => number) {
    this.#nextPart = nextPart;
  }

  get any(): boolean {
    return this.#calls.length > 0;
  }

  /** `answerId`: what an id is made from where the vendor gives none. */
  read(piece: CallPiece, answerId: string): StreamEvent[] {
    const events: StreamEvent[] = [];
    let call = this.#continued(piece);
    if (!call) {
      for (const earlier of this.#calls) if (isComplete(earlier)) events.push(...close(earlier));
      call = { givenId: piece.id, part: undefined, name: '', argumentsJson: '', closed: false };
      this.#calls.push(call);
    }
    if (piece.index !== undefined) this.#byIndex.set(piece.index, call);
    if (call.closed) {
      if (piece.argumentsJson.trim() !== '') events.push({ type: 'warning', message: 'a complete tool call goes on' });
      return events;
    }
    call.name ||= piece.name;
    call.argumentsJson += piece.argumentsJson;
    if (call.part !== undefined) {
      if (piece.argumentsJson !== '') {
        events.push({ type: 'part-delta', index: call.part, text: piece.argumentsJson });
      }
    } else if (call.name !== '') events.push(this.#open(call, answerId));
    return events;
  }

  /** Closes all that are open. */
  end(): StreamEvent[] {
    return this.#calls.flatMap((call) => (call.part === undefined ? unnamed(call) : close(call)));
  }

  /** The call that a piece goes on with: a new id under an old index is a new call. // wire-formats 4.1 */
  #continued({ index, id, name }: CallPiece): OpenCall | undefined {
    if (index === undefined && id !== undefined) return this.#calls.find((call) => call.givenId === id);
    const call = index === undefined ? this.#calls.at(-1) : this.#byIndex.get(index);
    if (!call || (id !== undefined && id !== call.givenId)) return undefined;
    if (id === undefined && name !== '' && (index === undefined || isComplete(call))) return undefined;
    return call;
  }

  #open(call: OpenCall, answerId: string): StreamEvent {
    const index = (call.part = this.#nextPart());
    const id = call.givenId ?? mintedId(`${answerId}/${this.#calls.indexOf(call)}`);
    const { name, argumentsJson } = call;
    return { type: 'part-start', index, part: { type: 'tool-call', id, name, argumentsJson } };
  }
}

/** Arguments that are a JSON object do not go on. */
function isComplete({ argumentsJson }: OpenCall): boolean {
  if (!argumentsJson.trimEnd().endsWith('}')) return false;
  try {
    JSON.parse(argumentsJson);
    return true;
  } catch {
    return false;
  }
}

function close(call: OpenCall): StreamEvent[] {
  if (call.closed || call.part === undefined) return [];
  call.closed = true;
  return [{ type: 'part-end', index: call.part }];
}

function unnamed(call: OpenCall): StreamEvent[] {
  if (call.closed) return [];
  call.closed = true;
  return [{ type: 'warning', message: 'a tool call without a name' }];
}
