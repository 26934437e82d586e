/** How a value of the audit row is written. `T`: its type here. */
export type Form<T = unknown> = Shape & {
  /** Never there: carries the type. */
  readonly value?: T;
};

type Shape =
  /** `says`: what kind of text, for the reference page. */
  | { readonly kind: 'text'; readonly says: string }
  | { readonly kind: 'words'; readonly words: readonly string[] }
  | { readonly kind: 'number' }
  /** A number that is left out where it is zero, so that rows keep the form they had before it was counted. */
  | { readonly kind: 'quantity' }
  | { readonly kind: 'version'; readonly version: number }
  | { readonly kind: 'boolean' }
  /** Numbers by name, ordered by name. */
  | { readonly kind: 'counts' }
  | { readonly kind: 'null-or'; readonly of: Form }
  | { readonly kind: 'list'; readonly of: Form }
  | { readonly kind: 'object'; readonly name: string; readonly members: Readonly<Record<string, Member>> };

type ObjectForm<T> = Form<T> & Extract<Shape, { readonly kind: 'object' }>;

/** One member of an object: a field of the row, or a part of such a field. */
export interface Member<T = unknown> {
  readonly form: Form<T>;
  /** What it means, in plain English. */
  readonly meaning: string;
  readonly example: T;
  /** When it is there; absent: always. */
  readonly when?: string;
}

/** The type that a form stands for. */
export type ValueOf<F> = F extends Form<infer T> ? T : never;

export const text = (says = 'text'): Form<string> => ({ kind: 'text', says });
export const words = <const W extends string>(...allowed: readonly W[]): Form<W> => ({ kind: 'words', words: allowed });
export const number: Form<number> = { kind: 'number' };
export const quantity: Form<number> = { kind: 'quantity' };
export const boolean: Form<boolean> = { kind: 'boolean' };
export const counts: Form<Readonly<Record<string, number>>> = { kind: 'counts' };
export const version = <const V extends number>(of: V): Form<V> => ({ kind: 'version', version: of });
export const nullOr = <T>(of: Form<T>): Form<T | null> => ({ kind: 'null-or', of });
export const list = <T>(of: Form<T>): Form<readonly T[]> => ({ kind: 'list', of });

/**
 * An object of type `T`. A member that `T` has and the table lacks does not compile, nor the other way round, nor one
 * that may be missing in only one of them.
 */
export const object =
  <T extends object>() =>
  (name: string, members: { readonly [K in keyof T]-?: MemberOf<T, K> }): ObjectForm<T> => ({
    kind: 'object',
    name,
    members,
  });

type MemberOf<T, K extends keyof T> =
  Partial<Pick<T, K>> extends Pick<T, K>
    ? Member<NonNullable<T[K]>> & { readonly when: string }
    : Member<T[K]> & { readonly when?: never };

/** An object with all its members, those too that may be missing. */
export function exampleOf<T>({ members }: ObjectForm<T>): T {
  return examples(members) as T;
}

/** As `exampleOf`, of members alone. */
export function examples(members: Readonly<Record<string, Member>>): Readonly<Record<string, unknown>> {
  return Object.fromEntries(inOrder(members).map(([name, { example }]) => [name, example]));
}

/** The members of an object in canonical order: by UTF-16 code units, as RFC 8785 asks. */
export function inOrder<M>(members: Readonly<Record<string, M>>): readonly (readonly [string, M])[] {
  return Object.entries(members).sort(([a], [b]) => (a < b ? -1 : 1));
}
