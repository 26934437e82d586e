/**
 * Every enumerated value that is spelled differently in a resource (CamelCase, the Kubernetes convention) and in the
 * snapshot (snake case, as in audit rows and in the API). The schemas take their values from here too.
 */
export const SPELLINGS = {
  dlpMode: { AllowLog: 'allow_log', Tokenize: 'tokenize', Mask: 'mask', Block: 'block' },
  dlpResults: { AllowLog: 'allow_log', Mask: 'mask', Block: 'block' },
  dlpDocuments: { Off: 'off', Anonymize: 'anonymize', Refuse: 'refuse' },
  restoreMode: {
    Always: 'always',
    KnownTargets: 'known_targets',
    SuppliedOnly: 'supplied_only',
    Never: 'never',
  },
  dlpImages: { Pass: 'pass', Inspect: 'inspect', Refuse: 'refuse' },
  scopeGuardMode: { Off: 'off', Monitor: 'monitor', Block: 'block' },
  definitionsMode: { Record: 'record', Pin: 'pin', Declared: 'declared' },
  toolsOnly: { All: 'all', ReadOnly: 'read_only' },
  trust: { Internal: 'internal', External: 'external' },
  mcpFeature: {
    Tools: 'tools',
    Resources: 'resources',
    Prompts: 'prompts',
    Completions: 'completions',
    Instructions: 'instructions',
  },
  clientSessions: { Shared: 'shared', PerClient: 'per_client' },
  clientCapability: { Elicitation: 'elicitation', Sampling: 'sampling', Roots: 'roots' },
  parameterPlace: { Path: 'path', Query: 'query', Header: 'header' },
  parameterStyle: {
    Repeated: 'repeated',
    Comma: 'comma',
    Space: 'space',
    Pipe: 'pipe',
    Deep: 'deep',
    JSON: 'json',
  },
  sharedObjects: { Workload: 'workload', Organization: 'organization' },
  period: { Total: 'total', Daily: 'daily', Monthly: 'monthly' },
  planType: { Postpaid: 'postpaid', Prepaid: 'prepaid', None: 'none' },
  onHangUp: { Abort: 'abort', Drain: 'drain' },
  protocol: {
    ChatCompletions: 'chat_completions',
    Messages: 'messages',
    Converse: 'converse',
    GenerateContent: 'generate_content',
    Custom: 'custom',
  },
  keyOwnership: { Managed: 'managed', Organization: 'organization' },
  credentialType: {
    APIKey: 'api_key',
    AWSSigV4: 'aws_sigv4',
    AzureAD: 'azure_ad',
    GCPServiceAccount: 'gcp_service_account',
  },
  promptCache: {
    ExplicitMarkers: 'explicit_markers',
    CachePoint: 'cache_point',
    Automatic: 'automatic',
    Implicit: 'implicit',
    Passthrough: 'passthrough',
    None: 'none',
  },
  reasoning: {
    None: 'none',
    Effort: 'effort',
    ThinkingLevel: 'thinking_level',
    AdaptiveThinking: 'adaptive_thinking',
    ThinkingBudget: 'thinking_budget',
  },
  decisions: { Decisions: 'decisions', SystemOne: 'systemone' },
  strategy: { Weighted: 'weighted', Failover: 'failover', Auto: 'auto' },
  unit: {
    MillionTokens: 'million_tokens',
    Page: 'page',
    Image: 'image',
    Call: 'call',
    Second: 'second',
    Search: 'search',
    FileSearch: 'file_search',
    Container: 'container',
  },
  serviceTier: {
    Standard: 'standard',
    Flex: 'flex',
    Priority: 'priority',
    Batch: 'batch',
    Scale: 'scale',
    Fast: 'fast',
    Reserved: 'reserved',
  },
} as const;

/** The names of the enumerations. */
export type Enumeration = keyof typeof SPELLINGS;

/** How an enumeration is spelled in resources. */
export type ResourceSpelling<E extends Enumeration> = keyof (typeof SPELLINGS)[E] & string;

/** How an enumeration is spelled in the snapshot. */
export type SnapshotSpelling<E extends Enumeration> = (typeof SPELLINGS)[E][keyof (typeof SPELLINGS)[E]];

/** The snapshot's spelling of a resource's value. */
export function toSnapshot<E extends Enumeration, V extends ResourceSpelling<E>>(
  enumeration: E,
  value: V,
): (typeof SPELLINGS)[E][V] {
  return SPELLINGS[enumeration][value];
}

/** The resource's spelling of a snapshot's value. */
export function toResource<E extends Enumeration>(enumeration: E, value: SnapshotSpelling<E>): ResourceSpelling<E> {
  for (const [resource, snapshot] of Object.entries(SPELLINGS[enumeration])) {
    if (snapshot === value) return resource as ResourceSpelling<E>;
  }
  throw new RangeError(`not a value of ${enumeration}`);
}
