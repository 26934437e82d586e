import type { Answer, Emit } from '#/call/call.ts';

type Accepted = Extract<Answer, { kind: 'accepted' }>;
/** Headers that list the values of all rounds. */
const LISTS = ['x-gw-unscanned', 'x-gw-losses'];

/** What the rounds of a request say, as its client hears it: one answer. */
export class Heard {
  readonly #emit: Emit;
  readonly #stream: boolean;
  #accepted: Accepted | undefined;
  #headers: Readonly<Record<string, string>> = {};
  #isAccepted = false;
  #hasHead = false;

  constructor(emit: Emit, stream: boolean) {
    this.#emit = emit;
    this.#stream = stream;
  }

  /** The parts before the body of a round's answer. A stream keeps its client informed from the first round on. */
  take(answer: Exclude<Answer, { kind: 'body' }>): boolean | Promise<boolean> {
    this.#headers = joined(this.#headers, answer.headers ?? {});
    if (answer.kind !== 'accepted') return true;
    this.#accepted = answer;
    return this.#stream ? this.#accept() : true;
  }

  /** Sends a text at once. False: the client is gone. */
  async write(text: string): Promise<boolean> {
    if (text === '') return true;
    await this.#accept();
    if (!this.#hasHead) {
      this.#hasHead = true;
      if (!(await this.#emit({ kind: 'head', headers: this.#headers }))) return false;
    }
    return this.#emit({ kind: 'body', text });
  }

  #accept(): boolean | Promise<boolean> {
    if (this.#isAccepted || !this.#accepted) return true;
    this.#isAccepted = true;
    return this.#emit({ ...this.#accepted, stream: this.#stream, headers: this.#headers });
  }
}

/** Lists with the items of both; of all other headers the later. */
function joined(
  one: Readonly<Record<string, string>>,
  other: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> {
  const both: Record<string, string> = { ...one, ...other };
  for (const name of LISTS) {
    const items = [one[name], other[name]].flatMap((list) => list?.split(', ') ?? []);
    if (items.length > 0) both[name] = [...new Set(items)].join(', ');
  }
  return both;
}
