import Type, { type Static } from 'typebox';
import { Compile } from 'typebox/compile';
import type { DocumentFile } from '#/ports/documents.ts';

const LANGUAGES = Type.Array(Type.String({ pattern: '^[A-Za-z]{2,3}$' }), { maxItems: 16 });
const WITHIN = Type.Optional(Type.Number({ minimum: 0 }));
const COUNT = Type.Integer({ minimum: 0, maximum: 1_000_000 });

/** Options of each verb; unknown fields are ignored. */
const OPTIONS = {
  read: Type.Object({
    languages: Type.Optional(LANGUAGES),
    recognize: Type.Union([Type.Literal('auto'), Type.Literal('never')]),
    withinMs: WITHIN,
  }),
  render: Type.Object({ maxPages: COUNT }),
  recognize: Type.Object({
    languages: Type.Optional(LANGUAGES),
    pages: Type.Optional(Type.Array(COUNT, { maxItems: 100_000 })),
    includeImages: Type.Boolean(),
    imageLimit: Type.Optional(COUNT),
    imageMinSize: Type.Optional(COUNT),
  }),
  redact: Type.Object({
    layout: Type.String(),
    replacements: Type.Array(
      Type.Object({
        unit: Type.String(),
        start: Type.Integer({ minimum: 0 }),
        end: Type.Integer(),
        tag: Type.String(),
      }),
    ),
    originals: Type.Array(Type.String()),
    withinMs: WITHIN,
  }),
};

const CHECKS = {
  read: Compile(OPTIONS.read),
  render: Compile(OPTIONS.render),
  recognize: Compile(OPTIONS.recognize),
  redact: Compile(OPTIONS.redact),
};

/** What can be done to a document: the verbs of `DocumentEngine`. */
export type Verb = keyof typeof OPTIONS;

export const VERBS = Object.keys(OPTIONS) as readonly Verb[];

/** A verb with its options and its document. */
export type Job = {
  readonly [V in Verb]: {
    readonly verb: V;
    readonly options: Static<(typeof OPTIONS)[V]>;
    readonly file: DocumentFile;
  };
}[Verb];

/** The job that a request asks for, or undefined where its options are not the verb's. */
export function jobOf(verb: Verb, options: unknown, file: DocumentFile): Job | undefined {
  if (!CHECKS[verb].Check(options)) return undefined;
  return { verb, options, file } as Job;
}
