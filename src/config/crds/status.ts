import Type, { type TObject } from 'typebox';
import type { CustomKindName } from '../resources/kinds.ts';
import { closed, mapOf, money, oneOf, values } from '../resources/schema.ts';

/** What the conditions of every kind tell, by type. */
export const CONDITIONS = {
  Accepted: 'The resource is valid, its namespace is allowed, and no other resource claims its place.',
  ResolvedRefs: 'Everything it refers to exists.',
  Programmed: 'Every running gateway uses this generation.',
} as const;

const condition = closed({
  type: Type.String({ minLength: 1, maxLength: 64, description: 'The type of the condition.' }),
  status: values(['True', 'False', 'Unknown'], { description: 'Whether the condition is true.' }),
  reason: Type.String({
    minLength: 1,
    maxLength: 128,
    pattern: '^[A-Za-z]([A-Za-z0-9]*)$',
    description: 'The reason in one word, for programs.',
  }),
  message: Type.String({ maxLength: 4096, description: 'The reason in words, for people.' }),
  observedGeneration: Type.Optional(
    Type.Integer({
      minimum: 0,
      format: 'int64',
      description: 'The generation of the resource that the condition is about.',
    }),
  ),
  lastTransitionTime: Type.String({ format: 'date-time', description: 'When the status last changed.' }),
});

const common = {
  observedGeneration: Type.Optional(
    Type.Integer({ minimum: 0, format: 'int64', description: 'The generation that the controller saw last.' }),
  ),
  conditions: Type.Optional(
    mapOf(condition, ['type'], { maxItems: 8, description: 'Accepted, ResolvedRefs, Programmed.' }),
  ),
};

const spend = closed(
  {
    amount: money({ description: 'The amount spent in the period.' }),
    currency: values(['EUR', 'USD'], { description: 'Currency of the amount.' }),
    period: oneOf('period', { description: 'What the amount covers.' }),
    limit: Type.Optional(money({ description: 'The most that may be spent in the period.' })),
    updatedAt: Type.String({ format: 'date-time', description: 'When the amount was read.' }),
  },
  { description: 'The amount spent a short while ago. The ledger has the exact amount.' },
);

const limits = closed(
  {
    requestsPerMinute: Type.Optional(Type.Integer({ minimum: 0, format: 'int64', description: 'Calls per minute.' })),
    tokensPerMinute: Type.Optional(Type.Integer({ minimum: 0, format: 'int64', description: 'Tokens per minute.' })),
  },
  { description: 'The limits in force.' },
);

const plain = closed(common);
const workload = closed({ ...common, spend: Type.Optional(spend), limits: Type.Optional(limits) });

/** The schema of `status`, which only the controller writes, by kind. */
export function statusSchema(kind: CustomKindName): TObject {
  return kind === 'Workload' ? workload : plain;
}
