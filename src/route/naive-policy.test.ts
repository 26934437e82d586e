import fc from 'fast-check';
import { expect, test } from 'vitest';
import { make, makeCore, sha256, snapshotOf, type TestResource } from '#/config/testing/resources.ts';
import type { Snapshot, VirtualKeyConfig } from '#/config/snapshot.ts';
import { Stopped } from '#/call/facts.ts';
import { GatewayError } from '#/errors/gateway-error.ts';
import { chatCodec } from '#/wire/chat/codec.ts';
import { messagesCodec } from '#/wire/messages/codec.ts';
import { isDenial } from './offer.ts';
import { targetsOf, type Decision } from './decision.ts';
import { chooseModels, decide } from './plan.ts';
import { reachableModels } from './reachable.ts';
import { routeCall } from './route.ts';
import { choosePassthroughModels, decidePassthrough } from './route-passthrough.ts';
import { DEPS, questionOf } from '../../test/harness/routing-question.ts';
import { type Fragment, type AliasSketch, type World, world, asked, SLUGS } from './testing/policy-worlds.ts';

// What is compiled.

function compiled({ organization, workload, shadow, ...rest }: World, watched: boolean): Snapshot {
  const providers = rest.providers.map(({ slug, managed, jurisdiction, models, onlyListedModels }) =>
    make('Provider', `${managed ? 'platform' : 'default'}/${slug}`, {
      slug,
      jurisdiction,
      models,
      onlyListedModels,
      ...(managed && {
        keyOwnership: 'Managed',
        priceBookRef: { name: 'prices' },
        allowedOrganizations: { from: 'List', organizations: [{ namespace: 'default', name: 'acme' }] },
      }),
    }),
  );
  const policy = (name: string, kind: string, target: string, parts: object): TestResource =>
    make('Policy', name, { defaults: undefined, targetRefs: [{ kind, name: target }], ...parts });
  const shadowOf = (kind: string, target: string, parts: object): TestResource =>
    policy(`shadow-${target}`, kind, target, { mode: 'Shadow', ...parts });
  return snapshotOf(
    JSON.parse(
      JSON.stringify([
        make('Organization', 'acme', {
          messagesDefaultProvider: rest.messagesDefaultProvider,
          priceBookRef: { name: 'prices' },
        }),
        ...['default/prices', 'platform/prices'].map((name) =>
          make('PriceBook', name, { prices: [...SLUGS, 'aws'].map((slug) => ({ model: `${slug}/*`, input: '1' })) }),
        ),
        make('Workload', 'bot', { allowedModels: rest.allowedModels }),
        make('VirtualKey', 'key', { hash: { value: sha256('key') } }),
        ...providers,
        ...(rest.bedrock ? BEDROCK : []),
        ...rest.aliases.map(({ route, ...spec }) =>
          make('ModelAlias', spec.alias.slice(3), {
            ...spec,
            ...(spec.strategy === 'Auto' && { auto: { routes: [{ task: 'code', model: route }] } }),
          }),
        ),
        ...(Object.keys(organization).length > 0 ? [policy('floor', 'Organization', 'acme', organization)] : []),
        ...(workload ? [policy('own', 'Workload', 'bot', { defaults: workload })] : []),
        ...(watched && shadow.organization ? [shadowOf('Organization', 'acme', shadow.organization)] : []),
        ...(watched && shadow.workload ? [shadowOf('Workload', 'bot', { defaults: shadow.workload })] : []),
      ]),
    ) as TestResource[],
  );
}

const BEDROCK = [
  makeCore('Secret', 'aws', { stringData: { key: '{"accessKeyId":"a","secretAccessKey":"b"}' } }),
  make('Provider', 'aws', {
    protocol: undefined,
    vendor: 'bedrock',
    endpoint: undefined,
    region: 'eu-central-1',
    jurisdiction: 'DE',
    credentials: [{ name: 'main', type: 'AWSSigV4', secretKeyRef: { name: 'aws', key: 'key' } }],
  }),
];

const keyOf = (snapshot: Snapshot): VirtualKeyConfig => snapshot.keys.get(sha256('key'))!;
// What the rules say, read plainly.

const EU = 'AT BE BG CY CZ DE DK EE ES FI FR GR HR HU IE IT LT LU LV MT NL PL PT RO SE SI SK'.split(' ');
const APAC = 'AU HK ID IN JP KR MY NZ SG TH TW'.split(' ');

/** Layers from the strongest to the weakest: what the organization insists on, the workload's own, what it proposes. */
function layersOf({ organization, workload, shadow }: World, watched: boolean): readonly Fragment[] {
  const ofOrganization = (watched ? shadow.organization : undefined) ?? organization;
  const ofWorkload = (watched ? shadow.workload : undefined) ?? workload;
  return [ofOrganization.overrides, ofWorkload, ofOrganization.defaults].filter((one) => one !== undefined);
}

function fits(one: string, id: string): boolean {
  const source = one.replace(/[.+^${}()|[\]\\/]/g, String.raw`\$&`).replaceAll('*', '.*');
  return new RegExp(`^${source}$`).test(id);
}

/** Everything that speaks against a model, by the code that a client would be told. */
function objections(given: World, watched: boolean, id: string, viaAlias?: string): readonly string[] {
  const found: string[] = [];
  const layers = layersOf(given, watched);
  for (const allowed of [given.allowedModels, ...layers.map((layer) => layer.allowedModels ?? [])]) {
    if (allowed.length === 0) continue;
    if (!allowed.some((one) => fits(one, id) || (viaAlias !== undefined && fits(one, viaAlias)))) {
      found.push('permission_denied');
    }
  }
  const place = placeOf(given, id);
  if (place === undefined) return [...found, 'model_not_found'];
  for (const { residency } of layers) {
    const allowed = residency?.allowedJurisdictions;
    if (!allowed || allowed.includes(place)) continue;
    if (allowed.includes('EU') && EU.includes(place)) continue;
    if (allowed.includes('APAC') && APAC.includes(place)) continue;
    found.push('residency_denied');
  }
  return found;
}

/** Where a model is processed; undefined when nobody offers it. */
function placeOf({ providers, bedrock }: World, id: string): string | undefined {
  const [slug = '', ...rest] = id.split('/');
  const name = rest.join('/');
  if (slug === 'aws' && bedrock) return { eu: 'EU', us: 'US', global: 'GLOBAL' }[name.split('.')[0]!] ?? 'DE';
  const offering = providers.find((one) => one.slug === slug);
  if (!offering) return undefined;
  const listed = offering.models.find((one) => one.id === name);
  if (offering.onlyListedModels && !listed) return undefined;
  return listed?.jurisdiction ?? offering.jurisdiction;
}

/** What a name stands for. */
function meant(
  given: World,
  name: string,
  onMessages: boolean,
): { ids: readonly string[]; alias?: AliasSketch } | undefined {
  const found = given.aliases.find((one) => one.alias === name);
  if (found) {
    const targets = found.targets.toSorted((a, b) => a.priority - b.priority).map((target) => target.model);
    return { ids: [...new Set(found.strategy === 'Auto' ? [...targets, found.route] : targets)], alias: found };
  }
  if (name.includes('/')) return { ids: [name] };
  return onMessages ? { ids: [`${given.messagesDefaultProvider ?? 'anthropic'}/${name}`] } : undefined;
}
// What must agree.

const takenBy = ({ considered }: Decision): readonly string[] =>
  considered.filter(({ found, leftOut }) => !isDenial(found) && leftOut === undefined).map(({ id }) => id);

const thrownBy = (act: () => unknown): GatewayError | undefined => {
  try {
    act();
    return undefined;
  } catch (thrown) {
    if (thrown instanceof GatewayError) return thrown;
    throw thrown;
  }
};

const body = (name: string): object => ({ model: name, max_tokens: 5, messages: [{ role: 'user', content: 'Hello' }] });

test('a call reaches what an interpreter of the resources lets it reach, and nothing else', () => {
  fc.assert(
    fc.property(world, asked, fc.boolean(), (given, name, onMessages) => {
      const key = keyOf(compiled(given, false));
      const question = questionOf(key, onMessages ? messagesCodec : chatCodec, body(name));
      const expected = meant(given, name, onMessages);
      if (!expected) {
        expect(thrownBy(() => chooseModels(question, DEPS))?.code).toBe('model_not_prefixed');
        return;
      }
      const decision = decide(question, chooseModels(question, DEPS), key.workload.policy, DEPS);
      const against = new Map(expected.ids.map((id) => [id, objections(given, false, id, expected.alias?.alias)]));
      const allowed = expected.ids.filter((id) => against.get(id)!.length === 0);
      const taken = takenBy(decision);
      expect([...taken].sort()).toEqual([...allowed].sort());
      if (expected.alias?.strategy === 'Failover') expect(taken).toEqual(allowed);
      expect(decision.targets.map(({ provider: { config }, model: of }) => `${config.slug}/${of}`)).toEqual(taken);
      if (allowed.length > 0) return;
      const refusal = thrownBy(() => targetsOf(decision));
      expect([...against.values()].flat()).toContain(refusal?.code);
      // Each model that was tried is told, with a reason.
      for (const id of expected.ids.slice(0, 8))
        if (expected.ids.length > 1) expect(refusal?.message).toContain(`${id} (`);
    }),
    { numRuns: 600 },
  );
});

test('what is passed on goes to the first model that an interpreter lets it reach', () => {
  fc.assert(
    fc.property(world, asked, (given, name) => {
      const key = keyOf(compiled(given, false));
      const question = { key, provider: undefined, ownKeyOnly: false, startedAt: 0 };
      const expected = meant(given, name, false);
      if (!expected) {
        expect(thrownBy(() => choosePassthroughModels(question, name, DEPS))?.code).toBe('model_not_prefixed');
        return;
      }
      const choice = choosePassthroughModels(question, name, DEPS);
      const taken = takenBy(decidePassthrough(question, true, choice, key.workload.policy, DEPS));
      const allowed = expected.ids.filter(
        // One of the vendors passes nothing on.
        (id) => objections(given, false, id, expected.alias?.alias).length === 0 && !id.startsWith('aws/'),
      );
      expect(taken).toHaveLength(Math.min(1, allowed.length));
      if (taken[0] !== undefined) expect(allowed).toContain(taken[0]);
      if (expected.alias?.strategy === 'Failover') expect(taken).toEqual(allowed.slice(0, 1));
    }),
    { numRuns: 250 },
  );
});

test('a provider named without a model is reached where every allow-list has something of it, and residency its place', () => {
  fc.assert(
    fc.property(world, fc.constantFrom(...SLUGS), fc.boolean(), (given, slug, ownKeyOnly) => {
      const key = keyOf(compiled(given, false));
      const question = { key, provider: slug, ownKeyOnly, startedAt: 0 };
      const choice = choosePassthroughModels(question, undefined, DEPS);
      const taken = takenBy(decidePassthrough(question, false, choice, key.workload.policy, DEPS));
      const layers = layersOf(given, false);
      const lists = [given.allowedModels, ...layers.map((layer) => layer.allowedModels ?? [])];
      const unlisted = lists.some((one) => one.length > 0 && !one.some((entry) => entry.startsWith(`${slug}/`)));
      const offering = given.providers.find((one) => one.slug === slug);
      const nowhere = {
        ...given,
        allowedModels: [],
        providers: offering ? [{ ...offering, models: [], onlyListedModels: false }] : [],
      };
      const outside = objections(nowhere, false, `${slug}/x`).some((code) => code !== 'permission_denied');
      const served = !unlisted && !outside && !(ownKeyOnly && offering?.managed);
      expect(taken).toEqual(served ? [slug] : []);
    }),
    { numRuns: 250 },
  );
});

test('discovery lists what can be reached, and aliases that lead there', () => {
  fc.assert(
    fc.property(world, (given) => {
      const listed = reachableModels(keyOf(compiled(given, false)), { ...DEPS, at: 0 }).map(({ id }) => id);
      const layers = layersOf(given, false);
      const named = [given.allowedModels, ...layers.map((layer) => layer.allowedModels ?? [])].flat();
      const offered = given.providers.flatMap(({ slug, models }) => models.map(({ id }) => `${slug}/${id}`));
      const names = new Set([
        ...offered,
        ...named.filter((one) => !one.includes('*')),
        ...given.aliases.map((one) => one.alias),
      ]);
      const expected = [...names].filter((name) => {
        const { ids: behind, alias: via } = meant(given, name, false)!;
        return behind.some((id) => objections(given, false, id, via?.alias).length === 0);
      });
      // What the price data knows of a vendor is listed beside.
      expect(listed.filter((id) => !id.startsWith('aws/') || names.has(id))).toEqual(expected.sort());
    }),
    { numRuns: 250 },
  );
});

test('a shadow policy changes nothing that happens, and is told wherever it would have', async () => {
  await fc.assert(
    fc.asyncProperty(world, asked, async (given, name) => {
      const expected = meant(given, name, false);
      if (!expected || (!given.shadow.organization && !given.shadow.workload)) return;
      const plain = keyOf(compiled(given, false));
      const watched = keyOf(compiled(given, true));
      expect(watched.workload.policy).toEqual(plain.workload.policy);
      const call = { ...questionOf(watched, chatCodec, body(name)), signal: AbortSignal.timeout(1000) };
      const shadow = await routeCall(call, DEPS).then(
        (routed) => routed.shadow,
        (thrown: unknown) => {
          if (!(thrown instanceof Stopped)) throw thrown;
          expect(thrown.cause).toBeInstanceOf(GatewayError);
          return thrown.facts.shadow ?? [];
        },
      );
      for (const id of expected.ids) {
        const now = objections(given, false, id, expected.alias?.alias).length === 0;
        const then = objections(given, true, id, expected.alias?.alias).length === 0;
        const told = shadow.filter(({ text }) => text.startsWith(`${id} would`)).map(({ text }) => text);
        if (now === then) expect(told).toEqual([]);
        else expect(told).toEqual([expect.stringMatching(then ? /would not be refused$/ : /would be refused: /)]);
      }
    }),
    { numRuns: 250 },
  );
});

test('each field is what the strongest layer says, and is told so', () => {
  fc.assert(
    fc.property(world, (given) => {
      const { policy } = keyOf(compiled(given, false)).workload;
      const layers = layersOf(given, false);
      const modes = { AllowLog: 'allow_log', Tokenize: 'tokenize', Mask: 'mask', Block: 'block' };
      const mode = layers.find((layer) => layer.dlp?.mode !== undefined)?.dlp?.mode ?? 'Tokenize';
      expect(policy.dlp.mode).toBe(modes[mode as keyof typeof modes]);
      const seconds = layers.find((layer) => layer.answerTimeoutSeconds !== undefined)?.answerTimeoutSeconds ?? 300;
      expect(policy.answerTimeoutSeconds).toBe(seconds);
      const from = policy.origins.find(({ field }) => field === 'dlp.mode')?.from;
      const { organization, workload } = given;
      const owner = organization.overrides?.dlp?.mode
        ? 'Policy default/floor (override)'
        : workload?.dlp?.mode
          ? 'Policy default/own (workload)'
          : organization.defaults?.dlp?.mode
            ? 'Policy default/floor (default)'
            : 'built-in';
      expect(from).toBe(owner);
    }),
    { numRuns: 200 },
  );
});
