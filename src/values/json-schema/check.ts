import type { Work } from './work.ts';

/** Why a value does not keep a schema: in words of the schema alone, so that it never says what the value is. */
export interface Refusal {
  /** JSON pointer into the value. A member that the schema does not name is `*`: its name is content. */
  readonly pointer: string;
  /** Completes "… must": `be at most 50`. */
  readonly must: string;
}

/** A place in a value. */
export interface Place {
  readonly parent: Place | undefined;
  readonly step: string;
}

/** What a schema, or one of its keywords, says of a value; undefined: nothing against it. */
export type Check = (value: unknown, at: Place | undefined, work: Work) => Refusal | undefined;

/** A member that a schema names, or an item. */
export function below(parent: Place | undefined, step: string): Place {
  return { parent, step };
}

/** A member that a schema does not name. */
export const UNNAMED = '*';

export function refuse(at: Place | undefined, must: string): Refusal {
  let pointer = '';
  for (let place = at; place; place = place.parent)
    pointer = `/${place.step.replaceAll('~', '~0').replaceAll('/', '~1')}${pointer}`;
  return { pointer, must };
}

export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function isArray(value: unknown): value is readonly unknown[] {
  return Array.isArray(value);
}

/** Texts of schemas in a message. */
const MOST_TOLD = 200;

/** Values of a schema as a message says them, one after the other. */
export function told(values: readonly unknown[]): string {
  const text = values.map((value) => JSON.stringify(value)).join(', ');
  return text.length > MOST_TOLD ? `${text.slice(0, MOST_TOLD).toWellFormed()}…` : text;
}

/** Whether a number may stand for others: beyond 2^53, whole numbers that a server tells apart are one double. */
export function isVague(value: unknown): boolean {
  return typeof value === 'number' && !(Math.abs(value) <= Number.MAX_SAFE_INTEGER);
}

/**
 * A keyword would compare a vague number. `not` and similar keywords must not reverse its answer, so that the whole schema
 * refuses the value.
 */
export class VagueNumber extends Error {
  override readonly name = 'VagueNumber';
  readonly refusal: Refusal;

  constructor(at: Place | undefined) {
    super('a vague number is compared');
    this.refusal = refuse(at, 'have no number beyond 2^53, which JSON readers take for others');
  }
}

/** JSON that is the same for equal values: members in order. `onVague`: called for each vague number, which all look the same. */
export function canonical(value: unknown, work: Work, onVague: () => void): string {
  if (typeof value === 'string') {
    work.spend(1 + value.length / 16);
    return JSON.stringify(value);
  }
  work.spend(1);
  if (isArray(value)) return `[${value.map((item) => canonical(item, work, onVague)).join()}]`;
  if (isVague(value)) onVague();
  if (!isObject(value)) return isVague(value) ? 'vague' : String(value === 0 ? 0 : value);
  const names = Object.keys(value);
  work.spend(names.length);
  names.sort();
  for (const name of names) work.spend(1 + name.length / 16);
  return `{${names.map((name) => `${JSON.stringify(name)}:${canonical(value[name], work, onVague)}`).join()}}`;
}
