import type { Call } from '#/call/call.ts';
import { isObject } from '#/wire/document/json.ts';
import { keepsAnswer, madeIn, mayMake, type KeptMade, type Keeps } from '#/wire/kept/find-made.ts';
import type { Ownership } from './ownership.ts';
import type { Candidate } from '#/call/target.ts';

/** What an answer says the provider keeps, recorded before the client reads its id. */
export class MadeObjects {
  readonly #key: Call['key'];
  readonly #config: Candidate['provider']['config'];
  readonly #family: Candidate['family'];
  readonly #credential: string;
  readonly #ownership: Ownership;
  readonly #keeps: Keeps;
  readonly #pattern: RegExp;
  readonly #known = new Set<string>();

  /** Undefined where nothing is made that the client could name: a translated answer has no ids of the provider's. */
  static of(
    call: Call,
    candidate: Candidate,
    credential: string | undefined,
    ownership: Ownership,
  ): MadeObjects | undefined {
    if (candidate.translation) return undefined;
    const managed = candidate.provider.config.keyOwnership === 'managed';
    const answer = keepsAnswer(candidate.family, call.document.body);
    // On a managed account no response is stored, whatever was asked for.
    const keeps = { answer: answer && !(managed && candidate.family === 'responses') };
    const pattern = mayMake(candidate.family, keeps);
    return pattern && new MadeObjects(call, candidate, credential ?? '', ownership, keeps, pattern);
  }

  private constructor(
    { key }: Pick<Call, 'key'>,
    { provider, family }: Candidate,
    credential: string,
    ownership: Ownership,
    keeps: Keeps,
    pattern: RegExp,
  ) {
    this.#key = key;
    this.#config = provider.config;
    this.#family = family;
    this.#credential = credential;
    this.#ownership = ownership;
    this.#keeps = keeps;
    this.#pattern = pattern;
  }

  /** Reads an answer on its way out. Undefined: nothing new is in it, and it need not wait. */
  ofAnswer(text: string): Promise<void> | undefined {
    return this.#pattern.test(text) ? this.#record(this.#madeIn(text)) : undefined;
  }

  /** Reads events on their way out, as `ofAnswer` does. */
  ofEvents(text: string): Promise<void> | undefined {
    if (!this.#pattern.test(text)) return undefined;
    const lines = text.split(/\r\n?|\n/).filter((line) => line.startsWith('data:') && this.#pattern.test(line));
    return this.#record(lines.flatMap((line) => this.#madeIn(line.slice('data:'.length))));
  }

  #madeIn(text: string): readonly KeptMade[] {
    let body: unknown;
    try {
      body = JSON.parse(text);
    } catch {
      // Unreadable objects are not recorded, so no workload can use them.
      return [];
    }
    return isObject(body) ? madeIn(this.#family, body, this.#keeps) : [];
  }

  #record(made: readonly KeptMade[]): Promise<void> | undefined {
    const fresh = made.filter(({ id }) => !this.#known.has(id) && this.#known.add(id));
    if (fresh.length === 0) return undefined;
    return this.#ownership.made({ key: this.#key }, this.#config, this.#credential, fresh);
  }
}
