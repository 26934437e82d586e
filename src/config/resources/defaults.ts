interface Node {
  readonly properties?: Readonly<Record<string, Node>>;
  readonly items?: Node;
  readonly default?: unknown;
}

/**
 * A copy of a value with the schema's defaults filled in, as the Kubernetes API server would store it: only fields
 * that are absent, inside objects that are there or have a default themselves. The value need not fit the schema.
 */
export function withDefaults(schema: object, value: unknown): unknown {
  const { properties, items } = schema as Node;
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return items ? value.map((item) => withDefaults(items, item)) : value;
  if (!properties) return value;
  const copy: Record<string, unknown> = {};
  for (const key of Object.keys(value)) {
    const member = (value as Readonly<Record<string, unknown>>)[key];
    if (member === undefined) continue;
    const property = Object.hasOwn(properties, key) ? properties[key] : undefined;
    const copied = property ? withDefaults(property, member) : member;
    if (key === '__proto__') Object.defineProperty(copy, key, { value: copied, enumerable: true });
    else copy[key] = copied;
  }
  for (const key in properties) {
    const property = properties[key]!;
    if (property.default !== undefined && copy[key] === undefined) copy[key] = withDefaults(property, property.default);
  }
  return copy;
}
