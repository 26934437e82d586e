import type { AccessTokenRule, AliasConfig, BudgetConfig, OrganizationConfig, PlanConfig } from '../snapshot.ts';
import { toSnapshot } from '../resources/names.ts';
import type { OrganizationSpec } from '../resources/organization.ts';
import { compileAliases } from './aliases.ts';
import type { Resource } from './catalog.ts';
import { follow, hasLabels, toInstant, type Compilation } from './context.ts';
import { toNanoEuro, type Currency } from './money.ts';
import { platformPrices } from './platform-prices.ts';
import { compilePrices } from './prices.ts';
import { compileProviders } from './providers.ts';

const NO_ALIASES: ReadonlyMap<string, AliasConfig> = new Map();

/** Compiles every Organization, by id, with the providers, aliases and prices its calls can use. */
export function compileOrganizations(compilation: Compilation): ReadonlyMap<string, OrganizationConfig> {
  const reachOf = compileProviders(compilation);
  const aliases = compileAliases(compilation);
  const pricesOf = platformPrices(compilation, compilePrices(compilation));
  const organizations = new Map<string, OrganizationConfig>();
  for (const resource of compilation.catalog.all('Organization')) {
    refuseForeigners(compilation, resource);
    const { spec } = resource.body;
    const book = spec.priceBookRef && `${resource.namespace}/${spec.priceBookRef.name}`;
    if (book) follow(compilation, resource, 'spec.priceBookRef', 'PriceBook', book);
    const reach = reachOf(resource);
    organizations.set(
      resource.id,
      Object.freeze({
        id: resource.id,
        suspended: spec.state === 'Suspended',
        timeZone: spec.timeZone,
        ...(spec.plan && { plan: toPlan(compilation, resource, spec.plan) }),
        alertPercent: toAlertPercent(spec.alerts),
        ...(spec.cap && { cap: toBudget(compilation, spec.cap, spec.currency) }),
        providers: reach.providers,
        aliases: aliases.get(resource.namespace) ?? NO_ALIASES,
        prices: pricesOf(resource, book, reach),
        sharedObjects: toSnapshot('sharedObjects', spec.sharedObjects),
        ...(spec.accessTokens && { accessTokens: toAccessTokens(resource, spec.accessTokens) }),
        ...(spec.corsOrigins && { corsOrigins: spec.corsOrigins }),
        ...(spec.messagesDefaultProvider && { messagesDefaultProvider: spec.messagesDefaultProvider }),
      }),
    );
  }
  return organizations;
}

/** Keys are looked up when a token comes: they may be made later, and of other workloads than this organization's. */
function toAccessTokens(
  { namespace }: Resource<'Organization'>,
  rules: NonNullable<OrganizationSpec['accessTokens']>,
): readonly AccessTokenRule[] {
  return Object.freeze(
    rules.map(({ claim, value, virtualKeyRef: { name, namespace: other = namespace } }) =>
      Object.freeze({ claim, value, key: `${other}/${name}` }),
    ),
  );
}

/** An organization decides what its calls may cost: who may edit some namespace has no say in that. */
function refuseForeigners({ faults, organizationNamespaces }: Compilation, resource: Resource<'Organization'>): void {
  if (!organizationNamespaces || organizationNamespaces.includes(resource.namespace)) return;
  const message = `organizations are accepted only in ${organizationNamespaces.join(', ')}`;
  faults.add(resource, 'metadata.namespace', message, 'NamespaceNotPermitted');
}

function toPlan(
  { faults }: Compilation,
  resource: Resource<'Organization'>,
  { type, activeFrom, activeUntil }: NonNullable<OrganizationSpec['plan']>,
): PlanConfig {
  const from = activeFrom === undefined ? undefined : toInstant(faults, resource, 'spec.plan.activeFrom', activeFrom);
  const until =
    activeUntil === undefined ? undefined : toInstant(faults, resource, 'spec.plan.activeUntil', activeUntil);
  return Object.freeze({
    type: toSnapshot('planType', type),
    ...(from !== undefined && { activeFrom: from }),
    ...(until !== undefined && { activeUntil: until }),
  });
}

/** Where nothing is said of alerts, they are raised when most is used and when all is. */
const ALERT_PERCENT: readonly number[] = Object.freeze([80, 100]);

/** The thresholds of a resource, ascending; `inherited` where it names none. */
export function toAlertPercent(
  alerts: OrganizationSpec['alerts'],
  inherited: readonly number[] = ALERT_PERCENT,
): readonly number[] {
  return alerts ? Object.freeze(alerts.percent.toSorted((a, b) => a - b)) : inherited;
}

/** A spend limit in nano-euro, rounded down. `currency` is the organization's. */
export function toBudget(
  { usdToEur }: Compilation,
  { amount, period }: NonNullable<OrganizationSpec['cap']>,
  currency: Currency,
): BudgetConfig {
  return Object.freeze({
    // At the rate without a date: a limit does not change on a date that the configuration does not name.
    amount: toNanoEuro(amount, currency, usdToEur[0].rate, 'down'),
    period: toSnapshot('period', period),
  });
}

/** Whether an organization lets workloads of a namespace belong to it. */
export function permitsNamespace(
  compilation: Compilation,
  organization: Resource<'Organization'>,
  namespace: string,
): boolean {
  const { from, selector } = organization.body.spec.workloadNamespaces;
  switch (from) {
    case 'Same':
      return namespace === organization.namespace;
    case 'All':
      return true;
    case 'Selector':
      return hasLabels(compilation, namespace, selector?.matchLabels ?? {});
    default:
      return from satisfies never;
  }
}
