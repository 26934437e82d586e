import fc from 'fast-check';

/**
 * Random organizations, policies, providers and aliases, compiled and asked; and an interpreter that reads the
 * same resources as slowly and plainly as the rules are written down.
 */

export interface Fragment {
  readonly dlp?: { readonly mode?: string; readonly documents?: string };
  readonly residency?: { readonly allowedJurisdictions: readonly string[] };
  readonly allowedModels?: readonly string[];
  readonly answerTimeoutSeconds?: number;
}

interface PolicyPair {
  readonly defaults?: Fragment;
  readonly overrides?: Fragment;
}

interface ProviderSketch {
  readonly slug: string;
  readonly managed: boolean;
  readonly jurisdiction: string;
  readonly models: readonly { readonly id: string; readonly jurisdiction?: string }[];
  readonly onlyListedModels: boolean;
}

export interface AliasSketch {
  readonly alias: string;
  readonly strategy: 'Weighted' | 'Failover' | 'Auto';
  readonly targets: readonly { readonly model: string; readonly weight: number; readonly priority: number }[];
  readonly route: string;
}

export interface World {
  readonly providers: readonly ProviderSketch[];
  readonly bedrock: boolean;
  readonly aliases: readonly AliasSketch[];
  readonly allowedModels: readonly string[];
  readonly organization: PolicyPair;
  readonly workload: Fragment | undefined;
  readonly shadow: { readonly organization: PolicyPair | undefined; readonly workload: Fragment | undefined };
  readonly messagesDefaultProvider: string | undefined;
}
// Random values.

const PLACES = ['EU', 'DE', 'FR', 'US', 'CH', 'JP', 'APAC', 'GLOBAL'];
export const SLUGS = ['a', 'b', 'c'];
const MODELS = ['m1', 'm2', 'org/m3'];
const PROFILES = ['eu.claude-x', 'us.claude-x', 'global.claude-x', 'claude-x'];

const ids = [
  ...SLUGS.flatMap((slug) => MODELS.map((model) => `${slug}/${model}`)),
  ...PROFILES.map((id) => `aws/${id}`),
];

const model = fc.constantFrom(...ids);

const pattern = fc.oneof(
  model,
  fc.constantFrom('a/*', 'b/*', 'c/org/*', 'aws/*', 'aws/eu.*', 'gw/*', 'gw/one', 'a/m*'),
);

const list = (most: number) => fc.uniqueArray(pattern, { maxLength: most });
const places = fc.uniqueArray(fc.constantFrom(...PLACES), { minLength: 1, maxLength: 4 });
const optional = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined });

const fragment: fc.Arbitrary<Fragment> = fc
  .record(
    {
      dlp: fc.record({ mode: fc.constantFrom('AllowLog', 'Tokenize', 'Mask', 'Block') }),
      residency: fc.record({ allowedJurisdictions: places }),
      allowedModels: list(6),
      answerTimeoutSeconds: fc.integer({ min: 10, max: 600 }),
    },
    { requiredKeys: [] },
  )
  .filter((one) => Object.keys(one).length > 0);

const pair: fc.Arbitrary<PolicyPair> = fc
  .record({ defaults: fragment, overrides: fragment }, { requiredKeys: [] })
  .filter((one) => Object.keys(one).length > 0);

const provider = (slug: string): fc.Arbitrary<ProviderSketch> =>
  fc.record({
    slug: fc.constant(slug),
    managed: fc.boolean(),
    jurisdiction: fc.constantFrom(...PLACES),
    onlyListedModels: fc.boolean(),
    models: fc.uniqueArray(
      fc.record({ id: fc.constantFrom(...MODELS), jurisdiction: fc.constantFrom(...PLACES) }, { requiredKeys: ['id'] }),
      { selector: ({ id }) => id },
    ),
  });

const alias = (name: string): fc.Arbitrary<AliasSketch> =>
  fc.record({
    alias: fc.constant(name),
    strategy: fc.constantFrom('Weighted', 'Failover', 'Auto'),
    targets: fc.uniqueArray(
      fc.record({ model, weight: fc.integer({ min: 1, max: 3 }), priority: fc.integer({ min: 0, max: 2 }) }),
      { minLength: 1, maxLength: 5, selector: (target) => target.model },
    ),
    route: model,
  });

export const world: fc.Arbitrary<World> = fc.record({
  providers: fc
    .tuple(...SLUGS.map((slug) => optional(provider(slug))))
    .map((all) => all.filter((one) => one !== undefined)),
  bedrock: fc.boolean(),
  aliases: fc.tuple(alias('gw/one'), alias('gw/auto')).chain((both) => fc.subarray(both)),
  allowedModels: list(4),
  organization: optional(pair).map((one) => one ?? {}),
  workload: optional(fragment),
  shadow: fc.record({ organization: optional(pair), workload: optional(fragment) }),
  messagesDefaultProvider: optional(fc.constantFrom(...SLUGS)),
});

export const asked = fc.oneof(model, fc.constantFrom('gw/one', 'gw/auto', 'gw/typed', 'nobody/m1', 'm1', 'org/m3'));
