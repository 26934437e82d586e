import { afterAll, beforeAll, beforeEach, expect } from 'vitest';
import { chat } from '../harness/answers.ts';
import { newKey, resource } from '../harness/gateway.ts';
import { REVISION } from '../harness/models-server.ts';
import { organization, startSpecWorld, type SpecWorld } from './world.ts';

/** The key of an organization that allows Switzerland alone. */
export const strictKey = newKey();

/** The surfaces whose requests are JSON, each with a prompt. */
export const SURFACES: readonly (readonly [path: string, body: (prompt: string) => object])[] = [
  ['/v1/chat/completions', (content) => ({ messages: [{ role: 'user', content }] })],
  ['/v1/messages', (content) => ({ max_tokens: 9, messages: [{ role: 'user', content }] })],
  ['/v1/responses', (input) => ({ input })],
  ['/v1/completions', (prompt) => ({ prompt })],
  ['/v1/embeddings', (input) => ({ input })],
  ['/v1/moderations', (input) => ({ input })],
];
const STRICT = {
  workload: { allowedModels: ['upstream/*'], budget: { amount: '0.00000001', period: 'Total' } },
  policy: { dlp: { mode: 'Block' } },
};

/** A gateway with every surface, an application for each mode of inspection, and vendors that make media. */
function startSurfacesWorld(): Promise<SpecWorld> {
  return startSpecWorld({
    applications: {
      listed: { workload: { allowedModels: ['upstream/m', 'gw/both'] } },
      // One for each surface: who was refused for money is known for a second.
      ...Object.fromEntries(SURFACES.map((_, index) => [`strict-${index}`, STRICT])),
      once: { workload: { budget: { amount: '0.001', period: 'Total' } } },
      open: { policy: { dlp: { mode: 'AllowLog' } } },
      tokenizing: { policy: { dlp: { mode: 'Tokenize' } } },
      masking: { policy: { dlp: { mode: 'Mask' } } },
      blocking: { policy: { dlp: { mode: 'Block' } } },
      refusing: { policy: { dlp: { mode: 'AllowLog', documents: 'Refuse' } } },
    },
    prices: [
      ...['managed/*', 'swiss/*'].map((model) => ({ model, input: '2', output: '8' })),
      { model: 'mistral/mistral-ocr-latest', unit: 'Page', input: '0.01' },
      { model: 'openai/sora-2', unit: 'Second', input: '0.1' },
      { model: 'upstream/per-call', unit: 'Call', input: '0.0006' },
    ],
    more: ({ providers, upstream }) => [
      ...organization('strictly', strictKey),
      resource('Policy', 'strictly', {
        targetRefs: [{ kind: 'Organization', name: 'strictly' }],
        defaults: { residency: { allowedJurisdictions: ['CH'] } },
      }),
      resource('Policy', 'strictly-app', {
        targetRefs: [{ kind: 'Workload', name: 'strictly' }],
        defaults: { residency: { allowedJurisdictions: ['EU', 'CH'] } },
      }),
      resource('Provider', 'swiss', {
        slug: 'swiss',
        protocol: 'Custom',
        endpoint: { url: upstream, allowInsecure: true },
        jurisdiction: 'CH',
        models: [{ id: 'm' }],
      }),
      resource('Provider', 'managed', {
        slug: 'managed',
        vendor: 'openai',
        keyOwnership: 'Managed',
        jurisdiction: 'EU',
        endpoint: { url: `${providers}/openai/v1`, allowInsecure: true },
        credentials: [{ name: 'main', type: 'APIKey', secretKeyRef: { name: 'keys', key: 'openai' } }],
      }),
      resource('ModelAlias', 'both', { alias: 'gw/both', strategy: 'Failover', targets: [{ model: 'upstream/m' }] }),
    ],
  });
}

export let world: SpecWorld;

/** Starts it for the file that calls this. */
export function startSurfaces(): void {
  beforeAll(async () => {
    world = await startSurfacesWorld();
  }, 60_000);
  afterAll(() => world?.[Symbol.asyncDispose]());
  beforeEach(() => {
    world.answers.clear();
    world.upstream.respond(chat({ content: 'Hello.' }));
  });
}

export const q = { type: 'noul', instructions: 'It is so.' };
export const typed = (): void =>
  void world.models.models.set('typed', () => ({
    body: { answers: [{ probabilities: [0.9, 0.1], answer_confidence: 0.5 }], revision: REVISION },
  }));
export const form = (fields: Readonly<Record<string, string | Blob>>): FormData => {
  const made = new FormData();
  for (const [name, value] of Object.entries(fields)) made.append(name, value);
  return made;
};
export const send = (
  path: string,
  body: FormData,
  headers: Record<string, string> = {},
  as = 'open',
): Promise<Response> =>
  fetch(`${world.gateway.url}${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${world.keys[as]}`, ...headers },
    body,
  });
export const served = async (answer: Response): Promise<unknown> => {
  expect([answer.status, (await world.row(answer.clone())).outcome]).toEqual([200, 'served']);
  return answer.json();
};
