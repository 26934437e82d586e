import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, test } from 'vitest';
import { ledgerRows } from '../harness/ledger-rows.ts';
import { skipUnless } from '../harness/skip.ts';
import { VECTOR } from './vendor-answers.ts';
import { OFFERED, pagesOf, TALKING, type World } from './world.ts';

const PYTHON = join(import.meta.dirname, '../../.tools/python/bin/python');
const SCRIPTS = join(import.meta.dirname, 'python');
const MODELS = TALKING.map(({ name: kind, model }) => `${kind}/${model}`);
const run = promisify(execFile);

/** What a script tells of one journey, by model. */
type Told = Readonly<Record<string, unknown>>;

/** What the tests need of one package. */
interface Package {
  readonly script: string;
  /** The ways it asks for conversations. */
  readonly ways: readonly string[];
  /** Refusals by what is asked: status, class, code. */
  readonly refusals: readonly (readonly [string, number, string, string])[];
}

const OPENAI: Package = {
  script: 'openai_journeys.py',
  ways: ['chat', 'responses'],
  refusals: [
    ['stranger', 401, 'AuthenticationError', 'invalid_api_key'],
    ['bare', 400, 'BadRequestError', 'model_not_prefixed'],
    ['denied', 403, 'PermissionDeniedError', 'permission_denied'],
    ['absent', 404, 'NotFoundError', 'model_not_found'],
  ],
};

const ANTHROPIC: Package = {
  script: 'anthropic_journeys.py',
  ways: ['messages'],
  refusals: [
    ['stranger', 401, 'AuthenticationError', 'authentication_error'],
    ['empty', 400, 'BadRequestError', 'invalid_request_error'],
    ['denied', 403, 'PermissionDeniedError', 'permission_error'],
    ['absent', 404, 'NotFoundError', 'not_found_error'],
  ],
};

/** The vendors' Python packages. `world`: there once the tests run. */
export function pythonSuite(world: () => World): void {
  const installed = skipUnless(existsSync(PYTHON), 'no Python with the clients: tools/setup.sh python');
  describe('openai (Python)', installed, () => {
    const told = conversations(OPENAI, world);
    test('embeds', () => {
      const models = Object.values(told()['embeddings'] ?? {});
      expect(models).toHaveLength(3);
      for (const vectors of models) expect(vectors).toEqual({ usual: [VECTOR, VECTOR], float: [VECTOR, VECTOR] });
    });
  });
  describe('anthropic (Python)', installed, () => {
    const told = conversations(ANTHROPIC, world);
    test('counts tokens', () => {
      const [few, many] = told()['count'] as unknown as readonly [number, number];
      expect(few).toBeGreaterThan(0);
      expect(many).toBeGreaterThan(few + 90);
    });
    test('reads on through pages of models', () => {
      const pages = told()['pages'] as unknown as readonly number[];
      expect(pages).toEqual(pagesOf(pages.reduce((sum, size) => sum + size, 0)));
      expect(pages.length).toBeGreaterThan(OFFERED.length / 20);
    });
  });
}

/** Runs the script and tests what both packages have; gives what it told, once the tests run. */
function conversations({ script, ways, refusals }: Package, world: () => World): () => Readonly<Record<string, Told>> {
  let told: Readonly<Record<string, Told>> = {};
  let sent: readonly { readonly kind: string; readonly body: string }[] = [];
  beforeAll(async () => {
    const { url, key, providers } = world();
    const before = providers.seen.length;
    const env = { ...process.env, GW_URL: url, GW_KEY: key, GW_MODELS: JSON.stringify(MODELS) };
    const { stdout } = await run(PYTHON, [join(SCRIPTS, script)], { env, maxBuffer: 16 * 1024 * 1024 });
    told = JSON.parse(stdout) as typeof told;
    sent = providers.seen.slice(before).map(({ kind, body }) => ({ kind, body: body.toString('utf8') }));
  }, 120_000);

  describe.each(ways)('%s', (way) => {
    describe.each(TALKING)('$name', ({ name: kind, model }) => {
      const address = `${way}.${kind}@example.com`;
      test('streams', () => {
        expect(told[`${way} stream`]?.[`${kind}/${model}`]).toBe(`You said: Write to ${address} about lunch`);
      });
      test('runs tools', () => {
        expect(told[`${way} tools`]?.[`${kind}/${model}`]).toEqual({
          mailed: [{ to: address, subject: 'lunch' }],
          text: `The tool said: mailed to ${address}`,
        });
      });
    });
  });

  test.each(TALKING)('$name sees no address', ({ name: kind }) => {
    const bodies = sent.filter((one) => one.kind === kind && one.body.includes('about lunch')).map(({ body }) => body);
    // A stream, and the two turns of a tool loop.
    expect(bodies).toHaveLength(3 * ways.length);
    for (const body of bodies) {
      expect(body).toContain('«EMAIL_1»');
      expect(body).not.toContain('@example.com');
    }
  });

  test.each(refusals)('%s: throws %i as its %s', async (asked, status, type, code) => {
    const refusal = told['refusals']?.[asked] as { readonly id: string };
    expect(refusal).toMatchObject({ status, type, code });
    // A stranger's call belongs to nobody's chain.
    const sealed = (await ledgerRows(world().databaseUrl)).filter((row) => row.call_id === refusal.id);
    expect(sealed.map((row) => row.status)).toEqual(status === 401 ? [] : [status]);
  });

  test('lists models', () => {
    expect(told['models']).toEqual(expect.arrayContaining([...OFFERED]));
  });
  return () => told;
}
