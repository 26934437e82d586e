import type { CustomKindName } from '../resources/kinds.ts';

type Fields = Readonly<Record<string, unknown>>;

const secretKeyRef = { name: 'keys', key: 'main' };
const credential = { name: 'main', type: 'APIKey', secretKeyRef };
const operations = [{ name: 'find', method: 'GET', path: '/find', inputSchema: { type: 'object' } }];
const target = { kind: 'Organization', name: 'acme' };
const guarded = { scopeGuard: { mode: 'Block' } };
const cached = { caching: { responseCache: { mode: 'Enabled' } } };
const url = (value: string, rest = {}) => ({ endpoint: { url: value, ...rest } });

/** One resource that breaks each rule: kind, place, CEL, `spec` fields, the fault. */
export const BROKEN_RESOURCES: readonly (readonly [CustomKindName, string, Fields, string])[] = [
  [
    'Organization',
    'getHours(self)',
    { timeZone: 'Europe/Atlantis' },
    'spec.timeZone: is not a time zone of the IANA database',
  ],
  [
    'Organization',
    'timestamp(self.activeFrom) < timestamp(self.activeUntil)',
    { plan: { activeFrom: '2026-02-01T00:00:00Z', activeUntil: '2026-01-01T00:00:00Z' } },
    'spec.plan.activeUntil: must be later than activeFrom',
  ],
  [
    'Organization',
    "self.from == 'Selector' ?",
    { workloadNamespaces: { from: 'Selector' } },
    'spec.workloadNamespaces.selector: must be set if and only if from is Selector',
  ],
  [
    'Organization',
    "self.from == 'Selector' ?",
    { workloadNamespaces: { from: 'All', selector: { matchLabels: {} } } },
    'spec.workloadNamespaces.selector: must be set if and only if from is Selector',
  ],
  [
    'Provider',
    'has(self.allowedOrganizations)',
    { allowedOrganizations: { from: 'None' } },
    'spec.allowedOrganizations: may be set only when keyOwnership is Managed',
  ],
  [
    'Provider',
    'has(self.priceBookRef)',
    { priceBookRef: { name: 'prices' } },
    'spec.priceBookRef: may be set only when keyOwnership is Managed',
  ],
  [
    'Provider',
    "self.from == 'Selector' ?",
    { keyOwnership: 'Managed', allowedOrganizations: { from: 'Selector' } },
    'spec.allowedOrganizations.selector: must be set if and only if from is Selector',
  ],
  [
    'Provider',
    "self.from == 'List' ?",
    { keyOwnership: 'Managed', allowedOrganizations: { organizations: [{ namespace: 'a', name: 'b' }] } },
    'spec.allowedOrganizations.organizations: must be set if and only if from is List',
  ],
  [
    'Workload',
    "self.environment != 'Production'",
    { environment: 'Production' },
    'spec.budget: is required for a Production workload',
  ],
  [
    'Policy',
    'has(self.defaults) || has(self.overrides)',
    { defaults: undefined },
    'spec: must have defaults or overrides',
  ],
  [
    'Policy',
    '!has(self.toolsToApprove)',
    { defaults: { toolsToApprove: ['crm/*', 'gw/ocr'] } },
    'spec.defaults.toolsToApprove: must not name tools of the gateway itself, which need no approval',
  ],
  [
    'Policy',
    '!has(self.toolsToApprove)',
    { targetRefs: [{ kind: 'Organization', name: 'acme' }], overrides: { toolsToApprove: ['gw/*'] } },
    'spec.overrides.toolsToApprove: must not name tools of the gateway itself, which need no approval',
  ],
  ['Policy', 'exists_one', { targetRefs: [target, target] }, 'spec.targetRefs: must not name a target twice'],
  [
    'Policy',
    't.kind == self.targetRefs[0].kind',
    { targetRefs: [target, { kind: 'Workload', name: 'acme' }] },
    'spec.targetRefs: must all be of one kind',
  ],
  [
    'Policy',
    '!has(self.overrides)',
    { targetRefs: [{ kind: 'Workload', name: 'bot' }], overrides: { contentRetention: 'Disabled' } },
    'spec.overrides: may only be set for an Organization',
  ],
  [
    'Policy',
    '!has(self.caching)',
    { defaults: cached },
    'spec.defaults.caching.responseCache: needs contentRetention: Enabled',
  ],
  [
    'Policy',
    '!has(self.caching)',
    { overrides: { ...cached, contentRetention: 'Disabled' } },
    'spec.overrides.caching.responseCache: needs contentRetention: Enabled',
  ],
  [
    'Policy',
    "self.mode == 'Off' || has(self.scope)",
    { defaults: guarded },
    'spec.defaults.scopeGuard.scope: is required unless mode is Off',
  ],
  [
    'Policy',
    "self.mode == 'Off' || has(self.scope)",
    { overrides: guarded },
    'spec.overrides.scopeGuard.scope: is required unless mode is Off',
  ],
  [
    'Provider',
    "self.slug != 'gw'",
    { slug: 'gw' },
    'spec.slug: must not be gw: it is reserved for aliases and local models',
  ],
  [
    'Provider',
    'has(self.protocol) || has(self.vendor)',
    { protocol: undefined },
    'spec.protocol: is required unless vendor is set',
  ],
  [
    'Provider',
    'has(self.endpoint) ||',
    { endpoint: undefined },
    'spec.endpoint: is required: this vendor has no well-known address',
  ],
  [
    'Provider',
    'has(self.endpoint) ||',
    { vendor: 'azure', credentials: [credential], endpoint: undefined },
    'spec.endpoint: is required: this vendor has no well-known address',
  ],
  [
    'Provider',
    'has(self.region) ||',
    { protocol: 'Converse', credentials: [credential] },
    'spec.region: is required for this vendor',
  ],
  [
    'Provider',
    'has(self.project) ||',
    { slug: 'vertex', region: 'eu', credentials: [credential] },
    'spec.project: is required for this vendor',
  ],
  [
    'Provider',
    "'custom') == 'custom' ||",
    { vendor: 'ovhcloud', endpoint: undefined },
    'spec.credentials: is required unless the vendor is custom',
  ],
  [
    'Provider',
    "'custom') == 'custom' ||",
    { slug: 'anthropic', credentials: [] },
    'spec.credentials: is required unless the vendor is custom',
  ],
  [
    'Provider',
    'self.credentials.exists',
    { credentials: [{ ...credential, weight: 0 }] },
    'spec.credentials: needs a credential with a weight above 0',
  ],
  [
    'Provider',
    'self.allowInsecure',
    url('http://api.test'),
    'spec.endpoint.url: must start with https:// unless allowInsecure is true',
  ],
  ['Provider', 'isURL', url('https://[api.test'), 'spec.endpoint.url: is not a valid address'],
  [
    'Provider',
    'self.url.matches',
    url('https://me@api.test'),
    'spec.endpoint.url: must not have a user, a query or a fragment',
  ],
  [
    'Provider',
    'self.url.matches',
    url('https://api.test/?v=1'),
    'spec.endpoint.url: must not have a user, a query or a fragment',
  ],
  [
    'PriceBook',
    "self.unit == 'MillionTokens'",
    {
      prices: [
        { model: 'a/b', input: '1' },
        { model: 'a/c', unit: 'Page', input: '1', cacheRead: '0' },
      ],
    },
    'spec.prices[1]: may have output, reasoning, cacheRead, cacheWritePremium, cacheWrite1h, inputAudio, inputImage, ' +
      'cacheReadAudio, outputAudio and outputImage only when unit is MillionTokens',
  ],
  [
    'PriceBook',
    "self.unit == 'MillionTokens' || (self.serviceTier",
    { prices: [{ model: 'a/b', unit: 'Second', input: '1', serviceTier: 'Flex' }] },
    'spec.prices[0]: may be for a serviceTier or aboveInputTokens only when unit is MillionTokens',
  ],
  [
    'ModelAlias',
    "self.strategy == 'Auto' ?",
    { strategy: 'Auto' },
    'spec.auto: must be set if and only if strategy is Auto',
  ],
  [
    'ModelAlias',
    "self.strategy == 'Auto' ?",
    { auto: { routes: [{ model: 'a/b' }] } },
    'spec.auto: must be set if and only if strategy is Auto',
  ],
  [
    'ModelAlias',
    "self.targets.all(t, !t.model.startsWith('gw/'))",
    { targets: [{ model: 'gw/fast' }] },
    'spec.targets: must not name an alias',
  ],
  [
    'ModelAlias',
    "r.model.startsWith('gw/')",
    { strategy: 'Auto', auto: { routes: [{ model: 'gw/fast' }] } },
    'spec.auto.routes: must not name an alias',
  ],
  [
    'ModelAlias',
    "!t.model.contains('*')",
    { targets: [{ model: 'a/*' }] },
    'spec.targets: must each name one model, without *',
  ],
  [
    'ModelAlias',
    "!r.model.contains('*')",
    { strategy: 'Auto', auto: { routes: [{ model: 'a/*' }] } },
    'spec.auto.routes: must each name one model, without *',
  ],
  [
    'ModelAlias',
    'self.targets.exists',
    { strategy: 'Weighted', targets: [{ model: 'a/b', weight: 0 }] },
    'spec.targets: needs a target with a weight above 0',
  ],
  ['MCPServer', "self.transport != 'SSE'", { transport: 'SSE' }, 'spec.transport: is not served: use StreamableHTTP'],
  [
    'MCPServer',
    "self.type == 'OpenAPI' ?",
    { type: 'OpenAPI' },
    'spec.operations: must be set if and only if type is OpenAPI',
  ],
  [
    'MCPServer',
    "self.type == 'OpenAPI' ?",
    { operations },
    'spec.operations: must be set if and only if type is OpenAPI',
  ],
  [
    'MCPServer',
    "self.type != 'OpenAPI' ||",
    { type: 'OpenAPI', operations, definitions: { mode: 'Record' } },
    'spec.definitions: must not be set when type is OpenAPI: operations are the definitions',
  ],
  [
    'MCPServer',
    "self.offer == ['Tools']",
    { type: 'OpenAPI', operations, offer: ['Tools', 'Resources'] },
    'spec.offer: must not be set when type is OpenAPI: an API has tools only',
  ],
  [
    'MCPServer',
    "self.sessions == 'Shared'",
    { type: 'OpenAPI', operations, sessions: 'PerClient' },
    'spec.sessions: must not be set when type is OpenAPI: an API has no sessions',
  ],
  [
    'MCPServer',
    '!has(self.clientCapabilities)',
    { type: 'OpenAPI', operations, clientCapabilities: ['Elicitation'] },
    'spec.clientCapabilities: must not be set when type is OpenAPI: an API asks its client for nothing',
  ],
  ['MCPServer', 'isURL', url('https://[mcp.test'), 'spec.endpoint.url: is not a valid address'],
  [
    'MCPServer',
    'self.url.matches',
    url('https://mcp.test#x'),
    'spec.endpoint.url: must not have a user, a query or a fragment',
  ],
  [
    'MCPServer',
    "self.type == 'None' ?",
    { auth: { type: 'Bearer' } },
    'spec.auth.secretKeyRef: must be set if and only if type is not None',
  ],
  [
    'MCPServer',
    "self.type == 'None' ?",
    { auth: { type: 'None', secretKeyRef } },
    'spec.auth.secretKeyRef: must be set if and only if type is not None',
  ],
  [
    'MCPServer',
    "self.type != 'Header'",
    { auth: { type: 'Header', secretKeyRef } },
    'spec.auth.header: is required when type is Header',
  ],
  [
    'MCPServer',
    'has(self.tokenUrl) : ',
    { auth: { type: 'ClientCredentials', clientId: 'gw', secretKeyRef } },
    'spec.auth.tokenUrl: must be set if and only if type is ClientCredentials or TokenExchange',
  ],
  [
    'MCPServer',
    'has(self.clientId) : ',
    { auth: { type: 'Bearer', clientId: 'gw', secretKeyRef } },
    'spec.auth.clientId: must be set if and only if type is ClientCredentials or TokenExchange',
  ],
  [
    'MCPServer',
    '!has(self.scopes) ||',
    { auth: { type: 'Bearer', scopes: ['a'], secretKeyRef } },
    'spec.auth.scopes: must be set only if type is ClientCredentials or TokenExchange',
  ],
  [
    'MCPServer',
    '!has(self.tokenUrl) ||',
    { auth: { type: 'ClientCredentials', tokenUrl: 'https://id.test/?a', clientId: 'gw', secretKeyRef } },
    'spec.auth.tokenUrl: must be a valid address without a user, a query or a fragment',
  ],
  [
    'MCPServer',
    'has(self.arguments) || has(self.approval)',
    { rules: [{ tools: ['a'], approval: 'Required' }, { tools: ['a'] }] },
    'spec.rules[1]: must have arguments or approval',
  ],
  [
    'MCPServer',
    'has(self.include) && has(self.exclude)',
    { tools: { include: ['a'], exclude: ['b'] } },
    'spec.tools: must not have both include and exclude',
  ],
  [
    'MCPServer',
    "self.mode != 'Declared' || has(self.tools)",
    { definitions: { mode: 'Declared' } },
    'spec.definitions: must have tools, prompts or instructions if mode is Declared',
  ],
  [
    'MCPServer',
    "self.mode == 'Declared' || !has(self.tools)",
    { definitions: { tools: [{ name: 'find', sha256: 'a'.repeat(64) }] } },
    'spec.definitions.tools: must be set only if mode is Declared',
  ],
  [
    'MCPServer',
    "self.mode == 'Declared' || !has(self.prompts)",
    { definitions: { prompts: [{ name: 'visit', sha256: 'a'.repeat(64) }] } },
    'spec.definitions.prompts: must be set only if mode is Declared',
  ],
  [
    'MCPServer',
    "self.mode == 'Declared' || !has(self.instructions)",
    { definitions: { instructions: 'a'.repeat(64) } },
    'spec.definitions.instructions: must be set only if mode is Declared',
  ],
];

/** Changes that are refused, which only a cluster can see: kind, `spec` fields before and after, the fault. */
export const REFUSED_CHANGES: readonly (readonly [CustomKindName, Fields, Fields, string])[] = [
  ['Organization', {}, { currency: 'USD' }, 'spec.currency: is immutable: amounts in the ledger are in this currency'],
  ['Workload', {}, { organizationRef: { name: 'other' } }, 'spec.organizationRef: is immutable: create a new Workload'],
  ['Provider', {}, { slug: 'another' }, 'spec.slug: is immutable: model ids begin with it and audit rows name it'],
  ['PriceBook', {}, { currency: 'USD' }, 'spec.currency: is immutable: create a new PriceBook'],
  [
    'VirtualKey',
    {},
    { hash: { algorithm: 'SHA256', value: 'a'.repeat(64) } },
    'spec: hash and workloadRef are immutable: create a new key',
  ],
  ['VirtualKey', {}, { workloadRef: { name: 'other' } }, 'spec: hash and workloadRef are immutable: create a new key'],
  ['VirtualKey', { revoked: true }, { revoked: false }, 'spec.revoked: cannot be undone'],
  ['ModelAlias', {}, { alias: 'gw/other' }, 'spec.alias: is immutable: create a new ModelAlias'],
];
