import { describe, expect, test } from 'vitest';
import { FINDABLE_ENTITIES } from '#/values/entities.ts';
import { PLACES } from '#/values/places.ts';
import { make, type TestResource } from '../testing/resources.ts';
import { KINDS, type KindName } from './kinds.ts';
import { validate } from './validate.ts';

function check(resource: TestResource): readonly string[] {
  const found: string[] = [];
  validate(resource.kind as KindName, resource, (field, message) => found.push(`${field}: ${message}`));
  return found;
}

interface Node {
  readonly type?: string;
  readonly enum?: readonly string[];
  readonly const?: string;
  readonly pattern?: string;
  readonly format?: string;
  readonly properties?: Readonly<Record<string, Node>>;
  readonly items?: Node;
}

/** Every field that takes any text. */
function* freeTexts(node: Node, at: string): Generator<string> {
  const bounded = node.enum ?? node.const ?? node.pattern ?? node.format;
  if (node.type === 'string' && bounded === undefined) yield at;
  for (const [name, child] of Object.entries(node.properties ?? {})) yield* freeTexts(child, `${at}.${name}`);
  if (node.items) yield* freeTexts(node.items, `${at}[]`);
}

/** Fields that take any text, and why no list of names could be meant. A new one has to be decided here. */
const FREE: Readonly<Record<string, string>> = {
  'MCPServer.spec.auth.header': 'a header of that server',
  'MCPServer.spec.operations[].description': 'prose of the API',
  'MCPServer.spec.tools.include[]': 'tools of that server, known when it is asked',
  'MCPServer.spec.tools.exclude[]': 'tools of that server, known when it is asked',
  'Organization.spec.accessTokens[].value': 'what an issuer writes into its tokens',
  'Organization.spec.displayName': 'shown to people',
  'Policy.spec.defaults.dlp.customTerms[].label': "the organization's own word",
  'Policy.spec.overrides.dlp.customTerms[].label': "the organization's own word",
  'Policy.spec.defaults.scopeGuard.scope': 'prose',
  'Policy.spec.overrides.scopeGuard.scope': 'prose',
  'Provider.spec.models[].id': 'providers add models every week',
  'Provider.spec.models[].upstreamId': "a deployment's name at the provider",
  'Provider.spec.models[].rejects[]': "members of a provider's requests",
  'Secret.type': 'kinds of secrets that are not ours too',
  'VirtualKey.spec.displayName': 'shown to people',
};

test('every text of a resource is one of a list, in a form, or free for a reason', () => {
  const free = Object.entries(KINDS).flatMap(([kind, { schema }]) =>
    [...freeTexts(schema as Node, kind)].filter((at) => !at.startsWith(`${kind}.metadata`)),
  );
  expect(new Set(free)).toEqual(new Set(Object.keys(FREE)));
});

describe('a misspelt name is refused, with the name that was meant', () => {
  const entities = (...names: string[]) => make('Policy', 'one', { defaults: { dlp: { entities: names } } });

  test('kinds of personal data: a typo must not switch detection off', () => {
    expect(check(entities('iban', 'emial'))).toEqual([
      `spec.defaults.dlp.entities[1]: must be ${FINDABLE_ENTITIES.slice(0, -1).join(', ')} or secret; did you mean email?`,
    ]);
    expect(check(entities('person'))[0]).not.toContain('did you mean');
    expect(check(entities('EMAIL'))[0]).toContain('did you mean email?');
    expect(check(entities(...FINDABLE_ENTITIES))).toEqual([]);
  });

  test('a kind that nothing looks for protects nothing', () => {
    expect(check(entities('url'))).toHaveLength(1);
  });

  test.each([
    [{ dlp: { mode: 'Tokenise' } }, 'must be AllowLog, Tokenize, Mask or Block; did you mean Tokenize?'],
    [
      { residency: { allowedJurisdictions: ['EUU'] } },
      'must be a country by its two letters (ISO 3166), EU, APAC, GLOBAL or LOCAL; did you mean EU?',
    ],
    [
      { residency: { allowedJurisdictions: ['ATLANTIS'] } },
      'must be a country by its two letters (ISO 3166), EU, APAC, GLOBAL or LOCAL',
    ],
  ])('%j', (defaults, message) => {
    const [fault] = check(make('Policy', 'one', { defaults }));
    expect(fault).toMatch(/^spec\.defaults\.[\w.[\]]+: /);
    expect(fault?.replace(/^[^:]*: /, '')).toBe(message);
  });

  test('vendors', () => {
    expect(check(make('Provider', 'one', { vendor: 'antropic' }))[0]).toMatch(/did you mean anthropic\?$/);
  });
});

test('every place has a name', () => {
  const names = new Intl.DisplayNames('en', { type: 'region', fallback: 'none' });
  const countries = PLACES.filter((place) => place.length === 2 && place !== 'EU');
  expect(countries).toHaveLength(249);
  expect(countries.filter((place) => names.of(place) === undefined)).toEqual([]);
  expect(new Set(PLACES).size).toBe(PLACES.length);
});
