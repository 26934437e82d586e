import type { CustomTerm } from '#/config/snapshot.ts';
import { GatewayError } from '#/errors/gateway-error.ts';
import type { Json, JsonObject } from '#/wire/document/json.ts';
import { isArray } from '#/wire/request/request-shape.ts';
import { readTerms } from '../extension.ts';

/** What a client asks to be taken out of a document. // spec 2.5 */
export interface AnonymizeOptions {
  /** Kinds in lower case; undefined: all that can be found. */
  readonly entities: readonly string[] | undefined;
  readonly remove: readonly CustomTerm[];
  readonly includeMapping: boolean;
  /** What the client wrote them into; absent: `options`. */
  readonly within?: string;
}

const MOST_ENTITIES = 64;
/** What clients call the options. */
export const OPTION_NAMES = ['entities', 'remove', 'include_mapping'] as const;

/** Reads the options among the members of an object. `within`: what the object is called. Throws `invalid_request`. */
export function readAnonymizeOptions(body: JsonObject, within = 'options'): AnonymizeOptions {
  const { remove: terms = [], include_mapping: includeMapping = false } = body;
  if (typeof includeMapping !== 'boolean')
    throw invalid(`${within}.include_mapping must be a boolean.`, `${within}.include_mapping`);
  const entities = namesIn(body['entities'], `${within}.entities`);
  const remove = readTerms(terms, `${within}.remove`);
  // Its result would have everything in it, and be taken for free of it.
  if (entities?.length === 0 && remove.length === 0)
    throw invalid(`${within}.entities must not be empty. Remove it to find every kind.`, `${within}.entities`);
  return { entities, remove, includeMapping, ...(within !== 'options' && { within }) };
}

function namesIn(value: Json | undefined, param: string): readonly string[] | undefined {
  if (value === undefined || value === null) return undefined;
  const fits = isArray(value) && value.length <= MOST_ENTITIES && value.every((name) => typeof name === 'string');
  if (!fits) throw invalid(`${param} must be an array of kinds, such as email.`, param);
  return value;
}

function invalid(message: string, param: string): GatewayError {
  return new GatewayError('invalid_request', message, { param });
}
