import { hash } from 'node:crypto';
import { afterEach, expect, inject, test } from 'vitest';
import { openPostgresCredit } from '../../src/adapters/postgres/credit.ts';
import { chat, gated } from '../harness/answers.ts';
import { gate } from '../harness/gate.ts';
import { newKey, resource, startGateway, tenant, type GatewayProcess } from '../harness/gateway.ts';
import { createDatabase } from '../harness/postgres.ts';
import { startUpstream, type Upstream } from '../harness/upstream.ts';

/** What a refusal for money says: which limit it is, what is spent and held of it, and when its period ends. */

let running: GatewayProcess | undefined;
let upstream: Upstream | undefined;
afterEach(async () => {
  await running?.kill();
  await upstream?.close();
});

const PER_CALL = [{ model: 'upstream/*', unit: 'Call', input: '0.01' }];
const END = 'The period ends at \\d{4}-\\d\\d-01T00:00:00Z\\.';
const SPENT = '0.01 EUR are spent and 0.01 EUR are held for calls in flight';
const ASKED = 'This request may cost up to 0.01 EUR.';

interface Limits {
  readonly workload?: object;
  readonly organization?: object;
}

const LIMITS: readonly (readonly [what: string, limits: Limits, said: string])[] = [
  [
    'a budget',
    { workload: { budget: { amount: '0.025', period: 'Monthly' } } },
    `the monthly budget of this workload for this request. Of 0.025 EUR, ${SPENT}. ${ASKED} ${END}`,
  ],
  [
    'a budget of all time',
    { workload: { budget: { amount: '0.02', period: 'Total' } } },
    `the total budget of this workload for this request. Of 0.02 EUR, ${SPENT}. ${ASKED}$`,
  ],
  [
    'a cap',
    {
      workload: { budget: { amount: '1', period: 'Total' } },
      organization: { cap: { amount: '0.029', period: 'Monthly' } },
    },
    `the monthly cap of this organization for this request. Of 0.029 EUR, ${SPENT}. ${ASKED} ${END}`,
  ],
  [
    'credit',
    { organization: { plan: { type: 'Prepaid' } } },
    `this organization's prepaid credit for this request. Of 0.02 EUR, ${SPENT}. ${ASKED}$`,
  ],
];

test.each(LIMITS)(
  '%s that is used up is told with its amounts',
  async (_, limits, said) => {
    for (const redisUrl of [undefined, inject('redisUrl')]) {
      upstream = await startUpstream();
      const [key, otherKey] = [newKey(), newKey()];
      const databaseUrl = await createDatabase(inject('databaseUrl'));
      // Names of organizations are names of counters, and tests share a Redis.
      const name = `acme-${key
        .slice(-8)
        .toLowerCase()
        .replace(/[^a-z0-9]/g, 'x')}`;
      const own = tenant({ upstreamUrl: upstream.url, key, prices: PER_CALL, ...limits });
      const renamed = JSON.parse(JSON.stringify(own).replaceAll('"acme"', JSON.stringify(name))) as object[];
      const others = [
        resource('Organization', `${name}-other`, {
          contact: { email: 'o@other.example' },
          priceBookRef: { name: 'prices' },
        }),
        resource('Workload', 'other', {
          organizationRef: { name: `${name}-other` },
          budget: { amount: '0.005', period: 'Total' },
        }),
        resource('VirtualKey', 'other-key', {
          workloadRef: { name: 'other' },
          hash: { algorithm: 'SHA256', value: hash('sha256', otherKey, 'hex') },
        }),
      ];
      if ('plan' in (limits.organization ?? {})) {
        const credit = await openPostgresCredit({ connectionString: databaseUrl });
        await credit.add({
          organization: `default/${name}`,
          amount: 20_000_000n,
          reference: '1',
          note: '',
          actor: 'test',
        });
        await credit.close();
      }
      running = await startGateway({
        resources: [...renamed, ...others],
        databaseUrl,
        ...(redisUrl !== undefined && { redisUrl }),
      });
      const { url } = running;
      const ask = (as = key): Promise<Response> =>
        fetch(`${url}/v1/chat/completions`, {
          method: 'POST',
          headers: { authorization: `Bearer ${as}`, 'content-type': 'application/json' },
          body: JSON.stringify({ model: 'upstream/m', messages: [{ role: 'user', content: 'Hello' }] }),
        });
      const message = async (answer: Response): Promise<string> => {
        expect(answer.status).toBe(402);
        const { error } = (await answer.json()) as { error: Record<string, unknown> };
        expect(error).toMatchObject({ type: 'insufficient_quota', code: 'insufficient_quota', param: null });
        return String(error['message']);
      };
      const first = await ask();
      expect(first.status).toBe(200);
      await first.text();
      const door = gate();
      upstream.respond(gated(door, chat({ content: 'Later.' })));
      const second = ask();
      await door.waiting();
      // The first call is spent once its row is durable.
      await expect
        .poll(async () => message(await ask()), { timeout: 30_000, interval: 1100 })
        .toMatch(new RegExp(`^Too little is left of ${said}`));
      // Refused again at once, before its body is read: what it may cost is not known.
      const again = await message(await ask());
      expect(again).toContain(SPENT);
      expect(again).not.toContain(ASKED);
      // Another organization is told of its own money alone.
      const other = await message(await ask(otherKey));
      expect(other).toContain('Of 0.005 EUR, 0 EUR are spent and 0 EUR are held');
      expect(other).not.toContain(SPENT);
      door.release();
      expect((await second).status).toBe(200);
      await running.stop();
      await upstream.close();
    }
  },
  120_000,
);
