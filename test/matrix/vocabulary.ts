/** Any JSON, as a test reads it: what is not there is undefined. */
export type Body = Readonly<Record<string, unknown>>;

/** A call of a tool, its arguments parsed. */
export interface Call {
  readonly id: string;
  readonly name: string;
  readonly input: unknown;
}

/** A tool's result; `failed` only where the format can say so. */
export interface Result {
  readonly id: string;
  readonly text: string;
  readonly failed: boolean;
}

/** One piece of a turn, in no format's words. Media are `<media type>;<base64>`. */
export type Item =
  | { readonly text: string }
  /** What an assistant thought, echoed by the client without any proof of it. */
  | { readonly thought: string }
  | { readonly image: string }
  | { readonly document: string }
  | { readonly call: Call }
  | { readonly result: Result };

export interface Turn {
  readonly role: 'user' | 'assistant';
  readonly items: readonly Item[];
}

export interface Tool {
  readonly name: string;
  readonly description: string;
  readonly schema: Body;
}

/** A request as a test reads it from the bytes that a provider got. */
export interface Asked {
  /** In the body, where the format has it there. */
  readonly model: unknown;
  readonly stream: unknown;
  /** Role of the leading instruction, where the format has roles for it. */
  readonly systemRole?: unknown;
  readonly system: string;
  /** Neighbours of one role are one turn. */
  readonly turns: readonly Turn[];
  readonly tools: readonly Tool[];
  /** A schema the answer is held to, `object` for "some JSON", or nothing. */
  readonly format: Body | 'object' | undefined;
  readonly stop: readonly unknown[];
  /** Name and value. */
  readonly ceiling: readonly [string, unknown] | undefined;
  /** Every member that tells how hard to think, by the format's own names. */
  readonly reasoning: Body;
}

/** An answer as a test reads it from the bytes that a client got. */
export interface Told {
  /** Of the answer. */
  readonly id: unknown;
  readonly model: unknown;
  readonly text: string;
  readonly reasoning: string;
  readonly refusal: string;
  readonly calls: readonly Call[];
  /** In the format's own words; undefined when the answer never ended. */
  readonly finish: string | undefined;
  /** As it stands in the answer. */
  readonly usage: Body | undefined;
  /** What an error event in the stream said. */
  readonly error?: { readonly type: unknown; readonly message: unknown };
}

/** Tokens of an answer, each counted once. */
export interface Counts {
  readonly fresh: number;
  readonly cached: number;
  readonly output: number;
}

/** A member of anything; undefined when there is none. */
export function at(value: unknown, ...path: readonly (string | number)[]): unknown {
  let found = value;
  for (const step of path) {
    if (typeof found !== 'object' || found === null) return undefined;
    found = (found as Record<string | number, unknown>)[step];
  }
  return found;
}

/** The items of a list, or none. */
export function list(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** A text, or nothing. */
export function text(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

/** A number, 0 when there is none. */
export function count(value: unknown): number {
  return typeof value === 'number' ? value : 0;
}

/** The members of an object whose names are among these and whose values are there. */
export function pick(value: unknown, names: readonly string[]): Body {
  return Object.fromEntries(names.flatMap((name) => (at(value, name) === undefined ? [] : [[name, at(value, name)]])));
}

/** Turns of which no two neighbours have one role; empty ones left out. */
export function merged(turns: readonly Turn[]): readonly Turn[] {
  const whole: { role: Turn['role']; items: Item[] }[] = [];
  for (const { role, items } of turns) {
    const last = whole.at(-1);
    if (items.length === 0) continue;
    if (last?.role === role) last.items.push(...items);
    else whole.push({ role, items: [...items] });
  }
  return whole;
}

/** `data:image/png;base64,AAAA` as media are spelled here. */
export function ofDataUrl(url: unknown): string {
  const [, type, data] = /^data:([^;,]+);base64,(.*)$/s.exec(text(url)) ?? [];
  if (type === undefined || data === undefined) throw new SyntaxError('not a data URL with base64');
  return `${type};${data}`;
}
