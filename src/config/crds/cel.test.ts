import { Environment } from '@marcbachmann/cel-js';
import { describe, expect, test } from 'vitest';
import { BROKEN_RESOURCES, REFUSED_CHANGES } from '../testing/broken-resources.ts';
import { make } from '../testing/resources.ts';
import { withDefaults } from '../resources/defaults.ts';
import { CUSTOM_KINDS, KINDS, type CustomKindName } from '../resources/kinds.ts';
import { schemasOf } from './definition.ts';
import type { StructuralNode } from './structural.ts';

// The rules as the API server reads them, by another reader of CEL: types from the structural schema, so that a rule that
// names a field which is not there, or compares what cannot be compared, does not even parse.

/** Names the CEL type of a node; objects become types of their own. A date-time is a timestamp, as Kubernetes has it. */
function declare(env: Environment, node: StructuralNode, name: string): string {
  if (node.properties) {
    const fields = Object.fromEntries(
      Object.entries(node.properties).map(([field, child]) => [field, declare(env, child, `${name}_${field}`)]),
    );
    env.registerType(name, { fields }).registerOperator(`${name} == ${name}`, () => false);
    return name;
  }
  if (node.additionalProperties) return `map<string, ${declare(env, node.additionalProperties, `${name}_value`)}>`;
  if (node.items) return `list<${declare(env, node.items, `${name}_item`)}>`;
  if (node.type === 'string') return node.format === 'date-time' ? 'google.protobuf.Timestamp' : 'string';
  return node.type === 'integer' ? 'int' : 'bool';
}

function toCel(node: StructuralNode, value: unknown): unknown {
  if (value === undefined || value === null) return value;
  if (node.items) return (value as readonly unknown[]).map((item) => toCel(node.items!, item));
  if (node.properties) {
    return Object.fromEntries(
      Object.entries(value)
        .filter(([, member]) => member !== undefined)
        .map(([field, member]) => [field, toCel(node.properties![field]!, member)]),
    );
  }
  if (node.type === 'integer') return BigInt(value as number);
  return node.format === 'date-time' ? new Date(value as string) : value;
}

interface Place {
  readonly node: StructuralNode;
  readonly at: string;
  readonly field: string;
  readonly self: unknown;
  readonly oldSelf: unknown;
}

/** Every object of a value with its node, its place in the schema and its field. */
function* places({ node, at, field, self, oldSelf }: Place): Generator<Place> {
  if (self === undefined) return;
  yield { node, at, field, self, oldSelf };
  if (node.items) {
    for (const [index, item] of (self as readonly unknown[]).entries())
      yield* places({ node: node.items, at: `${at}[*]`, field: `${field}[${index}]`, self: item, oldSelf: undefined });
  }
  for (const [name, child] of Object.entries(node.properties ?? {})) {
    const part = (whole: unknown): unknown => (whole as Readonly<Record<string, unknown>> | undefined)?.[name];
    yield* places({
      node: child,
      at: `${at}.${name}`,
      field: `${field}.${name}`,
      self: part(self),
      oldSelf: part(oldSelf),
    });
  }
}

function environment(): Environment {
  return new Environment()
    .registerFunction('isURL(string): bool', (text: string) => URL.canParse(text))
    .registerFunction(
      'timestamp(google.protobuf.Timestamp): google.protobuf.Timestamp',
      (instant: Date): Date => instant,
    );
}

/** Throws where a rule does not fit the types of its place. Values are looked at without types: see `evaluate`. */
function checkTypes(node: StructuralNode, rule: string): void {
  const env = environment();
  const type = declare(env, node, 'Self');
  const checked = env.registerVariable('self', type).registerVariable('oldSelf', type).check(rule);
  if (!checked.valid) throw new Error(`${rule}: ${String(checked.error)}`);
}

/** What the rules of a kind say of a `spec`, or of its change. */
function faults(kind: CustomKindName, spec: unknown, oldSpec?: unknown): readonly string[] {
  const { spec: schema } = schemasOf(kind);
  const prepared = (value: unknown): unknown =>
    value === undefined ? undefined : toCel(schema, withDefaults(KINDS[kind].schema.properties.spec, value));
  const root = { node: schema, at: 'spec', field: 'spec', self: prepared(spec), oldSelf: prepared(oldSpec) };
  const found: string[] = [];
  for (const { node, field, self, oldSelf } of places(root)) {
    for (const { rule, message, fieldPath = '' } of node['x-kubernetes-validations'] ?? []) {
      checkTypes(node, rule);
      if (rule.includes('oldSelf') && oldSelf === undefined) continue;
      if (evaluate(rule, { self, oldSelf }) !== true) found.push(`${field}${fieldPath}: ${message}`);
    }
  }
  return found;
}

const LOOSE = environment().registerVariable('self', 'dyn').registerVariable('oldSelf', 'dyn');

/** A rule that fails to evaluate refuses the object too. */
function evaluate(rule: string, context: Record<string, unknown>): unknown {
  try {
    return LOOSE.evaluate(rule, context);
  } catch {
    return false;
  }
}

describe('the rules, as CEL', () => {
  test.each(BROKEN_RESOURCES)('%s, %s: %j is refused', (kind, _cel, spec, fault) => {
    expect(faults(kind, make(kind, 'one', spec)['spec'])).toEqual([fault]);
  });

  test.each(REFUSED_CHANGES)('%s: a change of %j to %j is refused', (kind, before, after, fault) => {
    const old = make(kind, 'one', before)['spec'];
    expect(faults(kind, make(kind, 'one', { ...before, ...after })['spec'], old)).toEqual([fault]);
  });

  test.each(CUSTOM_KINDS)('the smallest %s keeps every rule, unchanged or new', (kind) => {
    const { spec } = make(kind, 'one');
    expect(faults(kind, spec)).toEqual([]);
    expect(faults(kind, spec, spec)).toEqual([]);
  });

  test('a rule that names an unknown field differs from a rule that holds', () => {
    const { spec } = schemasOf('Workload');
    expect(() => checkTypes(spec, 'self.enviroment == oldSelf.environment')).toThrow('enviroment');
    expect(() => checkTypes(spec, "self.answerTimeoutSeconds == 'x'")).toThrow('no such overload');
  });

  test('every rule about a change is broken by a case', () => {
    const untested = CUSTOM_KINDS.flatMap((kind) =>
      KINDS[kind].rules.flatMap(({ at, rules }) =>
        rules
          .filter(({ rule, fieldPath = '', message }) => {
            const fault = `${at}${fieldPath}: ${message}`;
            return rule.includes('oldSelf') && !REFUSED_CHANGES.some((each) => each[0] === kind && each[3] === fault);
          })
          .map(({ rule }) => `${kind}: ${rule}`),
      ),
    );
    expect(untested).toEqual([]);
  });
});
