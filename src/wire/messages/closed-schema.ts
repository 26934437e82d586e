import { isObject, type Json, type JsonObject } from '../document/json.ts';

/** Members of a schema that map names to schemas, so that the names are not taken for a schema's own words. */
const MAPS = new Set(['properties', '$defs', 'definitions']);
/** Members that hold values, not schemas. */
const VALUES = new Set(['enum', 'const', 'default', 'examples', 'required']);

/** A schema whose objects take no members but those named: this family refuses one that leaves it open. */
export function closedSchema(schema: JsonObject): JsonObject {
  const closed: Record<string, Json | undefined> = {};
  for (const name in schema) {
    const value = schema[name];
    closed[name] = VALUES.has(name) ? value : MAPS.has(name) ? closedMap(value) : closedValue(value);
  }
  if (schema['type'] === 'object' && schema['additionalProperties'] === undefined)
    closed['additionalProperties'] = false;
  return closed;
}

function closedMap(value: Json | undefined): Json | undefined {
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, schema]) => [name, closedValue(schema)]));
}

function closedValue(value: Json | undefined): Json | undefined {
  if (Array.isArray(value)) return (value as readonly Json[]).map((item) => closedValue(item) ?? null);
  return isObject(value) ? closedSchema(value) : value;
}
