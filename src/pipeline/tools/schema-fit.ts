import { Check } from 'typebox/schema';
import { isObject, type Json, type JsonObject } from '#/wire/document/json.ts';

/** Schema values times values of arguments, beyond which nothing is compared. */
const MOST_COMPARED = 5_000_000;
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
    if (sizeOf(schema) * sizeOf(written) > MOST_COMPARED) return false;
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

function sizeOf(value: Json): number {
  if (typeof value !== 'object' || value === null) return 1;
  let size = 1;
  for (const one of Object.values(value)) size += one === undefined ? 0 : sizeOf(one);
  return size;
}
