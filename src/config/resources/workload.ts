import Type, { type Static } from 'typebox';
import { customKind } from './kind.ts';
import { rulesAt, type Rule } from './rules.ts';
import { budget, budgetAlerts, closed, model, name, oneOf, setOf, values } from './schema.ts';

const spec = closed({
  organizationRef: closed(
    {
      name: name({ description: 'Name of the Organization.' }),
      namespace: Type.Optional(name({ description: 'Namespace of the Organization. Default: that of the workload.' })),
    },
    { description: 'The organization this workload belongs to. Cannot be changed.' },
  ),
  environment: values(['Production', 'Development'], {
    default: 'Development',
    description: 'A Production workload needs a budget.',
  }),
  limits: Type.Optional(
    closed(
      {
        requestsPerMinute: Type.Optional(
          Type.Integer({ minimum: 1, maximum: 1_000_000, description: 'Calls per minute, over all keys.' }),
        ),
        tokensPerMinute: Type.Optional(
          Type.Integer({
            minimum: 1,
            maximum: 2_000_000_000,
            format: 'int64',
            description: 'Tokens per minute, input and output together, over all keys.',
          }),
        ),
      },
      { minProperties: 1, description: 'Rate limits. An absent limit does not apply.' },
    ),
  ),
  budget: Type.Optional(budget({ description: 'The most that all keys of this workload together may spend.' })),
  alerts: Type.Optional(budgetAlerts({ description: 'When to raise alerts that the budget is used up.' })),
  allowedModels: Type.Optional(
    setOf(model(), {
      maxItems: 256,
      description: 'Models that may be called, such as openai/gpt-4o or anthropic/*. Empty: all that policies allow.',
    }),
  ),
  answerTimeoutSeconds: Type.Integer({
    minimum: 10,
    maximum: 600,
    default: 300,
    description: 'The longest that a provider may take to answer. A policy may set a different time.',
  }),
  onHangUp: oneOf('onHangUp', {
    default: 'Abort',
    description:
      'What happens when a client leaves a stream. Abort: stop the provider and bill what was received. Drain: read ' +
      'to the end.',
  }),
});

/** `spec` of a Workload: an application that calls models; owns keys, limits and a budget. */
export type WorkloadSpec = Static<typeof spec>;

const rules: readonly Rule<WorkloadSpec>[] = [
  {
    rule: 'self.organizationRef == oldSelf.organizationRef',
    message: 'is immutable: create a new Workload',
    fieldPath: '.organizationRef',
    reason: 'FieldValueForbidden',
  },
  {
    rule: "self.environment != 'Production' || has(self.budget)",
    message: 'is required for a Production workload',
    fieldPath: '.budget',
    reason: 'FieldValueRequired',
    check: (self) => self.environment !== 'Production' || self.budget !== undefined,
  },
];

/** The Workload kind. */
export const workload = customKind('Workload', spec, [rulesAt('spec', rules)]);
