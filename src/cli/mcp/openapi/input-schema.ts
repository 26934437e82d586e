import { compileSchema, SchemaFault } from '#/values/json-schema/compile-schema.ts';
import { showHidden } from '#/values/hidden-characters.ts';
import { isObject, type Json, type JsonObject } from '#/wire/document/json.ts';
import { Unusable, type ApiDocument } from './api-document.ts';
import { misleads } from './write-yaml.ts';

/** Schemas one below the other that are tried, until what results is small enough. */
const DEPTHS = [12, 8, 6, 4, 3, 2, 1];
/** Values and names that are looked at for one schema. */
const MOST_STEPS = 4000;
/** Keywords that are left out before a schema is. */
const MOST_FAULTS = 64;
/** Values of an enumeration that are listed. */
const MOST_VALUES = 200;
const MOST_DESCRIPTION = 300;
/** Told to clients, and checked by the API itself. */
const UNCHECKED = ['format'];

/** Keywords that are taken as they are. */
const PLAIN: ReadonlySet<string> = new Set([
  ...['type', 'format', 'pattern', 'required', 'uniqueItems', 'const', 'default', 'multipleOf'],
  ...['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'minLength', 'maxLength'],
  ...['minItems', 'maxItems', 'minProperties', 'maxProperties', 'minContains', 'maxContains', 'dependentRequired'],
]);
const ONE: ReadonlySet<string> = new Set(['items', 'additionalProperties', 'not', 'contains', 'propertyNames']);
const LISTS: ReadonlySet<string> = new Set(['allOf', 'anyOf', 'oneOf', 'prefixItems']);
const NAMED: ReadonlySet<string> = new Set(['properties', 'patternProperties', 'dependentSchemas']);

class TooMuch extends Error {
  override readonly name = 'TooMuch';
}

/** A property of a schema of arguments. */
export interface ArgumentSchema {
  readonly name: string;
  readonly schema: Json | undefined;
  readonly description: string | undefined;
  readonly isRequired: boolean;
}

/** A JSON Schema without references, and what had to be left out of it. */
export interface InputSchema {
  readonly schema: JsonObject;
  readonly notes: readonly string[];
}

/**
 * The schema of a tool's arguments, in the form that resources take: references are replaced by what they name. A schema that
 * leads back to itself, or that is too large, ends in one that says less. Each try takes a bounded time.
 */
export function inputSchema(members: readonly ArgumentSchema[], document: ApiDocument): InputSchema {
  const required = members.filter(({ isRequired }) => isRequired).map(({ name }) => name);
  for (const depth of DEPTHS) {
    const writer = new SchemaWriter(document);
    try {
      const properties = Object.fromEntries(
        members.map(({ name, schema, description }) => [name, described(writer.write(schema, depth, []), description)]),
      );
      const whole = {
        type: 'object',
        properties,
        ...(required.length > 0 && { required }),
        additionalProperties: false,
      };
      const { schema, notes } = withoutFaults(whole);
      const isCut = depth < DEPTHS[0]! || writer.isCut;
      const more = [
        ...(isCut ? ['its deeper parts are left out'] : []),
        ...(writer.isMisleading
          ? ['names and values that are not read as they stand, such as with hidden characters, are left out']
          : []),
      ];
      return { schema, notes: [...notes, ...more] };
    } catch (thrown) {
      if (!(thrown instanceof TooMuch)) throw thrown;
    }
  }
  const properties = Object.fromEntries(members.map(({ name }) => [name, {}]));
  const schema = { type: 'object', properties, ...(required.length > 0 && { required }), additionalProperties: false };
  return { schema, notes: ['the schemas of its arguments are too large, and are left out'] };
}

function described(schema: Json, description: string | undefined): Json {
  if (description === undefined || !isObject(schema)) return schema;
  return { ...schema, description: shortText(description, MOST_DESCRIPTION) };
}

/** A text of a document on as many lines as it has, with characters shown that a reader would not see. */
export function shortText(text: string, most: number): string {
  const shown = text.slice(0, most).toWellFormed().split(/\r?\n/).map(showHidden).join('\n').trim();
  return text.length > most ? `${shown.slice(0, most - 1)}…` : shown.slice(0, most);
}

/** Leaves out what the checker does not know, keyword by keyword. Throws `TooMuch` for a schema that stays too large. */
function withoutFaults(whole: JsonObject): InputSchema {
  const notes: string[] = [];
  const schema = structuredClone(whole) as Record<string, Json>;
  for (let faults = 0; faults < MOST_FAULTS; faults++) {
    try {
      compileSchema(schema, UNCHECKED);
      return { schema, notes };
    } catch (thrown) {
      if (!(thrown instanceof SchemaFault)) throw thrown;
      const { path } = thrown;
      if (path.length < 3 || !remove(schema, path)) throw new TooMuch();
      notes.push(
        `${path.map(showHidden).join('.').slice(0, 200)} is left out, because it ${thrown.message.slice(0, 200)}`,
      );
    }
  }
  throw new TooMuch();
}

function remove(schema: Record<string, Json>, path: readonly string[]): boolean {
  let at: unknown = schema;
  for (const step of path.slice(0, -1)) at = isBranch(at) && Object.hasOwn(at, step) ? at[step] : undefined;
  const last = path.at(-1)!;
  if (!isBranch(at) || !Object.hasOwn(at, last)) return false;
  // In a list of schemas the place stays.
  if (Array.isArray(at)) at[Number(last)] = {};
  else delete at[last];
  return true;
}

function isBranch(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}

/** Writes schemas of a document as JSON Schema without references. */
class SchemaWriter {
  isCut = false;
  /** Something that is not read as it stands was left out. */
  isMisleading = false;
  readonly #document: ApiDocument;
  #steps = 0;

  constructor(document: ApiDocument) {
    this.#document = document;
  }

  /** `within`: references that lead here. Throws `TooMuch`. */
  write(schema: Json | undefined, depth: number, within: readonly string[]): Json {
    this.#step(1);
    if (schema === true || schema === undefined) return {};
    if (schema === false) return false;
    if (!isObject(schema)) return {};
    const followed = this.#follow(schema);
    if (!followed) return {};
    const { value, ref } = followed;
    if (depth === 0 || (ref !== undefined && within.includes(ref))) return this.#end(value);
    const inside = ref === undefined ? within : [...within, ref];
    const inner = (one: Json | undefined): Json => this.write(one, depth - 1, inside);
    const written: Record<string, Json> = {};
    for (const [name, keyword] of Object.entries(value)) {
      if (keyword === undefined) continue;
      if (PLAIN.has(name)) this.#plain(written, name, keyword);
      else if (ONE.has(name)) written[name] = inner(keyword);
      else if (LISTS.has(name) && Array.isArray(keyword)) written[name] = (keyword as readonly Json[]).map(inner);
      else if (NAMED.has(name) && isObject(keyword)) written[name] = this.#named(name, keyword, inner);
    }
    this.#rest(written, value, isObject(schema) ? schema['description'] : undefined);
    return written;
  }

  #follow(schema: JsonObject) {
    try {
      return this.#document.follow(schema);
    } catch (thrown) {
      if (!(thrown instanceof Unusable)) throw thrown;
      this.isCut = true;
      return undefined;
    }
  }

  /** Where a schema goes no deeper, its type still says something. */
  #end({ type }: JsonObject): Json {
    this.isCut = true;
    return typeof type === 'string' ? { type } : {};
  }

  #plain(written: Record<string, Json>, name: string, keyword: Json): void {
    this.#step(JSON.stringify(keyword).length / 16);
    if (misleads(keyword)) this.isMisleading = true;
    else written[name] = keyword;
  }

  #named(name: string, schemas: JsonObject, inner: (schema: Json | undefined) => Json): Json {
    const all = Object.entries(schemas);
    this.#step(all.length);
    const plain = all.filter(([key]) => !misleads(key));
    if (plain.length < all.length) this.isMisleading = true;
    const sent = name === 'properties' ? plain.filter(([, schema]) => !this.#isOnlyRead(schema)) : plain;
    return Object.fromEntries(sent.map(([key, schema]) => [key, inner(schema)]));
  }

  /** Members that only answers have. */
  #isOnlyRead(schema: Json | undefined): boolean {
    if (!isObject(schema)) return false;
    return this.#follow(schema)?.value['readOnly'] === true;
  }

  /** Keywords that OpenAPI 3.0 spells otherwise, and those that are shortened. */
  #rest(written: Record<string, Json>, value: JsonObject, referring: Json | undefined): void {
    const description = typeof referring === 'string' ? referring : value['description'];
    if (typeof description === 'string' && description !== '')
      written['description'] = shortText(description, MOST_DESCRIPTION);
    const { enum: values, properties, nullable } = value;
    if (Array.isArray(values)) {
      this.#step(values.length);
      if (values.length > MOST_VALUES) this.isCut = true;
      else this.#plain(written, 'enum', values as readonly Json[]);
    }
    if (Array.isArray(written['required']) && isObject(properties)) {
      const isSent = (name: Json): boolean =>
        typeof name === 'string' && !(Object.hasOwn(properties, name) && this.#isOnlyRead(properties[name]));
      written['required'] = (written['required'] as readonly Json[]).filter(isSent);
    }
    if (!this.#document.isOld) return;
    for (const [limit, exclusive] of LIMITS) {
      const flag = written[exclusive];
      if (typeof flag !== 'boolean') continue;
      delete written[exclusive];
      if (flag && written[limit] !== undefined) written[exclusive] = written[limit]!;
      if (flag) delete written[limit];
    }
    if (nullable !== true) return;
    if (typeof written['type'] === 'string') written['type'] = [written['type'], 'null'];
    const list = written['enum'];
    if (Array.isArray(list) && !list.includes(null)) written['enum'] = [...(list as readonly Json[]), null];
  }

  #step(steps: number): void {
    this.#steps += steps;
    if (this.#steps > MOST_STEPS) throw new TooMuch();
  }
}

const LIMITS = [
  ['minimum', 'exclusiveMinimum'],
  ['maximum', 'exclusiveMaximum'],
] as const;
