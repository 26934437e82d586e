import { APPLICATORS } from './applicators.ts';
import { ASSERTIONS } from './assertions.ts';
import { isObject, refuse, VagueNumber, type Check, type Place } from './check.ts';
import { KeywordFault, type Inner, type Keyword, type Schema } from './keyword.ts';
import { PatternFault } from './parse-pattern.ts';

/** A schema that cannot be used. `path`: the steps to the faulty place. The message completes the name of that place. */
export class SchemaFault extends Error {
  override readonly name = 'SchemaFault';
  readonly path: readonly string[];

  constructor(path: readonly string[], message: string) {
    super(message);
    this.path = path;
  }
}

/** Characters of a whole schema, schemas in it, and how deep they are nested. */
const MOST_CHARACTERS = 16_384;
const MOST_SCHEMAS = 500;
const MOST_DEPTH = 16;
/** Levels of lists and objects in a schema, those in `const` and `enum` too: some checks call themselves for each. */
const MOST_LEVELS = 64;

const DIALECT = 'https://json-schema.org/draft/2020-12/schema';
/** Keywords that say nothing of a value. */
const ANNOTATIONS: ReadonlySet<string> = new Set(['title', 'description', '$comment', 'default', 'examples']);
const KEYWORDS: ReadonlyMap<string, Keyword> = new Map(Object.entries({ ...ASSERTIONS, ...APPLICATORS }));

/**
 * Compiles a JSON Schema (2020-12) to a check whose work is counted and which runs nothing of the schema's. A keyword that
 * is not checked here is a fault, not ignored: what its author means to forbid would be allowed. `unchecked`: keywords that
 * are ignored, because another party checks them. Throws `SchemaFault`.
 */
export function compileSchema(schema: unknown, unchecked: readonly string[] = []): Check {
  if (isDeep(schema)) throw new SchemaFault([], `must have at most ${MOST_LEVELS} levels of lists and objects`);
  if (JSON.stringify(schema).length > MOST_CHARACTERS)
    throw new SchemaFault([], `must have at most ${MOST_CHARACTERS} characters as JSON`);
  let schemas = 0;
  const compile = (one: unknown, path: readonly string[], depth: number): Check => {
    if (++schemas > MOST_SCHEMAS) throw new SchemaFault(path, `is one more than the ${MOST_SCHEMAS} schemas allowed`);
    if (depth > MOST_DEPTH) throw new SchemaFault(path, `is nested deeper than ${MOST_DEPTH} schemas`);
    if (one === true) return () => undefined;
    if (one === false) return (_value, at) => refuse(at, 'be absent');
    if (!isObject(one)) throw new SchemaFault(path, 'must be a schema: an object, true or false');
    const inner: Inner = (child, ...steps) => compile(child, [...path, ...steps], depth + 1);
    return all(
      Object.keys(one).flatMap((name) => {
        if (unchecked.includes(name)) return [];
        const check = keyword(one, name, path, inner);
        return check ? [check] : [];
      }),
    );
  };
  const check = compile(schema, [], 1);
  return (value, at, work) => {
    try {
      return check(value, at, work);
    } catch (thrown) {
      if (thrown instanceof VagueNumber) return thrown.refusal;
      throw thrown;
    }
  };
}

/** Without recursion: a cluster takes resources of any depth. */
function isDeep(schema: unknown): boolean {
  let level: unknown[] = [schema];
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > MOST_LEVELS) return true;
    level = level.flatMap((value): unknown[] =>
      typeof value === 'object' && value !== null ? Object.values(value) : [],
    );
  }
  return false;
}

function keyword(schema: Schema, name: string, path: readonly string[], inner: Inner): Check | undefined {
  const value = schema[name];
  if (ANNOTATIONS.has(name) || (name === '$schema' && value === DIALECT)) return undefined;
  const make = KEYWORDS.get(name);
  if (!make) throw new SchemaFault([...path, name], unknown(name));
  try {
    return make(value, schema, inner);
  } catch (thrown) {
    if (thrown instanceof KeywordFault || thrown instanceof PatternFault)
      throw new SchemaFault([...path, name], thrown.message);
    throw thrown;
  }
}

function unknown(name: string): string {
  if (name === 'format') return 'is not checked: use pattern';
  if (name === '$schema') return `must be ${DIALECT}`;
  if (name === '$ref' || name === '$defs' || name === '$dynamicRef')
    return 'is not supported: write the schema in place';
  if (name.startsWith('unevaluated')) return 'is not supported: use additionalProperties or items';
  return `is not a supported keyword: ${[...KEYWORDS.keys()].join(', ')}`;
}

/** All of some checks, the first that is against a value first. */
function all(checks: readonly Check[]): Check {
  return (value, at: Place | undefined, work) => {
    work.spend(1 + checks.length);
    for (const check of checks) {
      const refusal = check(value, at, work);
      if (refusal) return refusal;
    }
    return undefined;
  };
}
