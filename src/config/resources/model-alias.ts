import Type, { type Static } from 'typebox';
import { customKind } from './kind.ts';
import { rulesAt, type Rule } from './rules.ts';
import { closed, model, oneOf, text, values } from './schema.ts';

/** What the local router model tells requests apart by (spec 2.6). */
const TASKS = ['code', 'writing', 'translation', 'extraction', 'document', 'support', 'smalltalk', 'action'] as const;

const target = closed({
  model: model({ description: 'Model id of the target.' }),
  weight: Type.Integer({
    minimum: 0,
    maximum: 1_000_000,
    default: 1,
    description: 'Share of the calls, relative to the other targets (strategy Weighted).',
  }),
  priority: Type.Integer({
    minimum: 0,
    maximum: 100,
    default: 0,
    description: 'Order in which targets are tried, lowest first (strategy Failover).',
  }),
});

const route = closed({
  task: Type.Optional(values(TASKS, { description: 'Matches only requests of this kind.' })),
  maxComplexity: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: 3,
      description: 'Matches only requests of at most this complexity: 0 (trivial) to 3 (hard).',
    }),
  ),
  model: model({ description: 'Model that serves the matching requests.' }),
});

const spec = closed({
  alias: text('alias', {
    minLength: 4,
    maxLength: 128,
    description: 'The model id that callers use. Cannot be changed.',
  }),
  strategy: oneOf('strategy', {
    description:
      'How a target is chosen. Weighted: by share. Failover: by priority. Auto: by the content of the request.',
  }),
  targets: Type.Array(target, {
    minItems: 1,
    maxItems: 32,
    description: 'Models behind the alias. With Auto: those for requests that no route matches.',
  }),
  auto: Type.Optional(
    closed(
      {
        routes: Type.Array(route, {
          minItems: 1,
          maxItems: 64,
          description: 'The routes. The first one that matches is taken.',
        }),
      },
      { description: 'Routes of strategy Auto.' },
    ),
  ),
});

/** `spec` of a ModelAlias: a model id of one's own, and the models behind it. */
export type ModelAliasSpec = Static<typeof spec>;

const rules: readonly Rule<ModelAliasSpec>[] = [
  { rule: 'self.alias == oldSelf.alias', message: 'is immutable: create a new ModelAlias', fieldPath: '.alias' },
  {
    rule: "self.strategy == 'Auto' ? has(self.auto) : !has(self.auto)",
    message: 'must be set if and only if strategy is Auto',
    fieldPath: '.auto',
    check: (self) => (self.strategy === 'Auto') === (self.auto !== undefined),
  },
  {
    rule: "self.targets.all(t, !t.model.startsWith('gw/'))",
    message: 'must not name an alias',
    fieldPath: '.targets',
    check: (self) => self.targets.every((item) => !item.model.startsWith('gw/')),
  },
  {
    rule: "!has(self.auto) || self.auto.routes.all(r, !r.model.startsWith('gw/'))",
    message: 'must not name an alias',
    fieldPath: '.auto.routes',
    check: (self) => self.auto === undefined || self.auto.routes.every((item) => !item.model.startsWith('gw/')),
  },
  {
    rule: "self.targets.all(t, !t.model.contains('*'))",
    message: 'must each name one model, without *',
    fieldPath: '.targets',
    check: (self) => self.targets.every((item) => !item.model.includes('*')),
  },
  {
    rule: "!has(self.auto) || self.auto.routes.all(r, !r.model.contains('*'))",
    message: 'must each name one model, without *',
    fieldPath: '.auto.routes',
    check: (self) => self.auto === undefined || self.auto.routes.every((item) => !item.model.includes('*')),
  },
  {
    rule: "self.strategy != 'Weighted' || self.targets.exists(t, t.weight > 0)",
    message: 'needs a target with a weight above 0',
    fieldPath: '.targets',
    check: (self) => self.strategy !== 'Weighted' || self.targets.some((item) => item.weight > 0),
  },
];

/** The ModelAlias kind. */
export const modelAlias = customKind('ModelAlias', spec, [rulesAt('spec', rules)]);
