import { parseYaml } from '#/config/folder/yaml-documents.ts';
import { isObject, type Json, type JsonObject } from '#/wire/document/json.ts';
import { UsageError } from '../../terminal/usage-error.ts';

/** References that lead to one another before one fails. */
const MOST_HOPS = 32;
const VERSION = /^3\.[01]\.\d{1,4}$/;

/** A place of a document that cannot be used. The message completes "…: ". */
export class Unusable extends Error {
  override readonly name = 'Unusable';
}

/** A value, and the reference that names it, if one does. */
export interface Referred {
  readonly value: JsonObject;
  readonly ref: string | undefined;
}

/** An OpenAPI description. References are followed within it, and nowhere else: nothing is fetched. */
export class ApiDocument {
  readonly root: JsonObject;

  constructor(root: JsonObject) {
    this.root = root;
  }

  /** OpenAPI 3.0, in which schemas are not JSON Schema. */
  get isOld(): boolean {
    const { openapi } = this.root;
    return typeof openapi === 'string' && openapi.startsWith('3.0.');
  }

  /** An object, or the one that its reference leads to. Throws `Unusable`. */
  follow(value: Json | undefined): Referred {
    let ref: string | undefined;
    for (let hops = 0; hops < MOST_HOPS; hops++) {
      if (!isObject(value)) throw new Unusable('is not an object');
      const next = value['$ref'];
      if (next === undefined) return { value, ref };
      if (typeof next !== 'string') throw new Unusable('has a $ref that is no text');
      if (!next.startsWith('#')) throw new Unusable('has a $ref that leads to another document, which is not fetched');
      ref = next;
      value = this.#at(next.slice(1));
    }
    throw new Unusable('has a $ref that leads back to itself');
  }

  /** // RFC 6901 */
  #at(pointer: string): Json {
    let value: Json | undefined = this.root;
    for (const step of pointer.split('/').slice(1)) {
      const name = decoded(step).replaceAll('~1', '/').replaceAll('~0', '~');
      value = memberOf(value, name);
    }
    if (value === undefined || !pointer.startsWith('/')) throw new Unusable('has a $ref that leads nowhere');
    return value;
  }
}

function memberOf(value: Json | undefined, name: string): Json | undefined {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined;
  return (value as JsonObject)[name];
}

function decoded(step: string): string {
  try {
    return decodeURIComponent(step);
  } catch {
    return step;
  }
}

/** Reads JSON or YAML. Throws UsageError for a text that is no description of OpenAPI 3.0 or 3.1. */
export async function readApiDocument(file: string, text: string): Promise<ApiDocument> {
  const root = /^\s*\{/.test(text) ? fromJson(file, text) : await fromYaml(file, text);
  if (!isObject(root)) throw new UsageError(`${file} is no description of an API: it is not an object`);
  const { openapi, swagger } = root;
  if (swagger !== undefined) throw new UsageError(`${file} is Swagger 2.0: convert it to OpenAPI 3 first`);
  if (typeof openapi !== 'string' || !VERSION.test(openapi))
    throw new UsageError(`${file} is not OpenAPI 3.0 or 3.1: its member openapi says the version, such as 3.1.0`);
  return new ApiDocument(root);
}

function fromJson(file: string, text: string): Json {
  try {
    return JSON.parse(text) as Json;
  } catch {
    throw new UsageError(`${file} is neither JSON nor YAML`);
  }
}

async function fromYaml(file: string, text: string): Promise<Json> {
  const { documents, faults } = await parseYaml(file, text);
  const [fault] = faults;
  if (fault) throw new UsageError(`${file} is not readable: ${fault.field} ${fault.message}`);
  return (documents[0]?.value ?? null) as Json;
}
