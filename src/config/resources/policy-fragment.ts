import Type, { type Static } from 'typebox';
import { FINDABLE_ENTITIES } from '#/values/entities.ts';
import { rulesAt, type Rule, type RulesAt } from './rules.ts';
import { closed, jurisdiction, mapOf, model, oneOf, secretKeyRef, setOf, text, values } from './schema.ts';

/** Kinds of tools that a provider calls by itself and that reach addresses a caller names. */
const PROVIDER_SIDE_TOOLS = ['mcp'] as const;

/** One such kind. */
export type ProviderSideTool = (typeof PROVIDER_SIDE_TOOLS)[number];

const ENABLED_OR_DISABLED = ['Enabled', 'Disabled'] as const;

const dlpTools = closed(
  {
    internal: Type.Optional(oneOf('dlpMode', { description: 'For servers with trust: Internal. Default: dlp.mode.' })),
    external: Type.Optional(oneOf('dlpMode', { description: 'For all other servers. Default: dlp.mode.' })),
    results: Type.Optional(
      oneOf('dlpResults', {
        description:
          'What happens to personal data in what tools return. AllowLog (the default): pass and record it. Mask: ' +
          'replace it for good. Block: refuse the result.',
      }),
    ),
  },
  { description: 'Data protection of calls to MCP servers: what their tools are sent, and what they return.' },
);

const dlp = closed(
  {
    mode: Type.Optional(
      oneOf('dlpMode', {
        description:
          'What happens to personal data. AllowLog: pass and record it. Tokenize: replace it, and restore it in the ' +
          'answer. Mask: replace it for good. Block: refuse the call.',
      }),
    ),
    tools: Type.Optional(dlpTools),
    documents: Type.Optional(
      oneOf('dlpDocuments', {
        description: 'What happens to attached documents before anything is sent. Write "Off" in quotes.',
      }),
    ),
    images: Type.Optional(
      oneOf('dlpImages', {
        description:
          'What happens to images in prompts. Pass: they are sent and reported as unscanned. Inspect: the document ' +
          'engine reads them, matches are blurred (refused in mode Block), and unreadable images are refused. ' +
          'Refuse: no image is sent. Default: Inspect in mode Block, else Pass.',
      }),
    ),
    entities: Type.Optional(
      setOf(values(FINDABLE_ENTITIES), {
        maxItems: 64,
        description: 'Kinds of personal data to detect. Empty: all except places and organizations.',
      }),
    ),
    customTerms: Type.Optional(
      mapOf(
        closed({
          label: Type.String({ minLength: 1, maxLength: 32, description: 'The label that replaces the term.' }),
          secretKeyRef: secretKeyRef({ description: 'Where the term is stored: a Secret of the same namespace.' }),
        }),
        ['label'],
        { maxItems: 64, description: 'Terms of your own that are treated as personal data.' },
      ),
    ),
    restore: Type.Optional(
      mapOf(
        closed({
          tool: text('tool', {
            minLength: 1,
            maxLength: 128,
            description:
              'Name of a tool; * stands for any characters. An exact name takes precedence, then the longest pattern.',
          }),
          mode: oneOf('restoreMode', {
            description:
              'Always: every value. KnownTargets: every value, unless the call goes to an address or a recipient ' +
              'that neither the caller nor the definition of the tool names; then only that recipient. SuppliedOnly: ' +
              'of those, the values that the caller named or this tool returned. Never: none.',
          }),
        }),
        ['tool'],
        {
          maxItems: 64,
          description:
            'Which tool calls get the original values of tags in an answer. Default: KnownTargets; for tools that ' +
            'publish, judging by their name, SuppliedOnly.',
        },
      ),
    ),
    restoreHosts: Type.Optional(
      setOf(text('hostPattern', { minLength: 1, maxLength: 253 }), {
        maxItems: 64,
        description:
          'Hosts whose addresses may contain original values in answers and tool calls even if the caller did not ' +
          'name them: api.example.com, or *.example.com for all hosts below it.',
      }),
    ),
  },
  { description: 'Data protection.' },
);

const responseCache = closed(
  {
    mode: values(ENABLED_OR_DISABLED, { description: 'Needs contentRetention: Enabled.' }),
    ttlSeconds: Type.Optional(
      Type.Integer({ minimum: 1, maximum: 2_592_000, description: 'How long an answer stays cached.' }),
    ),
  },
  { description: "The gateway's own cache of answers to identical requests." },
);

const scopeGuard = closed(
  {
    mode: oneOf('scopeGuardMode', {
      description:
        '"Off" (in quotes). Monitor: record requests outside the scope. Block: refuse them, and requests without ' +
        'text. Begin with Monitor and read the audit rows: a local model judges, less reliably if the request is not ' +
        'in the language of the scope.',
    }),
    scope: Type.Optional(
      Type.String({
        minLength: 1,
        // Whatever the language, the model reads all of it (inspect/scope/scope-guard.ts).
        maxLength: 1000,
        description: 'The purpose of the workload in plain words, ideally one or two sentences.',
      }),
    ),
  },
  { description: 'Keeps a workload to its purpose.' },
);

const fields = {
  dlp: Type.Optional(dlp),
  residency: Type.Optional(
    closed(
      {
        allowedJurisdictions: setOf(jurisdiction(), {
          minItems: 1,
          maxItems: 64,
          description: 'Where a provider may process data, such as EU or CH. EU and APAC include their members.',
        }),
      },
      { description: 'Where requests may be sent.' },
    ),
  ),
  caching: Type.Optional(
    closed(
      {
        promptCache: Type.Optional(
          values(ENABLED_OR_DISABLED, { description: 'Whether cache markers are sent to providers.' }),
        ),
        responseCache: Type.Optional(responseCache),
      },
      { description: 'Caching by providers and by the gateway.' },
    ),
  ),
  contentRetention: Type.Optional(
    values(ENABLED_OR_DISABLED, { description: 'Whether requests and answers are retained, encrypted.' }),
  ),
  contentRetentionDays: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 3650, description: 'How long they are retained. Default: 30.' }),
  ),
  price: Type.Optional(
    values(['Known', 'Estimated'], {
      description:
        'Which prices are used. Known (the default): a model without a price is refused. Estimated: it is ' +
        'served at the price of the nearest older model of its line, if there is one, and its audit rows say so.',
    }),
  ),
  allowedModels: Type.Optional(
    setOf(model(), {
      maxItems: 256,
      description: 'Models that may be called. Every list that applies must allow the model. Empty: any model.',
    }),
  ),
  allowedTools: Type.Optional(
    setOf(text('mcpTool', { minLength: 3, maxLength: 512 }), {
      maxItems: 256,
      description:
        'Tools of MCP servers that may be called, as <server>/<tool>; * stands for any characters. Every list that ' +
        'applies must allow the tool. Prompts are <server>/prompts/<prompt>, resources are <server>/resources/<uri>; ' +
        '<server>/* allows all of a server. Empty: anything.',
    }),
  ),
  toolsToApprove: Type.Optional(
    setOf(text('toolToApprove', { minLength: 3, maxLength: 192 }), {
      maxItems: 256,
      description:
        'Tools of MCP servers of which a person must approve each call (gwctl mcp approve), as <server>/<tool>; * stands ' +
        'for any characters. Every list that applies adds to the others. Tools of the gateway itself, which change ' +
        'nothing, need no approval; nor do prompts and resources.',
    }),
  ),
  providerSideTools: Type.Optional(
    setOf(values(PROVIDER_SIDE_TOOLS), {
      maxItems: 8,
      description:
        "Tools that providers may call by themselves, without inspection, on the organization's own accounts only. " +
        'mcp: tool servers that requests name. Every list that applies must contain the kind. Absent or empty: none.',
    }),
  ),
  passthrough: Type.Optional(
    setOf(text('pathWord', { minLength: 1, maxLength: 63 }), {
      maxItems: 64,
      description:
        'Paths below /v1 without an endpoint of their own that are passed through to providers unchanged, each by ' +
        'its first word: batches for /v1/batches and all below it. Every list that applies must contain the word. ' +
        'Absent: fim, score and uploads; empty: none.',
    }),
  ),
  scopeGuard: Type.Optional(scopeGuard),
  answerTimeoutSeconds: Type.Optional(
    Type.Integer({ minimum: 10, maximum: 600, description: 'The longest that a provider may take to answer.' }),
  ),
};

/** The schema of a policy fragment: any part of a policy, all fields optional. */
export function policyFragment(description: string) {
  return closed(fields, { minProperties: 1, description });
}

/** One fragment of a policy. */
export type PolicyFragment = Static<ReturnType<typeof policyFragment>>;

const fragmentRules: readonly Rule<PolicyFragment>[] = [
  {
    rule:
      '!has(self.caching) || !has(self.caching.responseCache) || self.caching.responseCache.mode != ' +
      "'Enabled' || (has(self.contentRetention) && self.contentRetention == 'Enabled')",
    message: 'needs contentRetention: Enabled',
    fieldPath: '.caching.responseCache',
    check: (self) => self.caching?.responseCache?.mode !== 'Enabled' || self.contentRetention === 'Enabled',
  },
  {
    rule: "!has(self.toolsToApprove) || self.toolsToApprove.all(t, !t.startsWith('gw/'))",
    message: 'must not name tools of the gateway itself, which need no approval',
    fieldPath: '.toolsToApprove',
    check: ({ toolsToApprove = [] }) => !toolsToApprove.some((tool) => tool.startsWith('gw/')),
  },
];

const scopeGuardRules: readonly Rule<NonNullable<PolicyFragment['scopeGuard']>>[] = [
  {
    rule: "self.mode == 'Off' || has(self.scope)",
    message: 'is required unless mode is Off',
    fieldPath: '.scope',
    reason: 'FieldValueRequired',
    check: (self) => self.mode === 'Off' || self.scope !== undefined,
  },
];

/** The rules of a fragment that sits at `at`. */
export function policyFragmentRules(at: string): readonly RulesAt[] {
  return [rulesAt(at, fragmentRules), rulesAt(`${at}.scopeGuard`, scopeGuardRules)];
}
