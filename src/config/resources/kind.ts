import Type, { type TSchema, type TSchemaOptions } from 'typebox';
import type { RulesAt } from './rules.ts';
import { API_VERSION, closed, stringMap, text } from './schema.ts';

const OBJECT_NAME: TSchemaOptions = { minLength: 1, maxLength: 253 };

/** What every resource carries. Fields that only the API server writes are let through and ignored. */
const METADATA = closed({
  name: text('objectName', OBJECT_NAME),
  namespace: text('name', { minLength: 1, maxLength: 63, default: 'default' }),
  labels: Type.Optional(stringMap({ maxLength: 63 })),
  annotations: Type.Optional(stringMap({ maxLength: 262_144 })),
  creationTimestamp: Type.Optional(Type.Union([Type.String({ format: 'date-time' }), Type.Null()])),
  deletionGracePeriodSeconds: Type.Optional(Type.Unknown()),
  deletionTimestamp: Type.Optional(Type.Unknown()),
  finalizers: Type.Optional(Type.Unknown()),
  generateName: Type.Optional(Type.Unknown()),
  generation: Type.Optional(Type.Unknown()),
  managedFields: Type.Optional(Type.Unknown()),
  ownerReferences: Type.Optional(Type.Unknown()),
  resourceVersion: Type.Optional(Type.Unknown()),
  selfLink: Type.Optional(Type.Unknown()),
  uid: Type.Optional(Type.Unknown()),
});

/** One of our kinds: a `spec`, and a `status` that configuration ignores. */
export function customKind<K extends string, S extends TSchema>(kind: K, spec: S, rules: readonly RulesAt[]) {
  const schema = closed({
    apiVersion: Type.Literal(API_VERSION),
    kind: Type.Literal(kind),
    metadata: METADATA,
    spec,
    status: Type.Optional(Type.Unknown()),
  });
  return { apiVersion: API_VERSION, kind, schema, rules } as const;
}

/** A kind of Kubernetes itself that configuration reads. */
export function coreKind<K extends string, P extends Readonly<Record<string, TSchema>>>(kind: K, properties: P) {
  const schema = closed({
    apiVersion: Type.Literal('v1'),
    kind: Type.Literal(kind),
    metadata: METADATA,
    ...properties,
  });
  return { apiVersion: 'v1', kind, schema, rules: [] as readonly RulesAt[] } as const;
}
