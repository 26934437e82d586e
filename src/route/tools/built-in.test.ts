import { expect, test } from 'vitest';
import { LOCAL_PROVIDER } from '#/config/local-provider.ts';
import type { ResolvedPolicy, WorkloadConfig } from '#/config/snapshot.ts';
import { Stopped } from '#/call/facts.ts';
import type { Providers } from '../offer.ts';
import { routeBuiltIn } from './built-in.ts';

const TOOL = { name: 'decide', model: 'gw/typed' };
const OPEN = { origins: [], allowedTools: [], allowedModels: [] };
const HERE = (() => ({ config: LOCAL_PROVIDER })) as unknown as Providers;
const NOWHERE: Providers = () => undefined;
const LISTED = (...tools: readonly string[]) => ({ allowedTools: [{ tools, from: 'Policy a/strict' }] });
const MODELS = (...models: readonly string[]) => ({ allowedModels: [{ models, from: 'Workload a/app' }] });

interface Wanted {
  readonly policy?: object;
  readonly shadow?: object;
  readonly aliases?: readonly string[];
  readonly providers?: Providers;
}

function routed({ policy, shadow, aliases = [], providers = HERE }: Wanted): object {
  const workload = {
    organization: { aliases: new Map(aliases.map((name) => [name, {}])), providers: new Map() },
    policy: { ...OPEN, ...policy } as unknown as ResolvedPolicy,
    ...(shadow && { shadow: { ...OPEN, ...shadow } as unknown as ResolvedPolicy }),
  };
  try {
    return routeBuiltIn(TOOL, workload as unknown as WorkloadConfig, providers);
  } catch (thrown) {
    if (!(thrown instanceof Stopped)) throw thrown;
    return { ...thrown.facts, code: (thrown.cause as { code: string }).code };
  }
}

test.each<[string, Wanted]>([
  ['no policy', {}],
  ['a list of tools that has it', { policy: LISTED('crm/*', 'gw/*') }],
  ['a list of models that has what it does', { policy: MODELS('gw/typed') }],
  ['residency, for nothing leaves', { policy: { allowedJurisdictions: new Set(['EU']) } }],
  ['an alias of another name', { aliases: ['gw/auto'] }],
])('%s opens it, and adds nothing to the route', (_what, wanted) => {
  expect(routed(wanted)).toEqual({ route: [], shadow: [] });
});

test.each<[string, Wanted, string, RegExp]>([
  [
    'a list of tools without it',
    { policy: LISTED('crm/*') },
    'permission_denied',
    /not on the allow-list of Policy a\/str/,
  ],
  [
    'a list of models without it',
    { policy: MODELS('a/*') },
    'permission_denied',
    /not on the allow-list of Workload a\/app/,
  ],
  [
    'an alias that has its name',
    { aliases: ['gw/typed'] },
    'tool_not_found',
    /the organization has an alias gw\/typed/,
  ],
  ['no engine', { providers: NOWHERE }, 'tool_not_found', /runs without the inference engine/],
])('%s closes it', (_what, wanted, code, route) => {
  const line = expect.stringMatching(route) as string;
  expect(routed(wanted)).toEqual({ route: [line], shadow: [], code });
  expect((routed(wanted) as { route: string[] }).route[0]).toMatch(/^mcp\/gw\/decide: refused: /);
});

test('a policy in shadow mode says what it would have decided', () => {
  const differs = (text: string) => ({
    shadow: [{ field: 'allowedTools', text: expect.stringContaining(text) as string }],
  });
  expect(routed({ shadow: LISTED('crm/*') })).toMatchObject(differs('mcp/gw/decide would be refused'));
  expect(routed({ policy: LISTED('crm/*'), shadow: {} })).toMatchObject(differs('mcp/gw/decide would not be refused'));
  // Its own steps say this.
  expect(routed({ shadow: MODELS('a/*') })).toMatchObject({ shadow: [] });
});
