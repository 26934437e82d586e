import { Check } from 'typebox/schema';
import { isObject, type Json, type JsonObject } from '#/wire/document/json.ts';

/** Times that a schema is asked about a value, beyond which nothing is compared: each takes up to some 10 µs, twice. */
const MOST_ASKED = 20_000;
/** Characters of a text that are one more time: a schema with a pattern or a length reads all of them. */
const CHARACTERS = 256;
/** What a tag or a mask looks like: linear, whatever it is asked about. */
const REPLACED = '«[A-Z][A-Z0-9_]{0,63}_[0-9]{1,9}»|\\[[A-Z][A-Z0-9_]{0,63}\\]';
/** Patterns that any text fits. */
const ANYTHING = /^\^?\.[*+]\$?$/;

/**
 * Whether arguments fitted a tool's schema as the client wrote them and no longer do as they would be sent: a tag must not
 * become a wrong order. A schema that cannot be used says nothing.
 */
export function fitsNoLonger(schema: JsonObject, written: Json, sent: Json): boolean {
  try {
    const usable = usableSchema(schema) as Parameters<typeof Check>[0];
    new Asking().count(usable as Json, written);
    new Asking().count(usable as Json, sent);
    return Check(usable, written) && !Check(usable, sent);
  } catch {
    return false;
  }
}

/**
 * A server's schema as it may be asked here. Its patterns may take for ever, so that a text with a tag in it is taken not to
 * fit them; references may lead anywhere, and are not followed.
 */
function usableSchema(schema: Json): Json {
  if (Array.isArray(schema)) return (schema as readonly Json[]).map(usableSchema);
  if (!isObject(schema)) return schema;
  const usable: Record<string, Json> = {};
  for (const [name, value] of Object.entries(schema)) {
    if (value === undefined || LEFT_OUT.has(name)) continue;
    if (name === 'pattern' && typeof value === 'string') {
      if (!ANYTHING.test(value)) usable['not'] = { type: 'string', pattern: REPLACED };
    } else if (DATA.has(name)) usable[name] = value;
    else if (name === 'properties' && isObject(value)) {
      usable[name] = Object.fromEntries(
        Object.entries(value).map(([key, child]) => [key, usableSchema(child ?? null)]),
      );
    } else if (name !== 'not' || typeof schema['pattern'] !== 'string') usable[name] = usableSchema(value);
  }
  return usable;
}

const LEFT_OUT: ReadonlySet<string> = new Set([
  ...['$ref', '$dynamicRef', '$id', '$schema', '$anchor', '$dynamicAnchor', '$defs', 'definitions'],
  ...['patternProperties', 'uniqueItems', 'x-mcp-header'],
]);
const DATA: ReadonlySet<string> = new Set(['const', 'enum', 'default', 'examples', 'required', 'type']);

class TooMuchAsked extends Error {
  override readonly name = 'TooMuchAsked';
}

/** Keywords whose schemas are asked about each item or member of a value, not about the value itself. */
const OF_PARTS: ReadonlySet<string> = new Set([
  ...['items', 'prefixItems', 'additionalItems', 'contains', 'unevaluatedItems'],
  ...['additionalProperties', 'unevaluatedProperties', 'propertyNames'],
]);

/** Counts how often schemas are asked about values, before they are. */
class Asking {
  #asked = 0;

  /** Throws `TooMuchAsked`. Each schema within an array counts by itself. */
  count(schema: Json, value: Json): void {
    if (Array.isArray(schema)) {
      for (const one of schema as readonly Json[]) this.count(one, value);
      return;
    }
    this.#asked += typeof value === 'string' ? 1 + value.length / CHARACTERS : 1;
    if (this.#asked > MOST_ASKED) throw new TooMuchAsked('the schema takes too long');
    if (!isObject(schema)) return;
    this.#others(schema, value);
    for (const [name, child] of Object.entries(schema)) {
      if (child === undefined) continue;
      if (name === 'enum') this.#add(sizeOf(child));
      else if (DATA.has(name)) continue;
      else if (name === 'properties' && isObject(child)) this.#members(child, value);
      else if (OF_PARTS.has(name)) this.#parts(child, value, name === 'propertyNames');
      else if (typeof child === 'object') this.count(child, value);
    }
  }

  /** Members outside `properties` are found by comparing each with each. */
  #others({ properties, ...schema }: JsonObject, value: Json): void {
    const isAsked = 'additionalProperties' in schema || 'unevaluatedProperties' in schema;
    if (isAsked && isObject(properties) && isObject(value))
      this.#add(2 * Object.keys(properties).length * Object.keys(value).length);
  }

  /** Of what takes less than a schema does. */
  #add(times: number): void {
    this.#asked += times / 8;
    if (this.#asked > MOST_ASKED) throw new TooMuchAsked('the schema takes too long');
  }

  #members(schemas: JsonObject, value: Json): void {
    this.#add(Object.keys(schemas).length);
    if (!isObject(value)) return;
    for (const [name, schema] of Object.entries(schemas)) {
      const member = Object.hasOwn(value, name) ? value[name] : undefined;
      if (member !== undefined && schema !== undefined) this.count(schema, member);
    }
  }

  #parts(schema: Json, value: Json, names: boolean): void {
    if (typeof value !== 'object' || value === null) return;
    for (const [name, part] of Object.entries(value)) {
      if (part !== undefined) this.count(schema, names ? name : part);
    }
  }
}

function sizeOf(value: Json): number {
  if (typeof value !== 'object' || value === null) return 1;
  let size = 1;
  for (const one of Object.values(value)) size += one === undefined ? 0 : sizeOf(one);
  return size;
}
