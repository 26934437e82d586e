import { afterAll, beforeAll, beforeEach } from 'vitest';
import { startDocumentWorld, type DocumentWorld } from '../documents/world.ts';
import { REVISION, startModelsServer, type ModelsServer } from '../harness/models-server.ts';
import { resource } from '../harness/gateway.ts';
import { startUpstream, type Upstream } from '../harness/upstream.ts';

export interface Question {
  readonly type: string;
  readonly instructions: string;
  readonly options: readonly { readonly name: string; readonly description?: string }[];
}
export interface Answers {
  readonly model: string;
  readonly answers: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  readonly revision: string;
  readonly decision?: unknown;
  readonly usage: { readonly input_tokens: number };
}

/** The last option takes what is left of it all. */
const typed = ({ questions }: Record<string, unknown>): { body: object } => ({
  body: {
    answers: (questions as readonly Question[]).map(({ options }) => ({
      probabilities: options.map((_, index) => (index === 0 ? 0.75 : 0.25 / (options.length - 1))),
      answer_confidence: 0.5,
    })),
    revision: REVISION,
  },
});
const router = ({ request }: Record<string, unknown>): { body: object } => {
  const hard = String(request).includes('prove');
  const complexity = hard ? [0, 0, 0.2, 0.8] : [0.7, 0.2, 0.1, 0];
  const task = { code: 0.1, support: 0.9 };
  return { body: { reasoning: hard ? 0.9 : 0.1, complexity, task, revision: REVISION } };
};

export const NOUL = { type: 'noul', instructions: 'It is urgent.' };
export const CHOICE = { type: 'choice', instructions: 'Which?', criteria: { a: 'the first', b: null } };
export const SCORE = { type: 'score', instructions: 'How much?', criteria: ['little', 'more', 'most'] };

const secret = {
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { name: 'theirs', namespace: 'default' },
  stringData: { key: 'their-key' },
};
/** A vendor of such decisions, at the address of a stand-in. */
const theirs = (url: string): object => ({
  endpoint: { url, allowInsecure: true },
  jurisdiction: 'US',
  credentials: [{ name: 'main', type: 'APIKey', secretKeyRef: { name: 'theirs', key: 'key' } }],
});

const cleanup = new AsyncDisposableStack();
export let models: ModelsServer;
export let upstream: Upstream;
export let world: DocumentWorld;
/** A gateway, a stand-in for the local models and one for a vendor of decisions; for the file that calls it. */
export function startSystemone(): void {
  beforeAll(async () => {
    models = cleanup.use(await startModelsServer());
    models.models.set('typed', typed);
    models.models.set('router', router);
    upstream = cleanup.use(await startUpstream());
    world = cleanup.use(
      await startDocumentWorld({
        documentsUrl: models.url,
        upstreamUrl: upstream.url,
        applications: {
          listed: { workload: { allowedModels: ['gw/typed'] } },
          poor: { workload: { budget: { amount: '0.00000001', period: 'Daily' } } },
          capped: { workload: { organizationRef: { name: 'capped' } } },
          busy: { workload: { limits: { requestsPerMinute: 1 } } },
          blocking: { policy: { dlp: { mode: 'Block' } } },
          tokenizing: { policy: { dlp: { mode: 'Tokenize' } } },
          masking: { policy: { dlp: { mode: 'Mask' } } },
          european: { policy: { residency: { allowedJurisdictions: ['EU'] } } },
        },
        prices: [
          { model: 'upstream/*', input: '2', output: '8' },
          { model: 'typesafe/*', input: '1', output: '0' },
          { model: 'managed/*', input: '1', output: '0' },
        ],
        more: [
          secret,
          resource('Organization', 'capped', {
            contact: { email: 'ops@capped.example' },
            cap: { amount: '0.00000001', period: 'Monthly' },
          }),
          resource('Provider', 'typesafe', { slug: 'typesafe', keyOwnership: 'Organization', ...theirs(upstream.url) }),
          resource('Provider', 'managed', {
            slug: 'managed',
            vendor: 'typesafe',
            keyOwnership: 'Managed',
            ...theirs(upstream.url),
          }),
          resource('ModelAlias', 'theirs', {
            alias: 'gw/theirs',
            strategy: 'Failover',
            targets: [{ model: 'typesafe/jev-1.14.0' }],
          }),
        ],
      }),
    );
  });
  afterAll(() => cleanup.disposeAsync());
  beforeEach(() => {
    models.asked.length = 0;
    models.models.set('typed', typed).set('router', router);
  });
}

export const decide = (body: object, as = 'app'): Promise<Response> => world.post('/v1/systemone', body, { as });
export const plain = (state: unknown, questions: unknown, as = 'app'): Promise<Response> =>
  decide({ model: 'gw/typed', state, questions }, as);
export const routed = (state: unknown, more: object = {}): Promise<Response> =>
  decide({ model: 'gw/typed/router', state, ...more });
export const askedLast = (): Record<string, unknown> => models.asked.at(-1)?.body ?? {};
