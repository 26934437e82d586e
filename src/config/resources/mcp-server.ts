import Type, { type Static } from 'typebox';
import { operations } from './api-operation.ts';
import { ENDPOINT_RULES, endpointUrl } from './endpoint.ts';
import { customKind } from './kind.ts';
import { rulesAt, type Rule } from './rules.ts';
import { anyObject, closed, jurisdiction, mapOf, name, oneOf, secretKeyRef, setOf, text, values } from './schema.ts';

const auth = closed(
  {
    type: values(['None', 'Bearer', 'Header', 'ClientCredentials', 'TokenExchange'], {
      description:
        'How the gateway authenticates itself. Bearer: with the secret. Header: with the secret in a header of this name. ' +
        'ClientCredentials: with an OAuth access token that it fetches from tokenUrl as a client of its own. ' +
        'TokenExchange: with one for the user whose access token the call came with (RFC 8693); lists as with ' +
        'ClientCredentials.',
    }),
    tokenUrl: Type.Optional(
      endpointUrl(
        'Token endpoint of the authorization server, when type is ClientCredentials or TokenExchange. It is not discovered.',
      ),
    ),
    clientId: Type.Optional(
      text('clientId', { minLength: 1, maxLength: 256, description: 'Client id at the authorization server.' }),
    ),
    scopes: Type.Optional(
      setOf(text('scope', { maxLength: 128 }), {
        maxItems: 32,
        description: 'Scopes to ask for. The resource that is asked for is always endpoint.url.',
      }),
    ),
    header: Type.Optional(Type.String({ maxLength: 64, description: 'Name of the header, when type is Header.' })),
    secretKeyRef: Type.Optional(secretKeyRef()),
  },
  { default: { type: 'None' }, description: 'Credentials for the server.' },
);

const tools = closed(
  {
    include: Type.Optional(
      setOf(Type.String({ maxLength: 128 }), {
        maxItems: 128,
        description: 'Offers only these tools; * stands for any characters.',
      }),
    ),
    exclude: Type.Optional(
      setOf(Type.String({ maxLength: 128 }), {
        maxItems: 128,
        description: 'Offers all tools except these; * stands for any characters.',
      }),
    ),
    only: Type.Optional(
      oneOf('toolsOnly', {
        description:
          'ReadOnly: of these, offers the tools whose accepted definition says readOnlyHint: true. All (the default): ' +
          'offers all of them.',
      }),
    ),
  },
  { description: 'Which of its tools are offered. Default: all.' },
);

const definitions = closed(
  {
    mode: oneOf('definitionsMode', {
      default: 'Pin',
      description:
        'Record: offers every definition and records changes. Pin: accepts the first list; a new or changed definition ' +
        'is quarantined until a person accepts it. Declared: offers the definitions in tools only.',
    }),
    tools: Type.Optional(
      mapOf(
        closed({
          name: text('plainName', { maxLength: 128, description: 'Name of the tool, as the server lists it.' }),
          sha256: text('sha256', {
            maxLength: 64,
            description: 'SHA-256 of its definition: of the RFC 8785 canonical JSON without _meta.',
          }),
        }),
        ['name'],
        { minItems: 1, maxItems: 1000, description: 'The definitions that are offered, when mode is Declared.' },
      ),
    ),
    prompts: Type.Optional(
      mapOf(
        closed({
          name: text('plainName', { maxLength: 128, description: 'Name of the prompt, as the server lists it.' }),
          sha256: text('sha256', { maxLength: 64, description: 'SHA-256 of its definition, as of a tool.' }),
        }),
        ['name'],
        { minItems: 1, maxItems: 1000, description: 'The prompts that are offered, when mode is Declared.' },
      ),
    ),
    instructions: Type.Optional(
      text('sha256', {
        maxLength: 64,
        description: 'SHA-256 of the instructions that are offered, when mode is Declared: gwctl mcp probe shows it.',
      }),
    ),
  },
  { default: { mode: 'Pin' }, description: 'Which definitions of its tools and prompts are offered.' },
);

const rule = closed({
  tools: setOf(text('plainName', { maxLength: 128 }), {
    minItems: 1,
    maxItems: 128,
    description: 'Tools that it is about, as the server names them; * stands for any characters.',
  }),
  arguments: Type.Optional(
    anyObject({
      description:
        'JSON Schema (2020-12) that the arguments of a call must keep, as the client writes them. Without $ref and format; ' +
        'at most 16384 characters.',
    }),
  ),
  approval: Type.Optional(
    values(['Required'], {
      description: 'Required: a person must approve each call (gwctl mcp approve) before the server is sent it.',
    }),
  ),
});

const spec = closed({
  type: values(['MCP', 'OpenAPI'], {
    default: 'MCP',
    description:
      'MCP: a server that speaks the Model Context Protocol. OpenAPI: an HTTP API, whose operations the gateway runs as tools.',
  }),
  endpoint: closed(
    { url: endpointUrl('Address of the server. Of an API: its base address, below which all its paths are.') },
    { description: 'How to reach the server.' },
  ),
  operations: Type.Optional(operations),
  transport: values(['StreamableHTTP', 'SSE'], {
    default: 'StreamableHTTP',
    description: 'The transport that it speaks. SSE, which the protocol gave up, is not served.',
  }),
  jurisdiction: jurisdiction({ description: 'Where it processes data, such as EU or US.' }),
  auth,
  prefix: Type.Optional(
    text('name', {
      minLength: 1,
      maxLength: 16,
      description:
        'Stands before the names of its tools on /v1/mcp: crm for crm__find_customer. Unique in the namespace. Default: ' +
        'the name of the resource; of one with more than 16 characters or with dots, its beginning and a digest.',
    }),
  ),
  trust: oneOf('trust', {
    default: 'External',
    description:
      'Which mode of dlp.tools protects what it is sent. Internal: a server of your own. External: any other.',
  }),
  offer: setOf(oneOf('mcpFeature'), {
    minItems: 1,
    maxItems: 5,
    default: ['Tools'],
    description:
      'What clients may use of it. Resources: what it lists and reads. Prompts: templates of messages. Completions: values ' +
      'for arguments of prompts and resource templates. Instructions: what it tells clients when they connect.',
  }),
  sessions: oneOf('clientSessions', {
    default: 'Shared',
    description:
      'Shared: all clients share one session with a server up to revision 2025-11-25. PerClient: each client has its own, ' +
      'for servers that keep state for each client; one that has none is served in a session of one call.',
  }),
  clientCapabilities: Type.Optional(
    setOf(oneOf('clientCapability'), {
      maxItems: 3,
      description:
        'What the server may ask of clients that can do it: Elicitation (a form for the user), Sampling (an answer of the ' +
        "client's model), Roots (its folders). A server up to revision 2025-11-25 needs sessions: PerClient for it. " +
        'Default: none.',
    }),
  ),
  tools: Type.Optional(tools),
  definitions,
  rules: Type.Optional(
    Type.Array(rule, {
      minItems: 1,
      maxItems: 32,
      description: 'What calls must keep: every rule that is about a tool must hold, else the call is refused.',
    }),
  ),
  workloads: Type.Optional(
    setOf(name(), {
      maxItems: 128,
      description:
        'Workloads of the same namespace that may use it. Default: all of that namespace and of its organizations.',
    }),
  ),
  callsPerMinute: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 1_000_000,
      description:
        'Calls of its tools, and reads of its resources and prompts, per minute that each workload may make. Default: no ' +
        'limit.',
    }),
  ),
  maxResultKiB: Type.Integer({
    minimum: 1,
    maximum: 65_536,
    default: 10_240,
    description: 'The largest result of one tool call, and the largest resource.',
  }),
  timeoutSeconds: Type.Integer({
    minimum: 1,
    maximum: 600,
    default: 60,
    description: 'The longest that one call may take.',
  }),
});

/** `spec` of an MCPServer: a server of tools, resources and prompts that clients use through the gateway. */
export type MCPServerSpec = Static<typeof spec>;

function isOAuth({ type }: MCPServerSpec['auth']): boolean {
  return type === 'ClientCredentials' || type === 'TokenExchange';
}

/** Fields that only OAuth has. */
const TOKEN_RULES: readonly Rule<MCPServerSpec['auth']>[] = [
  {
    rule: "self.type in ['ClientCredentials', 'TokenExchange'] ? has(self.tokenUrl) : !has(self.tokenUrl)",
    message: 'must be set if and only if type is ClientCredentials or TokenExchange',
    fieldPath: '.tokenUrl',
    check: (self) => isOAuth(self) === (self.tokenUrl !== undefined),
  },
  {
    rule: "self.type in ['ClientCredentials', 'TokenExchange'] ? has(self.clientId) : !has(self.clientId)",
    message: 'must be set if and only if type is ClientCredentials or TokenExchange',
    fieldPath: '.clientId',
    check: (self) => isOAuth(self) === (self.clientId !== undefined),
  },
  {
    rule: "!has(self.scopes) || self.type in ['ClientCredentials', 'TokenExchange']",
    message: 'must be set only if type is ClientCredentials or TokenExchange',
    fieldPath: '.scopes',
    check: (self) => self.scopes === undefined || isOAuth(self),
  },
  {
    rule: "!has(self.tokenUrl) || (isURL(self.tokenUrl) && !self.tokenUrl.matches('[@?#]'))",
    message: 'must be a valid address without a user, a query or a fragment',
    fieldPath: '.tokenUrl',
    check: ({ tokenUrl }) => tokenUrl === undefined || (URL.canParse(tokenUrl) && !/[@?#]/.test(tokenUrl)),
  },
];

const authRules: readonly Rule<MCPServerSpec['auth']>[] = [
  ...TOKEN_RULES,
  {
    rule: "self.type == 'None' ? !has(self.secretKeyRef) : has(self.secretKeyRef)",
    message: 'must be set if and only if type is not None',
    fieldPath: '.secretKeyRef',
    check: (self) => (self.type === 'None') === (self.secretKeyRef === undefined),
  },
  {
    rule: "self.type != 'Header' || has(self.header)",
    message: 'is required when type is Header',
    fieldPath: '.header',
    reason: 'FieldValueRequired',
    check: (self) => self.type !== 'Header' || self.header !== undefined,
  },
];

const specRules: readonly Rule<MCPServerSpec>[] = [
  {
    rule: "self.transport != 'SSE'",
    message: 'is not served: use StreamableHTTP',
    fieldPath: '.transport',
    check: (self) => self.transport !== 'SSE',
  },
  {
    rule: "self.type == 'OpenAPI' ? has(self.operations) : !has(self.operations)",
    message: 'must be set if and only if type is OpenAPI',
    fieldPath: '.operations',
    check: (self) => (self.type === 'OpenAPI') === (self.operations !== undefined),
  },
  {
    rule: "self.type != 'OpenAPI' || self.definitions.mode == 'Pin'",
    message: 'must not be set when type is OpenAPI: operations are the definitions',
    fieldPath: '.definitions',
    check: (self) => self.type !== 'OpenAPI' || self.definitions.mode === 'Pin',
  },
  {
    rule: "self.type != 'OpenAPI' || self.offer == ['Tools']",
    message: 'must not be set when type is OpenAPI: an API has tools only',
    fieldPath: '.offer',
    check: (self) => self.type !== 'OpenAPI' || (self.offer.length === 1 && self.offer[0] === 'Tools'),
  },
  {
    rule: "self.type != 'OpenAPI' || self.sessions == 'Shared'",
    message: 'must not be set when type is OpenAPI: an API has no sessions',
    fieldPath: '.sessions',
    check: (self) => self.type !== 'OpenAPI' || self.sessions === 'Shared',
  },
  {
    rule: "self.type != 'OpenAPI' || !has(self.clientCapabilities)",
    message: 'must not be set when type is OpenAPI: an API asks its client for nothing',
    fieldPath: '.clientCapabilities',
    check: (self) => self.type !== 'OpenAPI' || self.clientCapabilities === undefined,
  },
];

const toolRules: readonly Rule<NonNullable<MCPServerSpec['tools']>>[] = [
  {
    rule: '!(has(self.include) && has(self.exclude))',
    message: 'must not have both include and exclude',
    check: (self) => !(self.include && self.exclude),
  },
];

const definitionRules: readonly Rule<MCPServerSpec['definitions']>[] = [
  {
    rule: "self.mode == 'Declared' || !has(self.tools)",
    message: 'must be set only if mode is Declared',
    fieldPath: '.tools',
    check: (self) => self.mode === 'Declared' || self.tools === undefined,
  },
  {
    rule: "self.mode == 'Declared' || !has(self.prompts)",
    message: 'must be set only if mode is Declared',
    fieldPath: '.prompts',
    check: (self) => self.mode === 'Declared' || self.prompts === undefined,
  },
  {
    rule: "self.mode == 'Declared' || !has(self.instructions)",
    message: 'must be set only if mode is Declared',
    fieldPath: '.instructions',
    check: (self) => self.mode === 'Declared' || self.instructions === undefined,
  },
  {
    rule: "self.mode != 'Declared' || has(self.tools) || has(self.prompts) || has(self.instructions)",
    message: 'must have tools, prompts or instructions if mode is Declared',
    check: (self) =>
      self.mode !== 'Declared' ||
      self.tools !== undefined ||
      self.prompts !== undefined ||
      self.instructions !== undefined,
  },
];

const ruleRules: readonly Rule<Static<typeof rule>>[] = [
  {
    rule: 'has(self.arguments) || has(self.approval)',
    message: 'must have arguments or approval',
    check: (self) => self.arguments !== undefined || self.approval !== undefined,
  },
];

/** The MCPServer kind. */
export const mcpServer = customKind('MCPServer', spec, [
  rulesAt('spec', specRules),
  rulesAt('spec.endpoint', ENDPOINT_RULES),
  rulesAt('spec.auth', authRules),
  rulesAt('spec.tools', toolRules),
  rulesAt('spec.definitions', definitionRules),
  rulesAt('spec.rules[*]', ruleRules),
]);
