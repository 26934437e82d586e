import { hash } from 'node:crypto';
import { startDocumentWorld, type DocumentWorld, type WorldOptions } from '../documents/world.ts';
import { resource } from '../harness/gateway.ts';
import { startModelsServer, type ModelsServer } from '../harness/models-server.ts';
import { startUpstream, type Upstream } from '../harness/upstream.ts';
import { startProviderStandIn, type ProviderStandIn, type SeenRequest, type SetAnswer } from '../journeys/stand-in.ts';
import { vendorAnswer } from '../journeys/vendor-answers.ts';
import { kindResources, KINDS } from '../matrix/kinds/kinds.ts';
import type { Body } from '../matrix/vocabulary.ts';

/** One gateway before every kind of provider, with local models and applications under rules of their own. */
export interface SpecWorld extends Omit<DocumentWorld, typeof Symbol.asyncDispose>, AsyncDisposable {
  /** The provider `upstream`, a custom endpoint that answers as told. */
  readonly upstream: Upstream;
  /** Providers of every kind, by their slugs; what each was asked. */
  readonly providers: ProviderStandIn;
  readonly models: ModelsServer;
  /** How kinds answer that are not to speak for themselves. */
  readonly answers: Map<string, (request: SeenRequest) => SetAnswer | undefined>;
  /** Bodies that this kind was sent so far. */
  sentTo(kind: string): readonly Body[];
  /** Posts a chat completion to `upstream/m` unless another model is named. */
  chat(body?: object, options?: Parameters<DocumentWorld['post']>[2]): Promise<Response>;
  /** The same for the messages surface. */
  message(body?: object, options?: Parameters<DocumentWorld['post']>[2]): Promise<Response>;
}

/** Starts it. */
export async function startSpecWorld(
  options: Omit<WorldOptions, 'upstreamUrl' | 'more'> & {
    readonly more?: (urls: { readonly upstream: string; readonly providers: string }) => readonly object[];
  } = {},
): Promise<SpecWorld> {
  await using started = new AsyncDisposableStack();
  const answers: SpecWorld['answers'] = new Map();
  const upstream = started.use(await startUpstream());
  const models = started.use(await startModelsServer());
  const providers = await startProviderStandIn({
    says: () => ({ content: 'Hello.' }),
    answer: (request) => answers.get(request.kind)?.(request) ?? vendorAnswer(request),
  });
  started.defer(() => providers.close());
  const { more, prices = [], ...rest } = options;
  const world = await startDocumentWorld({
    documentsUrl: models.url,
    ...rest,
    upstreamUrl: upstream.url,
    prices: [...prices, ...everyPrice()],
    more: [...kindResources(providers.url), ...(more?.({ upstream: upstream.url, providers: providers.url }) ?? [])],
  });
  started.use(world);
  const all = started.move();
  const bodyOf = ({ body, headers }: SeenRequest): readonly Body[] =>
    headers['content-type']?.includes('json') === true ? [JSON.parse(body.toString('utf8')) as Body] : [];
  return {
    ...world,
    upstream,
    providers,
    models,
    answers,
    sentTo: (kind) => providers.seen.filter((one) => one.kind === kind).flatMap(bodyOf),
    chat: (body = {}, asking = {}) =>
      world.post('/v1/chat/completions', { model: 'upstream/m', messages: HELLO, ...body }, asking),
    message: (body = {}, asking = {}) =>
      world.post('/v1/messages', { model: 'upstream/m', max_tokens: 64, messages: HELLO, ...body }, asking),
    [Symbol.asyncDispose]: () => all.disposeAsync(),
  };
}

const HELLO = [{ role: 'user', content: 'Hello' }];

/** A prompt of one user message with these parts. */
export const parts = (...content: readonly object[]): { readonly messages: readonly object[] } => ({
  messages: [{ role: 'user', content }],
});

/** Another organization, with its workload and key: `{name}` for all of them. */
export function organization(name: string, key: string, spec: object = {}, workload: object = {}): readonly object[] {
  const value = hash('sha256', key, 'hex');
  return [
    resource('Organization', name, {
      contact: { email: 'ops@acme.example' },
      priceBookRef: { name: 'prices' },
      ...spec,
    }),
    resource('Workload', name, { organizationRef: { name }, ...workload }),
    resource('VirtualKey', `${name}-key`, { workloadRef: { name }, hash: { algorithm: 'SHA256', value } }),
  ];
}

/** Calls with a key that no application of the world has. */
export const bearer = (key: string): { readonly headers: Readonly<Record<string, string>> } => ({
  headers: { authorization: `Bearer ${key}` },
});

function everyPrice(): readonly object[] {
  return ['upstream', ...KINDS.map(({ name }) => name)].flatMap((slug) => [
    { model: `${slug}/*`, input: '2', output: '8', cacheRead: '1', cacheWritePremium: '0.5' },
    ...['Page', 'Image'].map((unit) => ({ model: `${slug}/*`, unit, input: '0.01' })),
  ]);
}
