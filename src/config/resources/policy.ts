import Type, { type Static } from 'typebox';
import { customKind } from './kind.ts';
import { policyFragment, policyFragmentRules } from './policy-fragment.ts';
import { rulesAt, type Rule } from './rules.ts';
import { closed, GROUP, name, values } from './schema.ts';

const spec = closed({
  mode: values(['Enforced', 'Shadow'], {
    default: 'Enforced',
    description:
      'Shadow: the enforced policy of the target decides, and audit rows record what this policy would have decided ' +
      'differently.',
  }),
  targetRefs: Type.Array(
    closed({
      group: values([GROUP], { default: GROUP }),
      kind: values(['Organization', 'Workload'], { description: 'Kind of the target.' }),
      name: name({ description: 'Name of the target, in the namespace of the policy.' }),
    }),
    { minItems: 1, maxItems: 16, description: 'What the policy applies to: organizations, or workloads.' },
  ),
  defaults: Type.Optional(policyFragment('Applies unless something more specific sets the same field.')),
  overrides: Type.Optional(policyFragment('Applies whatever a workload sets. Only for organizations.')),
});

/** `spec` of a Policy: how calls of its targets are inspected and where they may go. */
export type PolicySpec = Static<typeof spec>;

const rules: readonly Rule<PolicySpec>[] = [
  {
    rule: 'has(self.defaults) || has(self.overrides)',
    message: 'must have defaults or overrides',
    check: (self) => self.defaults !== undefined || self.overrides !== undefined,
  },
  {
    rule: 'self.targetRefs.all(t, self.targetRefs.exists_one(u, u.kind == t.kind && u.name == t.name))',
    message: 'must not name a target twice',
    fieldPath: '.targetRefs',
    check: ({ targetRefs }) =>
      new Set(targetRefs.map((target) => `${target.kind} ${target.name}`)).size === targetRefs.length,
  },
  {
    rule: 'self.targetRefs.all(t, t.kind == self.targetRefs[0].kind)',
    message: 'must all be of one kind',
    fieldPath: '.targetRefs',
    check: ({ targetRefs }) => targetRefs.every((target) => target.kind === targetRefs[0]?.kind),
  },
  {
    rule: "!has(self.overrides) || self.targetRefs[0].kind == 'Organization'",
    message: 'may only be set for an Organization',
    fieldPath: '.overrides',
    check: (self) => self.overrides === undefined || self.targetRefs[0]?.kind === 'Organization',
  },
];

/** The Policy kind. */
export const policy = customKind('Policy', spec, [
  rulesAt('spec', rules),
  ...policyFragmentRules('spec.defaults'),
  ...policyFragmentRules('spec.overrides'),
]);
