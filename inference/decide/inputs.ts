import Type from 'typebox';
import { Compile } from 'typebox/compile';
import type { ModelKind } from './manifest.ts';

const TEXT = Type.String();
const NAMES = Type.Object({ texts: Type.Array(TEXT, { maxItems: 100_000 }) });
const ROUTER = Type.Object({
  request: TEXT,
  previous: Type.Optional(TEXT),
  system: Type.Optional(TEXT),
  attachments: Type.Optional(Type.Array(TEXT, { maxItems: 1000 })),
});
const OPTION = Type.Object({ name: TEXT, description: Type.Optional(TEXT) });
const QUESTION = Type.Object({
  type: Type.Union([Type.Literal('noul'), Type.Literal('choice'), Type.Literal('score')]),
  instructions: TEXT,
  /** Of a proposition: that it holds, and that it does not. */
  options: Type.Array(OPTION, { minItems: 2, maxItems: 20 }),
});
const TYPED = Type.Object({
  state: Type.Union([TEXT, Type.Array(Type.Unknown()), Type.Record(TEXT, Type.Unknown())]),
  questions: Type.Array(QUESTION, { minItems: 1, maxItems: 16 }),
  /** Who asks: the scope guard does not wait behind other questions. */
  lane: Type.Optional(Type.Literal('guard')),
});

const CHECKS = { names: Compile(NAMES), router: Compile(ROUTER), typed: Compile(TYPED) } as const;

/** The question to a model in a request body; undefined if it does not match. */
export function inputOf(kind: ModelKind, body: string): { readonly lane?: string } | undefined {
  let value: unknown;
  try {
    value = JSON.parse(body);
  } catch {
    return undefined;
  }
  return CHECKS[kind].Check(value) ? (value as object) : undefined;
}
