import Type, { type Static } from 'typebox';
import { customKind } from './kind.ts';
import { rulesAt, type Rule } from './rules.ts';
import {
  budget,
  budgetAlerts,
  closed,
  localRef,
  mapOf,
  name,
  namespaceSelector,
  oneOf,
  text,
  values,
} from './schema.ts';

const workloadNamespaces = closed(
  {
    from: values(['Same', 'Selector', 'All'], {
      default: 'Same',
      description:
        'Same: the namespace of the organization. Selector: namespaces with certain labels. All: any namespace.',
    }),
    selector: Type.Optional(namespaceSelector()),
  },
  { default: { from: 'Same' }, description: 'Namespaces whose workloads may belong to this organization.' },
);

const plan = closed(
  {
    type: oneOf('planType', {
      default: 'Postpaid',
      description: 'Prepaid: calls are paid from credit added beforehand. None: every call is refused.',
    }),
    activeFrom: Type.Optional(
      Type.String({ format: 'date-time', description: 'When the plan begins. Earlier calls are refused.' }),
    ),
    activeUntil: Type.Optional(
      Type.String({ format: 'date-time', description: 'When the plan ends. Later calls are refused.' }),
    ),
  },
  { description: 'How calls are paid for. Default: Postpaid and active.' },
);

const spec = closed({
  displayName: Type.Optional(Type.String({ maxLength: 128, description: 'Name shown to people.' })),
  contact: closed(
    { email: Type.String({ format: 'email', maxLength: 254, description: 'E-mail address of a person in charge.' }) },
    { description: 'Whom to write to about this organization.' },
  ),
  state: values(['Active', 'Suspended'], {
    default: 'Active',
    description: 'Refuses every call of the organization.',
  }),
  currency: values(['EUR', 'USD'], {
    default: 'EUR',
    description: 'Currency of the cap and of the budgets of its workloads. Cannot be changed.',
  }),
  timeZone: text('timeZone', {
    maxLength: 64,
    default: 'UTC',
    description: 'IANA time zone in which the days and months of budgets begin, such as Europe/Berlin.',
  }),
  cap: Type.Optional(budget({ description: 'The most that all workloads together may spend.' })),
  plan: Type.Optional(plan),
  alerts: Type.Optional(
    budgetAlerts({ description: 'When to raise alerts that the cap, credit or a budget is used up.' }),
  ),
  priceBookRef: Type.Optional(
    localRef({
      description:
        'PriceBook whose prices replace the built-in ones. It does not apply to Managed providers of other ' +
        "namespaces or to the gateway's own models: the platform sets their prices.",
    }),
  ),
  messagesDefaultProvider: Type.Optional(
    name({ description: 'Slug of the provider that serves bare model ids on the messages surface.' }),
  ),
  sharedObjects: oneOf('sharedObjects', {
    default: 'Workload',
    description:
      'Who may use what a provider stores on an account of the organization (files, videos, stored responses). ' +
      'Workload: the workload that created it through the gateway. Organization: every workload, also what was ' +
      'created elsewhere.',
  }),
  corsOrigins: Type.Optional(
    Type.Array(Type.String({ maxLength: 255, pattern: '^https?://[a-z0-9.:-]+$' }), {
      maxItems: 32,
      description:
        'Origins of web pages that may call with keys of this organization (`https://app.example`). Default: none. ' +
        'Anyone who opens such a page can read its key.',
    }),
  ),
  accessTokens: Type.Optional(
    mapOf(
      closed({
        claim: text('plainName', { maxLength: 128, description: 'Name of a claim, such as client_id, azp or groups.' }),
        value: Type.String({
          minLength: 1,
          maxLength: 256,
          description: 'Its value, or one of its values where the claim is a list.',
        }),
        virtualKeyRef: closed(
          {
            name: text('objectName', { minLength: 1, maxLength: 253, description: 'Name of the VirtualKey.' }),
            namespace: Type.Optional(name({ description: 'Its namespace. Default: that of the organization.' })),
          },
          { description: 'The VirtualKey that the token stands for, of a workload of this organization.' },
        ),
      }),
      ['claim', 'value'],
      {
        maxItems: 256,
        description:
          'Access tokens of GW_MCP_ISSUER that clients of tools may send instead of a key, each with the key whose rights ' +
          'it has. A token that stands for several keys is refused.',
      },
    ),
  ),
  workloadNamespaces,
});

/** `spec` of an Organization: the owner of workloads, and what holds for all of them. */
export type OrganizationSpec = Static<typeof spec>;

const specRules: readonly Rule<OrganizationSpec>[] = [
  {
    rule: 'self.currency == oldSelf.currency',
    message: 'is immutable: amounts in the ledger are in this currency',
    fieldPath: '.currency',
  },
];

/** At the field itself: an unknown zone ends the evaluation, and such a fault names the place of the rule. */
const timeZoneRules: readonly Rule<OrganizationSpec['timeZone']>[] = [
  {
    rule: "timestamp('2000-01-01T00:00:00Z').getHours(self) >= 0",
    message: 'is not a time zone of the IANA database',
    check: isTimeZone,
  },
];

const planRules: readonly Rule<NonNullable<OrganizationSpec['plan']>>[] = [
  {
    rule: '!has(self.activeFrom) || !has(self.activeUntil) || timestamp(self.activeFrom) < timestamp(self.activeUntil)',
    message: 'must be later than activeFrom',
    fieldPath: '.activeUntil',
    check: ({ activeFrom, activeUntil }) =>
      activeFrom === undefined || activeUntil === undefined || Date.parse(activeFrom) < Date.parse(activeUntil),
  },
];

const namespaceRules: readonly Rule<OrganizationSpec['workloadNamespaces']>[] = [
  {
    rule: "self.from == 'Selector' ? has(self.selector) : !has(self.selector)",
    message: 'must be set if and only if from is Selector',
    fieldPath: '.selector',
    check: (self) => (self.from === 'Selector') === (self.selector !== undefined),
  },
];

/** The Organization kind. */
export const organization = customKind('Organization', spec, [
  rulesAt('spec', specRules),
  rulesAt('spec.timeZone', timeZoneRules),
  rulesAt('spec.plan', planRules),
  rulesAt('spec.workloadNamespaces', namespaceRules),
]);

function isTimeZone(timeZone: string): boolean {
  try {
    new Intl.DateTimeFormat('en', { timeZone });
    return true;
  } catch {
    return false;
  }
}
