import { ownCopy } from '../document/large-text.ts';
import { BadRequestShape } from '../hub/codec.ts';
import { EXTENSION, type WireDocument } from '../document/document.ts';
import { isObject, type Json, type JsonObject } from '../document/json.ts';
import { member, type StringNode } from '../document/scan.ts';

/** Letters, digits and what vendors put between them; short enough for every audit row. */
const MODEL_ID = /^[A-Za-z0-9][A-Za-z0-9._:/@+-]{0,255}$/;
/** What leads out of a folder, where an id becomes a part of an address. */
const STEP_UP = /(?:^|\/)\.{1,2}(?:\/|$)/;

/** A name that folding leaves as it is. */
const PLAIN_NAME = /^[a-z\d_.-]*$/;
/** Longer names differ from known ones in more than case; of those of the gateway's extension this tells enough. */
const MOST_FOLDED = 64;

/** More tokens than any answer has: a ceiling beyond it is not meant. */
export const MAX_TOKENS = 10_000_000;
/** Most answers one request may ask for. */
export const MAX_ANSWERS = 128;

/** Whether a value is a model id as one may be written. */
export function isModelId(value: Json | undefined): value is string {
  return typeof value === 'string' && MODEL_ID.test(value) && !STEP_UP.test(value);
}

/** The model id as written, and where. Throws `BadRequestShape`. // spec 2.2 */
export function modelOf({ body, root }: WireDocument): { model: string; modelNode: StringNode } {
  const { model } = body;
  if (!isModelId(model)) {
    throw new BadRequestShape('model is required and must be a model id: <provider>/<model>', 'model');
  }
  // Rows hold the model for longer than the document lives.
  return { model: ownCopy(model), modelNode: member(root, 'model') as StringNode };
}

/** A member's name as lenient readers take it: without differences of case and width. */
export function foldedName(name: string): string {
  return PLAIN_NAME.test(name) ? name : name.normalize('NFKC').toLowerCase();
}

/**
 * Refuses members that a parser ignoring case would read for one that decides about the call (`controls`, or the
 * gateway's own extension). Throws `BadRequestShape`.
 */
export function refuseLookalikes({ body }: WireDocument, controls: readonly string[]): void {
  for (const whole in body) {
    if (PLAIN_NAME.test(whole)) continue;
    const name = whole.length > MOST_FOLDED ? whole.slice(0, MOST_FOLDED) : whole;
    const folded = foldedName(name);
    if (folded !== name && (controls.includes(folded) || EXTENSION.test(folded))) {
      throw new BadRequestShape('A field name differs from a known one only in letter case', folded);
    }
  }
}

/** A boolean member; null is as good as absent. Throws `BadRequestShape`. */
export function optionalBoolean(body: JsonObject, name: string, param = name): boolean | undefined {
  const value = body[name] ?? undefined;
  if (value !== undefined && typeof value !== 'boolean') throw new BadRequestShape(`${param} must be a boolean`, param);
  return value;
}

/** A whole number that a price ceiling is computed from, small enough to be meant. Throws `BadRequestShape`. */
export function optionalCount(body: JsonObject, name: string, most: number, least = 1): number | undefined {
  const value = body[name] ?? undefined;
  if (value === undefined) return undefined;
  if (typeof value !== 'number' || !Number.isInteger(value) || value < least || value > most) {
    throw new BadRequestShape(`${name} must be a whole number from ${least} to ${most}`, name);
  }
  return value;
}

/** A number member; null is as good as absent. Throws `BadRequestShape`. */
export function optionalNumber(body: JsonObject, name: string, param = name): number | undefined {
  const value = body[name] ?? undefined;
  if (value !== undefined && typeof value !== 'number') throw new BadRequestShape(`${param} must be a number`, param);
  return value;
}

/** A string member; null is as good as absent. Throws `BadRequestShape`. */
export function optionalString(body: JsonObject, name: string, param = name): string | undefined {
  const value = body[name] ?? undefined;
  if (value !== undefined && typeof value !== 'string') throw new BadRequestShape(`${param} must be a string`, param);
  return value;
}

/** A string member that must be there. `param`: the place of the object. Throws `BadRequestShape`. */
export function requiredString(object: JsonObject, name: string, param: string): string {
  const value = object[name];
  if (typeof value !== 'string') throw new BadRequestShape(`${param}.${name} must be a string`, `${param}.${name}`);
  return value;
}

/** An object member; null is as good as absent. Throws `BadRequestShape`. */
export function optionalObject(body: JsonObject, name: string, param = name): JsonObject | undefined {
  const value = body[name] ?? undefined;
  if (value !== undefined && !isObject(value)) throw new BadRequestShape(`${param} must be an object`, param);
  return value;
}

/** An array member; null is as good as absent. Throws `BadRequestShape`. */
export function optionalArray(body: JsonObject, name: string, param = name): readonly Json[] | undefined {
  const value = body[name] ?? undefined;
  if (value !== undefined && !isArray(value)) throw new BadRequestShape(`${param} must be an array`, param);
  return value;
}

/** Whether a JSON value is an array. */
export function isArray(value: Json | undefined): value is readonly Json[] {
  return Array.isArray(value);
}
