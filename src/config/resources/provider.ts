import Type, { type Static } from 'typebox';
import { ENDPOINT_RULES, endpointUrl } from './endpoint.ts';
import { customKind } from './kind.ts';
import { rulesAt, type Rule } from './rules.ts';
import { closed, jurisdiction, mapOf, name, oneOf, secretKeyRef } from './schema.ts';

const endpoint = closed(
  {
    url: endpointUrl('Base address of the API.'),
    allowInsecure: Type.Boolean({ default: false, description: 'Permits plain http, for endpoints in the cluster.' }),
  },
  { description: 'Where the provider is reached.' },
);

const credential = closed({
  name: name({ description: 'Name of the credential.' }),
  type: oneOf('credentialType', { description: 'How the credential is used.' }),
  secretKeyRef: secretKeyRef(),
  weight: Type.Integer({
    minimum: 0,
    maximum: 100,
    default: 1,
    description: 'Share of the calls that use this credential, relative to the others.',
  }),
});

const model = closed({
  id: Type.String({ minLength: 1, maxLength: 160, description: 'Id of the model, without the provider.' }),
  vision: Type.Boolean({ default: false, description: 'Whether the model takes images.' }),
  reasoning: oneOf('reasoning', { default: 'None', description: 'How the model is told to reason.' }),
  contextTokens: Type.Optional(Type.Integer({ minimum: 1, description: 'Size of the context window.' })),
  maxOutputTokens: Type.Optional(
    Type.Integer({ minimum: 1, description: 'Most tokens of one answer; what is held when a caller names no limit.' }),
  ),
});

const spec = closed({
  slug: name({ description: 'Prefix of its model ids: <slug>/<model>. Cannot be changed.' }),
  protocol: oneOf('protocol', { description: 'The wire format its API speaks.' }),
  endpoint,
  jurisdiction: jurisdiction({ description: 'Where it processes data, such as EU or US.' }),
  keyOwnership: oneOf('keyOwnership', {
    default: 'Organization',
    description: 'Managed: the account of this installation, for every organization. Organization: its own account.',
  }),
  credentials: Type.Optional(
    mapOf(credential, ['name'], {
      maxItems: 16,
      description: 'Accounts with the provider; calls are spread over them.',
    }),
  ),
  features: closed(
    {
      promptCache: oneOf('promptCache', { default: 'None', description: 'How it caches prompts.' }),
      nativeFiles: Type.Boolean({ default: false, description: 'Whether it takes documents as they are.' }),
    },
    { default: {}, description: 'What it can do beyond its wire format.' },
  ),
  models: Type.Optional(
    mapOf(model, ['id'], { maxItems: 512, description: 'Its models. Models not listed can be called by their id.' }),
  ),
  retry: closed(
    {
      attempts: Type.Integer({
        minimum: 1,
        maximum: 5,
        default: 2,
        description: 'Attempts on this provider; a call makes at most three over all providers.',
      }),
    },
    { default: {}, description: 'What happens when an attempt fails.' },
  ),
  circuitBreaker: closed(
    {
      failureRatioPercent: Type.Integer({
        minimum: 1,
        maximum: 100,
        default: 50,
        description: 'Share of failed attempts that opens the breaker.',
      }),
      minRequests: Type.Integer({ minimum: 1, default: 20, description: 'Attempts needed before it may open.' }),
      openSeconds: Type.Integer({ minimum: 1, maximum: 600, default: 30, description: 'How long it stays open.' }),
    },
    { default: {}, description: 'Keeps calls away from a provider that fails.' },
  ),
});

/** `spec` of a Provider: someone who serves models, and how to reach them. */
export type ProviderSpec = Static<typeof spec>;

const specRules: readonly Rule<ProviderSpec>[] = [
  {
    rule: 'self.slug == oldSelf.slug',
    message: 'is immutable: model ids begin with it and audit rows name it',
    fieldPath: '.slug',
  },
  {
    rule: "self.slug != 'gw'",
    message: 'must not be gw: it is reserved for aliases and local models',
    fieldPath: '.slug',
    check: (self) => self.slug !== 'gw',
  },
  {
    rule: "self.protocol == 'Custom' || (has(self.credentials) && size(self.credentials) > 0)",
    message: 'is required unless protocol is Custom',
    fieldPath: '.credentials',
    reason: 'FieldValueRequired',
    check: (self) => self.protocol === 'Custom' || (self.credentials?.length ?? 0) > 0,
  },
  {
    rule: '!has(self.credentials) || size(self.credentials) == 0 || self.credentials.exists(c, c.weight > 0)',
    message: 'needs a credential with a weight above 0',
    fieldPath: '.credentials',
    check: ({ credentials = [] }) => credentials.length === 0 || credentials.some((item) => item.weight > 0),
  },
];

const endpointRules: readonly Rule<ProviderSpec['endpoint']>[] = [
  {
    rule: "self.allowInsecure || self.url.startsWith('https://')",
    message: 'must start with https:// unless allowInsecure is true',
    fieldPath: '.url',
    check: (self) => self.allowInsecure || self.url.startsWith('https://'),
  },
  ...ENDPOINT_RULES,
];

/** The Provider kind. */
export const provider = customKind('Provider', spec, [
  rulesAt('spec', specRules),
  rulesAt('spec.endpoint', endpointRules),
]);
