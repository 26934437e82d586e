import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, expect } from 'vitest';
import { startDocumentWorld, type DocumentWorld } from '../documents/world.ts';
import { chat } from '../harness/answers.ts';
import { MODELS, startDocumentEngine } from '../harness/document-engine.ts';
import { tapEngine, type EngineTap } from '../harness/engine-tap.ts';
import { resource } from '../harness/gateway.ts';
import { startUpstream, type Upstream } from '../harness/upstream.ts';

export interface Answer {
  readonly type: string;
  readonly noul?: number;
  readonly choice?: string;
  readonly score?: number;
  readonly legend?: Readonly<Record<string, string>>;
  readonly probabilities?: Readonly<Record<string, number>>;
  readonly confidence: number;
  readonly answer_confidence?: number;
}
export interface Decision {
  readonly model: string;
  readonly answers: Readonly<Record<string, Answer>>;
  readonly revision: string;
  readonly decision?: { readonly route: string; readonly demand: string } | null;
  readonly usage: { readonly input_tokens: number; readonly output_tokens: number };
}

export const NOUL = { type: 'noul', instructions: 'The customer wants money back.' };
export const TOPIC = {
  type: 'choice',
  instructions: 'What is it about?',
  criteria: { parcel: 'a delivery', weather: null },
};
export const MOOD = { type: 'score', instructions: 'How glad is the sender?', criteria: ['angry', 'calm', 'glad'] };
export const MAIL = 'My parcel never arrived. I want my money back at once!';
export const TASKS = ['code', 'writing', 'translation', 'extraction', 'document', 'support', 'smalltalk', 'action'];
const PURPOSE = 'Questions of employees about holidays.';
const ENTITIES = ['email', 'person_name'];

const cleanup = new AsyncDisposableStack();
export let tap: EngineTap;
export let upstream: Upstream;
export let world: DocumentWorld;
/** A gateway and the engine with the models that are checked in, tapped; for the file that calls it. */
export function startContract(): void {
  beforeAll(async () => {
    const engine = await startDocumentEngine({ GW_MODELS_DIR: MODELS, GW_INFERENCE_MODEL_QUEUE_LENGTH: '1' });
    cleanup.defer(async () => void (await engine.stop()));
    tap = cleanup.use(await tapEngine(engine.url));
    upstream = cleanup.use(await startUpstream(chat({ content: 'Hello.' })));
    for (const model of ['typed', 'router', 'names'])
      while ((await engine.metric(`gw_inference_model_ready{model="${model}"}`)) !== 1) await setTimeout(100);
    world = cleanup.use(
      await startDocumentWorld({
        documentsUrl: tap.url,
        upstreamUrl: upstream.url,
        prices: [{ model: 'upstream/*', input: '1', output: '1' }],
        applications: {
          open: { policy: { dlp: { mode: 'AllowLog' } } },
          blocking: { policy: { dlp: { mode: 'Block' } } },
          masking: { policy: { dlp: { mode: 'Mask' } } },
          tokenizing: { policy: { dlp: { mode: 'Tokenize' } } },
          guarded: {
            policy: { dlp: { mode: 'Tokenize', entities: ENTITIES }, scopeGuard: { mode: 'Block', scope: PURPOSE } },
          },
          listed: { workload: { allowedModels: ['upstream/*'] } },
          poor: { workload: { budget: { amount: '0.00000001', period: 'Daily' } } },
          thrifty: { workload: { budget: { amount: '0.0001', period: 'Daily' } } },
          slow: { workload: { limits: { requestsPerMinute: 1 } } },
        },
        more: [
          resource('ModelAlias', 'auto', {
            alias: 'gw/auto',
            strategy: 'Auto',
            auto: { routes: [{ task: 'code', model: 'upstream/coder' }] },
            targets: [
              { model: 'upstream/dear', priority: 0 },
              { model: 'upstream/cheap', priority: 1 },
            ],
          }),
        ],
      }),
    );
    while (!(await (await world.get('/v1/models')).text()).includes('gw/typed/router')) await setTimeout(100);
  }, 180_000);
  afterAll(() => cleanup.disposeAsync());
  beforeEach(() => {
    tap.asked.length = 0;
  });
}

export const ask = (body: object, as = 'open'): Promise<Response> => world.post('/v1/systemone', body, { as });
export const typed = (state: unknown, questions: unknown, as = 'open', more: object = {}): Promise<Response> =>
  ask({ model: 'gw/typed', state, questions, ...more }, as);
export const router = (state: unknown, as = 'open', more: object = {}): Promise<Response> =>
  ask({ model: 'gw/typed/router', state, ...more }, as);
export const asked = (...kinds: readonly string[]): EngineTap['asked'] =>
  tap.asked.filter(({ kind }) => kinds.includes(kind));
export async function decided(answer: Response): Promise<Decision> {
  expect(answer.status).toBe(200);
  return (await answer.json()) as Decision;
}
export const weightsOf = (kind: string): string =>
  createHash('sha256')
    .update(readFileSync(join(MODELS, kind, 'model.onnx')))
    .digest('hex');
export const sum = (of: Readonly<Record<string, number>> = {}): number => Object.values(of).reduce((a, b) => a + b, 0);
