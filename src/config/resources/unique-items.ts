interface Node {
  readonly properties?: Readonly<Record<string, Node>>;
  readonly items?: Node;
  readonly 'x-kubernetes-list-type'?: 'set' | 'map';
  readonly 'x-kubernetes-list-map-keys'?: readonly string[];
}

/** Whether a schema has lists whose items must differ. */
export function hasUniqueItems(schema: object): boolean {
  const { properties, items, 'x-kubernetes-list-type': type } = schema as Node;
  return type !== undefined || [...Object.values(properties ?? {}), ...(items ? [items] : [])].some(hasUniqueItems);
}

/**
 * Calls `found` for every item that is in its list twice: lists of type `set` and `map`, which the Kubernetes API
 * server checks by itself. The value must have passed the schema.
 */
export function findRepeatedItems(schema: object, value: unknown, field: string, found: (field: string) => void): void {
  if (typeof value !== 'object' || value === null) return;
  const node = schema as Node;
  if (!Array.isArray(value)) {
    for (const [name, property] of Object.entries(node.properties ?? {})) {
      const next = (value as Readonly<Record<string, unknown>>)[name];
      findRepeatedItems(property, next, field === '' ? name : `${field}.${name}`, found);
    }
    return;
  }
  const type = node['x-kubernetes-list-type'];
  const keys = node['x-kubernetes-list-map-keys'] ?? [];
  const seen = new Set<string>();
  value.forEach((item: unknown, index) => {
    if (type !== undefined) {
      const key = JSON.stringify(type === 'set' ? item : keys.map((name) => (item as Record<string, unknown>)[name]));
      if (seen.has(key)) found(`${field}[${index}]`);
      seen.add(key);
    }
    if (node.items) findRepeatedItems(node.items, item, `${field}[${index}]`, found);
  });
}
