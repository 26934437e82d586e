import { below, isArray, isObject, refuse, told, UNNAMED, type Check, type Place, type Refusal } from './check.ts';
import { KeywordFault, schemaList, schemasOf, textsOf, wholeNumber, type Keyword } from './keyword.ts';
import { LinearPattern } from './linear-pattern.ts';
import type { Work } from './work.ts';

/** Keywords that apply schemas to a value, or to parts of it. */
export const APPLICATORS: Readonly<Record<string, Keyword>> = {
  properties: (value, _schema, inner) => {
    const members = schemasOf(value).map(([name, schema]) => [name, inner(schema, 'properties', name)] as const);
    return ofObject((object, at, work) => {
      work.spend(members.length);
      for (const [name, check] of members) {
        if (!Object.hasOwn(object, name)) continue;
        const refusal = check(object[name], below(at, name), work);
        if (refusal) return refusal;
      }
      return undefined;
    });
  },
  patternProperties: (value, _schema, inner) => {
    const patterns = patternsOf(value, (pattern, schema) => inner(schema, 'patternProperties', pattern));
    return eachMember((name, member, at, work) => {
      for (const [pattern, check] of patterns) {
        if (!pattern.test(name, work)) continue;
        const refusal = check(member, below(at, UNNAMED), work);
        if (refusal) return refusal;
      }
      return undefined;
    });
  },
  additionalProperties: (value, schema, inner) => {
    const check = inner(value, 'additionalProperties');
    const named = new Set(
      schema['properties'] === undefined ? [] : schemasOf(schema['properties']).map(([name]) => name),
    );
    const patterns = patternsOf(schema['patternProperties'] ?? {}, () => undefined);
    const others = `have no members but ${told([...named, ...patterns.map(([{ source }]) => source)]) || 'none'}`;
    return eachMember((name, member, at, work) => {
      if (named.has(name) || patterns.some(([pattern]) => pattern.test(name, work))) return undefined;
      return value === false ? refuse(at, others) : check(member, below(at, UNNAMED), work);
    });
  },
  propertyNames: (value, _schema, inner) => {
    const check = inner(value, 'propertyNames');
    return eachMember((name, _member, at, work) => {
      const refusal = check(name, undefined, work);
      return refusal && refuse(at, `have only members whose names ${refusal.must}`);
    });
  },
  dependentRequired: (value) => {
    const pairs = schemasOf(value).map(([name, others]) => [name, textsOf(others)] as const);
    return ofObject((object, at, work) => {
      for (const [name, others] of pairs) {
        work.spend(1 + others.length);
        if (!Object.hasOwn(object, name)) continue;
        const missing = others.find((other) => !Object.hasOwn(object, other));
        if (missing !== undefined) return refuse(at, `have ${told([missing])} together with ${told([name])}`);
      }
      return undefined;
    });
  },
  dependentSchemas: (value, _schema, inner) => {
    const pairs = schemasOf(value).map(([name, one]) => [name, inner(one, 'dependentSchemas', name)] as const);
    return ofObject((object, at, work) => {
      work.spend(pairs.length);
      return first(pairs, ([name, check]) => (Object.hasOwn(object, name) ? check(object, at, work) : undefined));
    });
  },
  prefixItems: (value, _schema, inner) => {
    const checks = schemaList(value).map((one, index) => inner(one, 'prefixItems', String(index)));
    return ofArray((items, at, work) =>
      first(checks.slice(0, items.length).entries(), ([index, check]) =>
        check(items[index], below(at, String(index)), work),
      ),
    );
  },
  items: (value, { prefixItems }, inner) => {
    if (isArray(value)) throw new KeywordFault('must be a schema: lists of schemas are prefixItems');
    const check = inner(value, 'items');
    const from = isArray(prefixItems) ? prefixItems.length : 0;
    return ofArray((items, at, work) => {
      for (let index = from; index < items.length; index++) {
        const refusal = check(items[index], below(at, String(index)), work);
        if (refusal) return refusal;
      }
      return undefined;
    });
  },
  contains: (value, { minContains = 1, maxContains }, inner) => {
    const check = inner(value, 'contains');
    const least = wholeNumber(minContains);
    const most = maxContains === undefined ? Infinity : wholeNumber(maxContains);
    const must = `have at least ${least}${most === Infinity ? '' : ` and at most ${most}`} items that contains describes`;
    return ofArray((items, at, work) => {
      let count = 0;
      for (const item of items) if (!check(item, at, work)) count++;
      return count < least || count > most ? refuse(at, must) : undefined;
    });
  },
  minContains: beside('contains'),
  maxContains: beside('contains'),
  allOf: (value, _schema, inner) => {
    const checks = listOf('allOf', value, inner);
    return (one, at, work) => first(checks, (check) => check(one, at, work));
  },
  anyOf: (value, _schema, inner) => {
    const checks = listOf('anyOf', value, inner);
    return (one, at, work) =>
      checks.some((check) => !check(one, at, work)) ? undefined : refuse(at, 'keep one of the schemas of anyOf');
  },
  oneOf: (value, _schema, inner) => {
    const checks = listOf('oneOf', value, inner);
    return (one, at, work) => {
      const kept = checks.filter((check) => !check(one, at, work));
      return kept.length === 1 ? undefined : refuse(at, 'keep exactly one of the schemas of oneOf');
    };
  },
  not: (value, _schema, inner) => {
    const check = inner(value, 'not');
    return (one, at, work) => (check(one, at, work) ? undefined : refuse(at, 'not keep the schema of not'));
  },
  if: (value, { then = true, else: other = true }, inner) => {
    const check = inner(value, 'if');
    const [kept, broken] = [inner(then, 'then'), inner(other, 'else')];
    return (one, at, work) => (check(one, at, work) ? broken : kept)(one, at, work);
  },
  ...Object.fromEntries(['then', 'else'].map((name) => [name, beside('if')])),
};

/** A keyword that another one reads, without which it would say nothing. */
function beside(other: string): Keyword {
  return (_value, schema) => {
    if (schema[other] === undefined) throw new KeywordFault(`needs ${other}`);
    return undefined;
  };
}

function listOf(keyword: string, value: unknown, inner: Parameters<Keyword>[2]): readonly Check[] {
  return schemaList(value).map((one, index) => inner(one, keyword, String(index)));
}

function patternsOf<T>(
  value: unknown,
  of: (pattern: string, schema: unknown) => T,
): readonly (readonly [LinearPattern, T])[] {
  return schemasOf(value).map(([pattern, schema]) => [new LinearPattern(pattern), of(pattern, schema)] as const);
}

function first<T>(all: Iterable<T>, refusalOf: (one: T) => Refusal | undefined): Refusal | undefined {
  for (const one of all) {
    const refusal = refusalOf(one);
    if (refusal) return refusal;
  }
  return undefined;
}

type Members = Readonly<Record<string, unknown>>;

function ofObject(check: (object: Members, at: Place | undefined, work: Work) => Refusal | undefined): Check {
  return (value, at, work) => (isObject(value) ? check(value, at, work) : undefined);
}

function eachMember(
  check: (name: string, member: unknown, at: Place | undefined, work: Work) => Refusal | undefined,
): Check {
  return ofObject((object, at, work) => {
    // Names are listed at once: that is counted before.
    const names = Object.keys(object);
    work.spend(names.length);
    return first(names, (name) => check(name, object[name], at, work));
  });
}

function ofArray(check: (items: readonly unknown[], at: Place | undefined, work: Work) => Refusal | undefined): Check {
  return (value, at, work) => (isArray(value) ? check(value, at, work) : undefined);
}
