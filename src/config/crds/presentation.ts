import type { CustomKindName } from '../resources/kinds.ts';

/** A column of `kubectl get`. */
export interface Column {
  readonly name: string;
  readonly type: 'string' | 'integer' | 'boolean' | 'date';
  readonly jsonPath: string;
  /** Shown by `-o wide` only. */
  readonly wide?: boolean;
}

/** How a kind is named and shown in a cluster. */
export interface Presentation {
  readonly plural: string;
  /** `kubectl get workloads` is ambiguous in many clusters; this is not. */
  readonly shortName: string;
  /** What the kind is for, in a sentence or two. */
  readonly description: string;
  readonly columns: readonly Column[];
  /** Fields of `spec` that lists can be narrowed by: `--field-selector spec.workloadRef.name=bot`. */
  readonly selectable?: readonly string[];
}

const column = (name: string, field: string, type: Column['type'] = 'string'): Column => ({
  name,
  type,
  jsonPath: `.spec.${field}`,
});
const wide = (...args: Parameters<typeof column>): Column => ({ ...column(...args), wide: true });

/** Names, columns and purposes of our kinds. Columns for conditions and age are added to each. */
export const PRESENTATION: Readonly<Record<CustomKindName, Presentation>> = {
  Organization: {
    plural: 'organizations',
    shortName: 'gworg',
    description:
      'An organization owns workloads and sets what applies to all of them: a billing plan, a spend cap, prices.',
    columns: [
      column('State', 'state'),
      column('Cap', 'cap.amount'),
      column('Period', 'cap.period'),
      column('Currency', 'currency'),
      wide('Plan', 'plan.type'),
      wide('Contact', 'contact.email'),
    ],
  },
  Workload: {
    plural: 'workloads',
    shortName: 'gwwl',
    description: 'A workload is one application that calls models. Its virtual keys share its limits and its budget.',
    columns: [
      column('Organization', 'organizationRef.name'),
      column('Environment', 'environment'),
      column('Budget', 'budget.amount'),
      column('Period', 'budget.period'),
      { name: 'Spent', type: 'string', jsonPath: '.status.spend.amount' },
      wide('Requests', 'limits.requestsPerMinute', 'integer'),
      wide('Tokens', 'limits.tokensPerMinute', 'integer'),
    ],
    selectable: ['organizationRef.name', 'environment'],
  },
  Policy: {
    plural: 'policies',
    shortName: 'gwpol',
    description: 'A policy sets how the calls of organizations or workloads are inspected, and where they may go.',
    columns: [
      column('Mode', 'mode'),
      column('Kind', 'targetRefs[0].kind'),
      column('Target', 'targetRefs[0].name'),
      wide('DLP', 'defaults.dlp.mode'),
    ],
    selectable: ['mode'],
  },
  Provider: {
    plural: 'providers',
    shortName: 'gwprov',
    description:
      'A provider serves models. Sets how to reach it, where it processes data, and which credentials to use.',
    columns: [
      column('Slug', 'slug'),
      column('Vendor', 'vendor'),
      column('Jurisdiction', 'jurisdiction'),
      column('Ownership', 'keyOwnership'),
      wide('Address', 'endpoint.url'),
    ],
    selectable: ['slug'],
  },
  PriceBook: {
    plural: 'pricebooks',
    shortName: 'gwpb',
    description: 'A price book sets prices that replace the built-in ones.',
    columns: [column('Currency', 'currency'), column('From', 'effectiveFrom')],
  },
  VirtualKey: {
    plural: 'virtualkeys',
    shortName: 'gwkey',
    description: 'A virtual key is a credential of a workload. Only the hash of its secret is stored.',
    columns: [
      column('Workload', 'workloadRef.name'),
      column('Hint', 'hint'),
      column('Revoked', 'revoked', 'boolean'),
      column('Expires', 'expiresAt'),
    ],
    selectable: ['workloadRef.name', 'revoked'],
  },
  ModelAlias: {
    plural: 'modelaliases',
    shortName: 'gwalias',
    description: 'A model alias is a model id of your own, with the models behind it and how one of them is chosen.',
    columns: [column('Alias', 'alias'), column('Strategy', 'strategy'), column('First', 'targets[0].model')],
    selectable: ['alias'],
  },
  MCPServer: {
    plural: 'mcpservers',
    shortName: 'gwmcp',
    description: 'An MCP server offers tools that models may call through the gateway.',
    columns: [
      column('Address', 'endpoint.url'),
      column('Transport', 'transport'),
      column('Jurisdiction', 'jurisdiction'),
      wide('Auth', 'auth.type'),
    ],
  },
};
