import { hash } from 'node:crypto';
import { newKey, resource } from '../harness/gateway.ts';

/** One workload, as the checks must know it. Money is in nano-euro. */
export interface Workload {
  readonly id: string;
  readonly organization: string;
  readonly timeZone: string;
  readonly key: string;
  readonly budget: Budget | undefined;
  readonly cap: Budget | undefined;
  readonly requestsPerMinute: number | undefined;
  /** How often it is called, compared to the others. */
  readonly weight: number;
}

export interface Budget {
  readonly amount: bigint;
  readonly period: 'Total' | 'Daily' | 'Monthly';
}

/** What a token costs, either way. */
export const PER_TOKEN = 1_000_000n;
const EURO = 1_000_000_000n;

/** The organizations of one batch of rounds: fresh ones each time, so that budgets are tight again. */
export interface Tenants {
  readonly workloads: readonly Workload[];
  readonly resources: readonly object[];
}

interface Plan {
  readonly name: string;
  readonly timeZone: string;
  readonly cap?: Budget;
  readonly workloads: readonly (Pick<Workload, 'weight'> & {
    readonly budget?: Budget;
    readonly requestsPerMinute?: number;
  })[];
}

const euro = (amount: bigint, period: Budget['period']): Budget => ({ amount: amount * EURO, period });

/** Calls cost some cents and hold about half a euro. */
const PLANS: readonly Plan[] = [
  {
    name: 'total',
    timeZone: 'UTC',
    cap: euro(5n, 'Total'),
    workloads: [{ weight: 2, budget: euro(3n, 'Total') }, { weight: 2 }],
  },
  {
    name: 'daily',
    timeZone: 'Pacific/Auckland',
    cap: euro(5n, 'Daily'),
    workloads: [
      { weight: 2, budget: euro(3n, 'Daily') },
      { weight: 2, budget: euro(3n, 'Monthly') },
    ],
  },
  {
    name: 'rated',
    timeZone: 'America/St_Johns',
    cap: euro(1_000_000n, 'Monthly'),
    workloads: [{ weight: 2, requestsPerMinute: 60, budget: euro(100_000n, 'Daily') }],
  },
  {
    name: 'wide',
    timeZone: 'Europe/Berlin',
    cap: euro(1_000_000n, 'Total'),
    workloads: [{ weight: 5, budget: euro(100_000n, 'Daily') }, { weight: 5 }],
  },
];

export function tenantsOf(batch: number): Tenants {
  const workloads: Workload[] = [];
  const resources: object[] = [];
  for (const plan of PLANS) {
    const organization = `b${batch}-${plan.name}`;
    resources.push(
      resource('Organization', organization, {
        contact: { email: 'ops@acme.example' },
        priceBookRef: { name: 'prices' },
        timeZone: plan.timeZone,
        ...(plan.cap && { cap: limitOf(plan.cap) }),
      }),
    );
    for (const [index, { weight, budget, requestsPerMinute }] of plan.workloads.entries()) {
      const name = `${organization}-${index}`;
      const key = newKey();
      workloads.push({
        id: `default/${name}`,
        organization: `default/${organization}`,
        timeZone: plan.timeZone,
        key,
        budget,
        cap: plan.cap,
        requestsPerMinute,
        weight,
      });
      resources.push(
        resource('Workload', name, {
          organizationRef: { name: organization },
          ...(budget && { budget: limitOf(budget) }),
          ...(requestsPerMinute !== undefined && { limits: { requestsPerMinute } }),
        }),
        resource('VirtualKey', name, {
          workloadRef: { name },
          hash: { algorithm: 'SHA256', value: hash('sha256', key, 'hex') },
        }),
      );
    }
  }
  return { workloads, resources };
}

function limitOf({ amount, period }: Budget): object {
  return { amount: String(amount / EURO), period };
}

/** What all batches share: the provider and its prices. */
export function sharedResources(upstreamUrl: string): readonly object[] {
  return [
    resource('Provider', 'upstream', {
      slug: 'upstream',
      protocol: 'Custom',
      endpoint: { url: upstreamUrl, allowInsecure: true },
      jurisdiction: 'EU',
    }),
    // A thousandth of a euro a token.
    resource('PriceBook', 'prices', { prices: [{ model: 'upstream/*', input: '1000', output: '1000' }] }),
  ];
}
