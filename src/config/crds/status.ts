import Type, { type TObject } from 'typebox';
import type { CustomKindName } from '../resources/kinds.ts';
import { closed, mapOf, money, oneOf, values } from '../resources/schema.ts';

/** What the conditions of every kind tell, by type. */
export const CONDITIONS = {
  Accepted: 'The resource makes sense: it is valid, of an allowed namespace, and no other one claims its place.',
  ResolvedRefs: 'Everything it refers to is there.',
  Programmed: 'Every gateway that runs has taken this generation in.',
} as const;

const condition = closed({
  type: Type.String({ minLength: 1, maxLength: 64, description: 'What is told.' }),
  status: values(['True', 'False', 'Unknown'], { description: 'Whether it holds.' }),
  reason: Type.String({
    minLength: 1,
    maxLength: 128,
    pattern: '^[A-Za-z]([A-Za-z0-9]*)$',
    description: 'Why, in one word for programs.',
  }),
  message: Type.String({ maxLength: 4096, description: 'Why, in words for people.' }),
  observedGeneration: Type.Optional(
    Type.Integer({ minimum: 0, format: 'int64', description: 'The generation of the resource that this is about.' }),
  ),
  lastTransitionTime: Type.String({ format: 'date-time', description: 'When it last began or ceased to hold.' }),
});

const common = {
  observedGeneration: Type.Optional(
    Type.Integer({ minimum: 0, format: 'int64', description: 'The generation that was seen last.' }),
  ),
  conditions: Type.Optional(
    mapOf(condition, ['type'], { maxItems: 8, description: 'Accepted, ResolvedRefs, Programmed.' }),
  ),
};

const spend = closed(
  {
    amount: money({ description: 'What was spent in the period.' }),
    currency: values(['EUR', 'USD'], { description: 'Currency of the amount.' }),
    period: oneOf('period', { description: 'What the amount is the sum of.' }),
    limit: Type.Optional(money({ description: 'What may be spent in the period.' })),
    updatedAt: Type.String({ format: 'date-time', description: 'When the amount was read.' }),
  },
  { description: 'What was spent, as of a little while ago: the ledger is what counts.' },
);

const limits = closed(
  {
    requestsPerMinute: Type.Optional(Type.Integer({ minimum: 0, format: 'int64', description: 'Calls per minute.' })),
    tokensPerMinute: Type.Optional(Type.Integer({ minimum: 0, format: 'int64', description: 'Tokens per minute.' })),
  },
  { description: 'The limits that are in force.' },
);

const plain = closed(common);
const workload = closed({ ...common, spend: Type.Optional(spend), limits: Type.Optional(limits) });

/** The schema of `status`, which only the controller writes, by kind. */
export function statusSchema(kind: CustomKindName): TObject {
  return kind === 'Workload' ? workload : plain;
}
