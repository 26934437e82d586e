import type { Check } from '#/values/json-schema/check.ts';
import type { NanoEuro } from '#/values/money.ts';
import type { VendorId } from '#/vendors/list.ts';
import type { CredentialType, PromptCacheMode, VendorProtocol } from '#/vendors/vendor.ts';
import type { ProviderSideTool } from './resources/policy-fragment.ts';

/**
 * Everything the gateway knows from its configuration, resolved and immutable. A call keeps the snapshot it
 * started with. Ids are `<namespace>/<name>` of the resource.
 */
export interface Snapshot {
  /** SHA-256 (hex) of the sources it was compiled from. */
  readonly revision: string;
  /** SHA-256 (hex) of a key's secret -> the key. Holds revoked and expired keys too. */
  readonly keys: KeyIndex;
  /** By id. Holds revoked and expired keys too. */
  readonly keysById: KeyIndex;
  readonly organizations: ReadonlyMap<string, OrganizationConfig>;
  /** By id: those without a key too. */
  readonly workloads: ReadonlyMap<string, WorkloadConfig>;
}

/** Finds keys. There may be very many, so a call must never iterate over them. */
export interface KeyIndex {
  get(name: string): VirtualKeyConfig | undefined;
}

export interface VirtualKeyConfig {
  readonly id: string;
  readonly revoked: boolean;
  /** Milliseconds since the epoch. */
  readonly expiresAt?: number;
  readonly workload: WorkloadConfig;
}

export interface BudgetConfig {
  readonly amount: NanoEuro;
  readonly period: 'total' | 'daily' | 'monthly';
}

/** How an organization pays; the instants are milliseconds since the epoch. */
export interface PlanConfig {
  readonly type: 'postpaid' | 'prepaid' | 'none';
  readonly activeFrom?: number;
  readonly activeUntil?: number;
}

/** A claim of access tokens, and the id of the VirtualKey that a token with it stands for. */
export interface AccessTokenRule {
  readonly claim: string;
  readonly value: string;
  readonly key: string;
}

export interface OrganizationConfig {
  readonly id: string;
  readonly suspended: boolean;
  /** IANA name; periods of budgets are cut in it. */
  readonly timeZone: string;
  readonly cap?: BudgetConfig;
  /** Access tokens that its keys stand behind; absent: none. */
  readonly accessTokens?: readonly AccessTokenRule[];
  /** Absent: postpaid, and active. */
  readonly plan?: PlanConfig;
  /** Per cent of cap or credit at which an alert is raised, ascending. */
  readonly alertPercent: readonly number[];
  /** Providers this organization can reach, by slug: its own first, then managed ones. */
  readonly providers: ReadonlyMap<string, ProviderConfig>;
  /** Aliases of the organization's namespace, by alias id (`gw/…`). */
  readonly aliases: ReadonlyMap<string, AliasConfig>;
  /** Prices that override the default price book, by `<provider>/<model>` (`*` as a model matches all of a provider). */
  readonly prices: ReadonlyMap<string, readonly PriceConfig[]>;
  readonly messagesDefaultProvider?: string;
  /** Who may name what providers keep on the organization's own accounts: who made it, or all of its workloads. */
  readonly sharedObjects: 'workload' | 'organization';
  /** Origins of web pages that may call with its keys; absent: none. */
  readonly corsOrigins?: readonly string[];
}

export interface WorkloadConfig {
  readonly id: string;
  readonly organization: OrganizationConfig;
  readonly requestsPerMinute?: number;
  readonly tokensPerMinute?: number;
  readonly budget?: BudgetConfig;
  /** Per cent of the budget at which an alert is raised, ascending. */
  readonly alertPercent: readonly number[];
  /** When a streaming client hangs up: abort and bill the received part, or read on to the usage frame. */
  readonly onHangUp: 'abort' | 'drain';
  /** MCP servers that it reaches, by name: those of its namespace, then those of its organization's. */
  readonly mcpServers: ReadonlyMap<string, McpServerConfig>;
  /** The policy in force, merged: organization overrides > workload policy > organization defaults. */
  readonly policy: ResolvedPolicy;
  /** The policy with shadow policies applied: evaluated in addition to `policy` and recorded, never enforced. */
  readonly shadow?: ResolvedPolicy;
}

/** A server of tools that a workload's clients may call through the gateway. */
export interface McpServerConfig {
  readonly id: string;
  /** The step of `/v1/mcp/{server}`, and what price books, allow-lists and rows call it. */
  readonly name: string;
  /** Stands before its tools' names where several servers are offered together. */
  readonly prefix: string;
  readonly url: string;
  readonly jurisdiction: string;
  readonly auth: McpServerAuth;
  readonly trust: 'internal' | 'external';
  /** Whether each client has a session of its own with a legacy server. */
  readonly sessions: 'shared' | 'per_client';
  /** What the server may ask of clients that can do it. */
  readonly clientCapabilities: readonly ClientCapability[];
  /** Names of tools, or patterns (`*`); absent: all. */
  readonly include?: readonly string[];
  readonly exclude?: readonly string[];
  /** What of it clients may use. */
  readonly offer: ReadonlySet<McpFeature>;
  /** Of these, only tools whose definition says that they change nothing. */
  readonly readOnlyTools: boolean;
  readonly definitions: ToolDefinitionsConfig;
  /** The same of its prompts. */
  readonly promptDefinitions: ToolDefinitionsConfig;
  /** The same of its instructions, under the name `instructions`. */
  readonly instructionDefinitions: ToolDefinitionsConfig;
  /** In the order of the resource. */
  readonly rules: readonly ToolRuleConfig[];
  /** Of each workload; absent: no limit. */
  readonly callsPerMinute?: number;
  readonly maxResultBytes: number;
  readonly timeoutSeconds: number;
  /** Of an HTTP API, whose tools the gateway runs itself; absent: the server speaks the protocol. */
  readonly api?: ApiConfig;
}

/** The operations of an HTTP API. */
export interface ApiConfig {
  /** By name, in the order of the resource. */
  readonly operations: ReadonlyMap<string, ApiOperation>;
  /** Of all operations: it changes when one of them changes. */
  readonly digest: string;
}

/** One operation of an HTTP API, which is one tool. */
export interface ApiOperation {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Path below the address of the API, with `{name}` for parameters. */
  readonly path: string;
  readonly parameters: readonly ApiParameter[];
  readonly body: { readonly argument: string; readonly contentType: string } | undefined;
  /** What clients learn of the tool: name, description, inputSchema, annotations. */
  readonly definition: Readonly<Record<string, unknown>>;
  /** What its arguments must be. */
  readonly arguments: Check;
}

/** Where one argument is sent. */
export interface ApiParameter {
  readonly name: string;
  readonly place: 'path' | 'query' | 'header';
  readonly argument: string;
  readonly style: 'repeated' | 'comma' | 'space' | 'pipe' | 'deep' | 'json';
  /** Slashes in a path are sent as %2F; else they are refused. */
  readonly slashes: boolean;
}

/** What a server may be used for. */
export type McpFeature = 'tools' | 'resources' | 'prompts' | 'completions' | 'instructions';

/** A form for the user, an answer of the client's model, the client's folders. */
type ClientCapability = 'elicitation' | 'sampling' | 'roots';

/** What calls of some tools must keep. */
export interface ToolRuleConfig {
  /** Names of tools, or patterns (`*`). */
  readonly tools: readonly string[];
  /** What the arguments must be; absent: anything. */
  readonly arguments?: Check;
  /** A person must approve each call. */
  readonly needsApproval: boolean;
}

/** How the gateway proves to such a server who asks. */
export type McpServerAuth =
  | { readonly type: 'none' }
  /** `header`: in lower case. */
  | { readonly type: 'header'; readonly header: string; readonly value: string }
  | McpServerOAuth;

/** Access tokens that the gateway fetches as an OAuth client. */
export interface McpServerOAuth {
  /** `token_exchange`: each call with a token for the user whose access token it came with. */
  readonly type: 'client_credentials' | 'token_exchange';
  readonly tokenUrl: string;
  readonly clientId: string;
  readonly clientSecret: string;
  readonly scopes: readonly string[];
}

export type DlpMode = 'allow_log' | 'tokenize' | 'mask' | 'block';

export interface CustomTerm {
  /** At most 32 characters; becomes the category of the tag, upper-cased. */
  readonly label: string;
  readonly term: string;
}

export type RestoreMode = 'always' | 'known_targets' | 'supplied_only' | 'never';

/** What may be put back into answers where tools and addresses are concerned. */
export interface RestorePolicy {
  /** By name or pattern (`*`) of the tool. */
  readonly tools: readonly { readonly tool: string; readonly mode: RestoreMode }[];
  /** Hosts, or `*.` and a host, that count as named. */
  readonly hosts: readonly string[];
}

/** A list of models that may be called, and who says so. */
export interface AllowList {
  /** Patterns `<provider>/<model>` with `*`; never empty. */
  readonly models: readonly string[];
  readonly from: string;
}

/** A list of tools that may be called, and who says so. */
export interface ToolList {
  /** Patterns `<server>/<tool>` with `*`; never empty. */
  readonly tools: readonly string[];
  readonly from: string;
}

/** Where one value of a policy comes from. */
export interface PolicyOrigin {
  /** As resources name it: `dlp.mode`. */
  readonly field: string;
  /** The value in words. */
  readonly value: string;
  /** `Policy acme/strict (override)`, `Workload acme/bot`, or `built-in`. */
  readonly from: string;
}

export interface ResolvedPolicy {
  /** Every field and who decided it, fields that are lists once a list. */
  readonly origins: readonly PolicyOrigin[];
  readonly dlp: {
    readonly mode: DlpMode;
    readonly documents: 'off' | 'anonymize' | 'refuse';
    /** Absent: `inspect` in mode `block`, else `pass`. */
    readonly images?: 'pass' | 'inspect' | 'refuse';
    /** Categories looked for (upper case); absent: all that the gateway can find. */
    readonly entities?: ReadonlySet<string>;
    readonly customTerms: readonly CustomTerm[];
    /** Absent: as built in. */
    readonly restore?: RestorePolicy;
  };
  /** What happens to what tools of MCP servers are sent, by the trust in their server, and to what they return. */
  readonly toolDlp: {
    readonly internal: DlpMode;
    readonly external: DlpMode;
    readonly results: 'allow_log' | 'mask' | 'block';
  };
  /** Every list must allow the model (workload and policies intersect). Empty: all. */
  readonly allowedModels: readonly AllowList[];
  /** Every list must allow the tool. Empty: all. */
  readonly allowedTools: readonly ToolList[];
  /** A person must approve calls of tools that any of these lists names. */
  readonly toolsToApprove: readonly ToolList[];
  /** What every list of jurisdictions takes in; `EU` and `APAC` stand for their members. Absent: every jurisdiction. */
  readonly allowedJurisdictions?: ReadonlySet<string>;
  /** Tools that a provider may call past inspection, on an account of the organization's own. // spec 4.5.3 */
  readonly providerSideTools: ReadonlySet<ProviderSideTool>;
  /** First words of paths that are passed on to providers without a surface of their own. // spec 1.3 */
  readonly passthrough: ReadonlySet<string>;
  readonly promptCache: boolean;
  /** A model without a price is served at that of the nearest older model of its line. */
  readonly estimatesPrices: boolean;
  readonly responseCache: { readonly enabled: boolean; readonly ttlSeconds: number };
  readonly contentRetention: boolean;
  /** How long retained content is kept. */
  readonly contentRetentionDays: number;
  readonly scopeGuard: { readonly mode: 'off' | 'monitor' | 'block'; readonly scope?: string };
  /** 10 to 600. */
  readonly answerTimeoutSeconds: number;
}

export interface ProviderConfig {
  readonly id: string;
  /** The prefix of its model ids. */
  readonly slug: string;
  /** As the resource says, else its slug where that is a vendor's name, else by protocol. */
  readonly vendor: VendorId;
  readonly protocol: VendorProtocol;
  /** Base address without a trailing slash. */
  readonly url: string;
  /** `EU`, `US`, `DE`, … */
  readonly jurisdiction: string;
  /** Cloud region or location (`eu-central-1`, `europe-west4`, `eu`), where the vendor has one. */
  readonly region?: string;
  /** Cloud project, where the vendor has one. */
  readonly project?: string;
  /** Version of the API in the query (`api-version`), where the vendor has one. */
  readonly apiVersion?: string;
  /** `managed`: the installation's account; `organization`: the organization's own key. */
  readonly keyOwnership: 'managed' | 'organization';
  readonly credentials: readonly CredentialConfig[];
  readonly models: ReadonlyMap<string, ModelConfig>;
  /** It serves no other models. */
  readonly onlyListedModels?: boolean;
  /** Attempts on this provider, 1 to 5; a call makes at most three over all candidates. */
  readonly attempts: number;
  readonly circuitBreaker: {
    readonly failureRatioPercent: number;
    readonly minRequests: number;
    readonly openSeconds: number;
  };
  /** Absent: as the vendor does. */
  readonly promptCache?: PromptCacheMode;
  /** Absent: as the model catalogue says. */
  readonly nativeFiles?: boolean;
}

export interface CredentialConfig {
  readonly name: string;
  readonly type: CredentialType;
  readonly secret: string;
  readonly weight: number;
}

/** What the configuration says of a model; whatever is absent is as the model catalogue says. */
export interface ModelConfig {
  readonly id: string;
  /** What the provider knows it by: an Azure deployment, a Bedrock inference profile. */
  readonly upstreamId?: string;
  /** Where this model is processed, when elsewhere than the provider's other models. */
  readonly jurisdiction?: string;
  readonly vision?: boolean;
  readonly reasoning?: 'none' | 'effort' | 'thinking_level' | 'adaptive_thinking' | 'thinking_budget';
  /** The shape in which it answers typed questions itself. */
  readonly decisions?: 'decisions' | 'systemone';
  readonly contextTokens?: number;
  /** Most tokens the model can answer with: the ceiling of a hold when the caller names none. */
  readonly maxOutputTokens?: number;
  /** Members of a request that this model refuses, in addition to those of the catalogue. */
  readonly rejects?: readonly string[];
}

export interface AliasConfig {
  readonly alias: string;
  readonly strategy: 'weighted' | 'failover' | 'auto';
  readonly targets: readonly { readonly model: string; readonly weight: number; readonly priority: number }[];
  readonly routes: readonly { readonly task?: string; readonly maxComplexity?: number; readonly model: string }[];
}

/** One row of a price book, amounts in nano-euro: per million tokens, or per page, image or call. */
export interface PriceConfig {
  /** Where it came from: `<namespace>/<name>` of the PriceBook. */
  readonly book: string;
  readonly unit: 'million_tokens' | 'page' | 'image' | 'call' | 'second' | 'search' | 'file_search' | 'container';
  /** Absent: the ordinary one. */
  readonly serviceTier?: string;
  /** Holds for calls with more input tokens than this. Absent: for any. */
  readonly aboveInputTokens?: number;
  /** Milliseconds since the epoch from which the price holds. */
  readonly effectiveFrom: number;
  readonly input: NanoEuro;
  readonly output?: NanoEuro;
  readonly cacheRead?: NanoEuro;
  /** Added to the input price for tokens written to a provider's prompt cache. */
  readonly cacheWritePremium?: NanoEuro;
  /** Tokens written for an hour, premium included. */
  readonly cacheWrite1h?: NanoEuro;
  readonly reasoning?: NanoEuro;
  readonly inputAudio?: NanoEuro;
  readonly inputImage?: NanoEuro;
  readonly cacheReadAudio?: NanoEuro;
  readonly outputAudio?: NanoEuro;
  readonly outputImage?: NanoEuro;
  /** The rate at which amounts in dollars became these. */
  readonly usdToEur?: string;
}

/** Which definitions of a server's tools, prompts or instructions are offered. */
export interface ToolDefinitionsConfig {
  /** All of them; those of the first list and what people accept; or those that are declared. */
  readonly mode: 'record' | 'pin' | 'declared';
  /** By name: SHA-256 in hexadecimal of the definition. Empty unless the mode is `declared`. */
  readonly declared: ReadonlyMap<string, string>;
}
