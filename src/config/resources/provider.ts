import { VENDOR_IDS, VENDORS } from '#/vendors/list.ts';
import Type, { type Static } from 'typebox';
import { ENDPOINT_RULES, endpointUrl } from './endpoint.ts';
import { customKind } from './kind.ts';
import { rulesAt, type Rule } from './rules.ts';
import {
  closed,
  jurisdiction,
  localRef,
  mapOf,
  name,
  namespaceSelector,
  oneOf,
  secretKeyRef,
  setOf,
  values,
} from './schema.ts';
import { isVendor, vendorOf } from './vendors.ts';

const endpoint = closed(
  {
    url: endpointUrl('Base address of the API.'),
    allowInsecure: Type.Boolean({ default: false, description: 'Permits plain http, for endpoints in the cluster.' }),
  },
  { description: 'How to reach the provider.' },
);

const credential = closed({
  name: name({ description: 'Name of the credential.' }),
  type: oneOf('credentialType', { description: 'How the credential is sent.' }),
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
  upstreamId: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 512,
      description: 'Its name at the provider, such as a deployment or inference profile. Default: the id.',
    }),
  ),
  jurisdiction: Type.Optional(
    jurisdiction({ description: 'Where this model is processed, if elsewhere than the others.' }),
  ),
  vision: Type.Optional(
    Type.Boolean({ description: 'Whether the model takes images. Default: as in the model catalogue.' }),
  ),
  reasoning: Type.Optional(
    oneOf('reasoning', {
      description: 'How reasoning is requested from the model. Default: as in the model catalogue.',
    }),
  ),
  decisions: Type.Optional(
    oneOf('decisions', {
      description:
        'The path at which the model itself answers typed questions. Decisions: /decisions. SystemOne: /systemone. ' +
        'Default: as in the model catalogue. Other models are asked to answer in JSON.',
    }),
  ),
  contextTokens: Type.Optional(Type.Integer({ minimum: 1, description: 'Size of the context window.' })),
  maxOutputTokens: Type.Optional(
    Type.Integer({ minimum: 1, description: 'Most tokens of one answer. Held when a caller sets no limit.' }),
  ),
  rejects: Type.Optional(
    setOf(Type.String({ minLength: 1, maxLength: 64 }), {
      maxItems: 64,
      description: 'Request fields that this model refuses; the gateway drops them.',
    }),
  ),
});

const allowedOrganizations = closed(
  {
    from: values(['None', 'Selector', 'List'], {
      default: 'None',
      description:
        'None: no others. Selector: those of namespaces with certain labels. List: those named in organizations.',
    }),
    selector: Type.Optional(namespaceSelector()),
    organizations: Type.Optional(
      mapOf(
        closed({
          namespace: name({ description: 'Namespace of the Organization.' }),
          name: name({ description: 'Name of the Organization.' }),
        }),
        ['namespace', 'name'],
        { minItems: 1, maxItems: 256, description: 'Which organizations, when from is List.' },
      ),
    ),
  },
  { description: 'Which other organizations may call a Managed provider. Those of its own namespace always may.' },
);

const place = (description: string) =>
  Type.Optional(Type.String({ pattern: '^[A-Za-z0-9]([-._:A-Za-z0-9]*[A-Za-z0-9])?$', maxLength: 128, description }));

const spec = closed({
  slug: name({ description: 'Prefix of its model ids: <slug>/<model>. Cannot be changed.' }),
  vendor: Type.Optional(
    values(VENDOR_IDS, {
      description: 'Who serves the models. Default: the slug if it is a vendor, else by protocol. custom: any server.',
    }),
  ),
  protocol: Type.Optional(
    oneOf('protocol', { description: 'The wire format of its API. Default: that of the vendor.' }),
  ),
  endpoint: Type.Optional(endpoint),
  region: place('Cloud region or location, such as eu-central-1, europe-west4 or eu.'),
  project: place('Project of the cloud account.'),
  apiVersion: place('API version in the address, if the vendor has several.'),
  jurisdiction: jurisdiction({ description: 'Where it processes data, such as EU or US.' }),
  keyOwnership: oneOf('keyOwnership', {
    default: 'Organization',
    description:
      "Managed: the platform's account, only in the platform's namespace, for the organizations that " +
      'allowedOrganizations permits. Organization: the account of the organizations of this namespace.',
  }),
  allowedOrganizations: Type.Optional(allowedOrganizations),
  priceBookRef: Type.Optional(
    localRef({
      description:
        'PriceBook of a Managed provider: what organizations pay for its models. Default: the built-in prices.',
    }),
  ),
  credentials: Type.Optional(
    mapOf(credential, ['name'], {
      maxItems: 16,
      description: 'Accounts with the provider. Calls are spread over them by weight.',
    }),
  ),
  features: closed(
    {
      promptCache: Type.Optional(
        oneOf('promptCache', { description: 'How it caches prompts. Default: as the vendor does.' }),
      ),
      nativeFiles: Type.Optional(
        Type.Boolean({ description: 'Whether it takes documents as files. Default: as in the model catalogue.' }),
      ),
    },
    { default: {}, description: 'Capabilities beyond its wire format.' },
  ),
  models: Type.Optional(
    mapOf(model, ['id'], {
      maxItems: 512,
      description:
        'Facts about its models, and further models. Models that are not listed can be ' +
        'called by id, unless onlyListedModels is true.',
    }),
  ),
  onlyListedModels: Type.Optional(
    Type.Boolean({ description: 'Whether to refuse models that are not listed in models. Default: false.' }),
  ),
  retry: closed(
    {
      attempts: Type.Integer({
        minimum: 1,
        maximum: 5,
        default: 2,
        description: 'Attempts on this provider. A call makes at most three over all providers.',
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
    { default: {}, description: 'Circuit breaker: keeps calls away from a failing provider.' },
  ),
});

/** `spec` of a Provider: someone who serves models, and how to reach them. */
export type ProviderSpec = Static<typeof spec>;

const withAddress = VENDOR_IDS.filter((id) => VENDORS[id].address !== undefined);
const regional = VENDOR_IDS.filter((id) => VENDORS[id].regional);
const withProjects = VENDOR_IDS.filter((id) => VENDORS[id].projects);

/** What only a Managed provider may say. */
const OF_MANAGED = ['allowedOrganizations', 'priceBookRef'] as const;

/** Whether a CEL expression is one of these words. */
function celIn(expression: string, words: readonly string[]): string {
  return `${expression} in [${words.map((word) => `'${word}'`).join(', ')}]`;
}

/** `vendorOf` in CEL. */
const CEL_VENDOR =
  `(has(self.vendor) ? self.vendor : ${celIn('self.slug', VENDOR_IDS)} ? self.slug : ` +
  `!has(self.protocol) ? 'custom' : self.protocol == 'Converse' ? 'bedrock' : ` +
  `self.protocol == 'GenerateContent' ? 'gemini' : 'custom')`;

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
    rule: `has(self.protocol) || has(self.vendor) || ${celIn('self.slug', VENDOR_IDS)}`,
    message: 'is required unless vendor is set',
    fieldPath: '.protocol',
    reason: 'FieldValueRequired',
    check: (self) => self.protocol !== undefined || self.vendor !== undefined || isVendor(self.slug),
  },
  {
    rule: `has(self.endpoint) || ${celIn(CEL_VENDOR, withAddress)}`,
    message: 'is required: this vendor has no well-known address',
    fieldPath: '.endpoint',
    reason: 'FieldValueRequired',
    check: (self) => self.endpoint !== undefined || withAddress.includes(vendorOf(self)),
  },
  {
    rule: `has(self.region) || !(${celIn(CEL_VENDOR, regional)})`,
    message: 'is required for this vendor',
    fieldPath: '.region',
    reason: 'FieldValueRequired',
    check: (self) => self.region !== undefined || !regional.includes(vendorOf(self)),
  },
  {
    rule: `has(self.project) || !(${celIn(CEL_VENDOR, withProjects)})`,
    message: 'is required for this vendor',
    fieldPath: '.project',
    reason: 'FieldValueRequired',
    check: (self) => self.project !== undefined || !withProjects.includes(vendorOf(self)),
  },
  {
    rule: `${CEL_VENDOR} == 'custom' || (has(self.credentials) && size(self.credentials) > 0)`,
    message: 'is required unless the vendor is custom',
    fieldPath: '.credentials',
    reason: 'FieldValueRequired',
    // One of the vendors answers without a key too, at a trickle: a forgotten key must not pass for a slow provider.
    check: (self) => vendorOf(self) === 'custom' || (self.credentials?.length ?? 0) > 0,
  },
  {
    rule: '!has(self.credentials) || size(self.credentials) == 0 || self.credentials.exists(c, c.weight > 0)',
    message: 'needs a credential with a weight above 0',
    fieldPath: '.credentials',
    check: ({ credentials = [] }) => credentials.length === 0 || credentials.some((item) => item.weight > 0),
  },
  ...OF_MANAGED.map((field): Rule<ProviderSpec> => ({
    rule: `!has(self.${field}) || self.keyOwnership == 'Managed'`,
    message: 'may be set only when keyOwnership is Managed',
    fieldPath: `.${field}`,
    reason: 'FieldValueForbidden',
    check: (self) => self[field] === undefined || self.keyOwnership === 'Managed',
  })),
];

const allowedRules: readonly Rule<Static<typeof allowedOrganizations>>[] = [
  {
    rule: "self.from == 'Selector' ? has(self.selector) : !has(self.selector)",
    message: 'must be set if and only if from is Selector',
    fieldPath: '.selector',
    check: (self) => (self.from === 'Selector') === (self.selector !== undefined),
  },
  {
    rule: "self.from == 'List' ? has(self.organizations) : !has(self.organizations)",
    message: 'must be set if and only if from is List',
    fieldPath: '.organizations',
    check: (self) => (self.from === 'List') === (self.organizations !== undefined),
  },
];

const endpointRules: readonly Rule<Static<typeof endpoint>>[] = [
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
  rulesAt('spec.allowedOrganizations', allowedRules),
  rulesAt('spec.endpoint', endpointRules),
]);
