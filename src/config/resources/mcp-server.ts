import Type, { type Static } from 'typebox';
import { ENDPOINT_RULES, endpointUrl } from './endpoint.ts';
import { customKind } from './kind.ts';
import { rulesAt, type Rule } from './rules.ts';
import { closed, jurisdiction, name, secretKeyRef, setOf, values } from './schema.ts';

const auth = closed(
  {
    type: values(['None', 'Bearer', 'Header'], { description: 'How the gateway authenticates itself.' }),
    header: Type.Optional(Type.String({ maxLength: 64, description: 'Name of the header, when type is Header.' })),
    secretKeyRef: Type.Optional(secretKeyRef()),
  },
  { default: { type: 'None' }, description: 'Credentials for the server.' },
);

const tools = closed(
  {
    include: Type.Optional(
      setOf(Type.String({ maxLength: 128 }), { maxItems: 128, description: 'Offers only these tools.' }),
    ),
    exclude: Type.Optional(
      setOf(Type.String({ maxLength: 128 }), { maxItems: 128, description: 'Offers all tools except these.' }),
    ),
  },
  { description: 'Which of its tools are offered. Default: all.' },
);

const spec = closed({
  endpoint: closed({ url: endpointUrl('Address of the server.') }, { description: 'How to reach the server.' }),
  transport: values(['StreamableHTTP', 'SSE'], {
    default: 'StreamableHTTP',
    description: 'The transport that it speaks.',
  }),
  jurisdiction: jurisdiction({ description: 'Where it processes data, such as EU or US.' }),
  auth,
  tools: Type.Optional(tools),
  workloads: Type.Optional(
    setOf(name(), { maxItems: 128, description: 'Workloads of the same namespace that may use it. Default: all.' }),
  ),
  timeoutSeconds: Type.Integer({
    minimum: 1,
    maximum: 600,
    default: 60,
    description: 'The longest that one tool call may take.',
  }),
});

/** `spec` of an MCPServer: a server of tools that models may call through the gateway. */
export type MCPServerSpec = Static<typeof spec>;

const authRules: readonly Rule<MCPServerSpec['auth']>[] = [
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

const toolRules: readonly Rule<NonNullable<MCPServerSpec['tools']>>[] = [
  {
    rule: '!(has(self.include) && has(self.exclude))',
    message: 'must not have both include and exclude',
    check: (self) => !(self.include && self.exclude),
  },
];

/** The MCPServer kind. */
export const mcpServer = customKind('MCPServer', spec, [
  rulesAt('spec.endpoint', ENDPOINT_RULES),
  rulesAt('spec.auth', authRules),
  rulesAt('spec.tools', toolRules),
]);
