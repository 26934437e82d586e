import type { RulesAt } from '../resources/rules.ts';

/** A node of the structural schema of a CustomResourceDefinition. */
export interface StructuralNode {
  readonly type: string;
  readonly description?: string;
  readonly default?: unknown;
  readonly enum?: readonly string[];
  readonly pattern?: string;
  readonly format?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly minProperties?: number;
  readonly maxProperties?: number;
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, StructuralNode>>;
  readonly additionalProperties?: StructuralNode;
  readonly items?: StructuralNode;
  readonly 'x-kubernetes-list-type'?: 'atomic' | 'map' | 'set';
  readonly 'x-kubernetes-list-map-keys'?: readonly string[];
  readonly 'x-kubernetes-preserve-unknown-fields'?: boolean;
  readonly 'x-kubernetes-validations'?: readonly Validation[];
}

/** A rule as the API server reads it. */
interface Validation {
  readonly rule: string;
  readonly message: string;
  readonly fieldPath?: string;
  readonly reason?: string;
}

/** The keywords that mean the same there, in the order in which they are written. */
const COPIED = [
  'description',
  'type',
  'format',
  'enum',
  'pattern',
  'default',
  'minimum',
  'maximum',
  'minLength',
  'maxLength',
  'minItems',
  'maxItems',
  'minProperties',
  'maxProperties',
  'x-kubernetes-list-type',
  'x-kubernetes-list-map-keys',
  'x-kubernetes-preserve-unknown-fields',
] as const;

const TRANSLATED = new Set(['properties', 'required', 'additionalProperties', 'items', 'x-kubernetes-validations']);

type Schema = Readonly<Record<string, unknown>>;

/**
 * The structural schema that says what a schema of ours says. Unknown fields are not refused there but pruned; clients
 * that validate strictly, as kubectl does, refuse them. Throws on a keyword it cannot carry over, and on a rule whose
 * place the schema does not have: no check may be lost without a word.
 */
export function toStructural(schema: object, at: string, rules: readonly RulesAt[]): StructuralNode {
  const placed = new Set<RulesAt>();
  const node = convert(schema as Schema, at, (place) => {
    const here = rules.filter((each) => each.at === place);
    for (const each of here) placed.add(each);
    return here.flatMap((each) => each.rules.map(validation));
  });
  const lost = rules.find((each) => !placed.has(each));
  if (lost) throw new Error(`rules at ${lost.at}: the schema does not have this place`);
  return node;
}

function convert(schema: Schema, at: string, rulesOf: (at: string) => readonly Validation[]): StructuralNode {
  const node: Record<string, unknown> = {};
  for (const keyword of COPIED) if (schema[keyword] !== undefined) node[keyword] = schema[keyword];
  for (const keyword of Object.keys(schema)) {
    const known = keyword.startsWith('~') || TRANSLATED.has(keyword) || (COPIED as readonly string[]).includes(keyword);
    if (!known) throw new Error(`${at}: no structural form of ${keyword}`);
  }
  if (typeof node['type'] !== 'string') throw new Error(`${at}: a structural schema has one type`);
  const { properties, additionalProperties, items } = schema;
  if (isSchema(properties)) Object.assign(node, fields(schema, properties, at, rulesOf));
  else if (isSchema(additionalProperties)) node['additionalProperties'] = convert(additionalProperties, at, rulesOf);
  if (isSchema(items)) {
    node['items'] = convert(items, `${at}[*]`, rulesOf);
    node['x-kubernetes-list-type'] ??= 'atomic';
  }
  const validations = rulesOf(at);
  if (validations.length > 0) node['x-kubernetes-validations'] = validations;
  return node as unknown as StructuralNode;
}

/** A field with a default is not required: the API server fills it in before it looks. */
function fields(
  schema: Schema,
  properties: Schema,
  at: string,
  rulesOf: (at: string) => readonly Validation[],
): object {
  const required = ((schema['required'] ?? []) as readonly string[]).filter(
    (name) => (properties[name] as Schema)['default'] === undefined,
  );
  return {
    ...(required.length > 0 && { required }),
    properties: Object.fromEntries(
      Object.entries(properties).map(([name, property]) => [
        name,
        convert(property as Schema, `${at}.${name}`, rulesOf),
      ]),
    ),
  };
}

function validation({ rule, message, fieldPath, reason }: Validation): Validation {
  return { rule, message, ...(fieldPath !== undefined && { fieldPath }), ...(reason !== undefined && { reason }) };
}

function isSchema(value: unknown): value is Schema {
  return typeof value === 'object' && value !== null;
}
