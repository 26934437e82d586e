import { hash } from 'node:crypto';
import type { ChatCompletionRequest, FixtureResponse } from '@copilotkit/aimock';
import { inject } from 'vitest';
import { newKey, resource, startGateway, tenant, type GatewayProcess } from '../harness/gateway.ts';
import { createDatabase } from '../harness/postgres.ts';
import { kindResources, KINDS } from '../matrix/kinds/kinds.ts';
import type { Connection } from './clients/client.ts';
import { startProviderStandIn, type ProviderStandIn } from './stand-in.ts';
import { vendorAnswer } from './vendor-answers.ts';

/** One gateway in front of every kind of provider, as an application team meets it. */
export interface World extends Connection {
  /** A key of a workload whose policy lets content pass that cannot be read. */
  readonly openKey: string;
  readonly databaseUrl: string;
  readonly providers: ProviderStandIn;
  readonly gateway: GatewayProcess;
  close(): Promise<void>;
}

/** Starts it. Data protection replaces personal data by tags. */
export async function startWorld(): Promise<World> {
  const [key, openKey] = [newKey(), newKey()];
  const providers = await startProviderStandIn({ says, answer: vendorAnswer });
  const databaseUrl = await createDatabase(inject('databaseUrl'));
  const gateway = await startGateway({ resources: resources(providers.url, key, openKey), databaseUrl });
  return {
    url: gateway.url,
    key,
    openKey,
    databaseUrl,
    providers,
    gateway,
    async close() {
      await gateway.stop();
      await providers.close();
    },
  };
}

/** Models of a provider that lists them: so many that a list of models has pages. */
const LISTED = Array.from({ length: 45 }, (_, index) => ({ id: `model-${String(index).padStart(2, '0')}` }));

/** Models that providers are configured with; a list of models shows what is known of their vendors, too. */
export const OFFERED: readonly string[] = [
  ...LISTED.map(({ id }) => `listed/${id}`),
  ...KINDS.flatMap(({ name, spec }) => {
    const models = (spec['models'] ?? []) as readonly { readonly id: string }[];
    return models.map(({ id }) => `${name}/${id}`);
  }),
].sort();

/** How many of so many models each page of twenty has. */
export function pagesOf(count: number): readonly number[] {
  return Array.from({ length: Math.ceil(count / 20) }, (_, page) => Math.min(20, count - 20 * page));
}

/** Every kind of provider that holds conversations. */
export const TALKING = KINDS.filter(({ refused }) => refused === undefined);

function resources(url: string, key: string, openKey: string): object[] {
  const [organization, workload, virtualKey] = tenant({ upstreamUrl: url, key });
  const endpoint = { url: `${url}/openai/v1`, allowInsecure: true };
  const credentials = [{ name: 'main', type: 'APIKey', secretKeyRef: { name: 'keys', key: 'openai' } }];
  const more = [
    { slug: 'listed', protocol: 'Custom', jurisdiction: 'LOCAL', endpoint, models: LISTED },
    { slug: 'managed', vendor: 'openai', jurisdiction: 'US', keyOwnership: 'Managed', endpoint, credentials },
  ];
  const slugs = [...KINDS.map(({ name }) => name), ...more.map(({ slug }) => slug)];
  const prices = slugs.flatMap((slug) => [
    { model: `${slug}/*`, input: '2', output: '8' },
    ...['Page', 'Image', 'Call'].map((unit) => ({ model: `${slug}/*`, unit, input: '0.01' })),
  ]);
  return [
    ...[organization, workload, virtualKey].filter((one) => one !== undefined),
    ...kindResources(url),
    ...more.map((spec) => resource('Provider', spec.slug, spec)),
    resource('PriceBook', 'prices', { prices }),
    resource('Workload', 'open', { organizationRef: { name: 'acme' } }),
    resource('VirtualKey', 'open-key', {
      workloadRef: { name: 'open' },
      hash: { algorithm: 'SHA256', value: hash('sha256', openKey, 'hex') },
    }),
    resource('Policy', 'open-policy', {
      targetRefs: [{ kind: 'Workload', name: 'open' }],
      defaults: { dlp: { mode: 'AllowLog' } },
    }),
    resource('Policy', 'app-policy', {
      targetRefs: [{ kind: 'Workload', name: 'app' }],
      defaults: { dlp: { mode: 'Tokenize' }, allowedModels: [...slugs.map((slug) => `${slug}/*`), 'absent/*'] },
    }),
  ];
}

const ADDRESSEE = /«EMAIL_\d+»|\S+@\S+/;

/** A model that mails whom it reads of, if it has the tool for it; else it repeats what it was told. */
function says({ messages, tools }: ChatCompletionRequest): FixtureResponse {
  const result = messages.findLast(({ role }) => role === 'tool');
  if (result) return { content: `The tool said: ${unwrapped(textOf(result.content))}` };
  const prompt = textOf(messages.findLast(({ role }) => role === 'user')?.content);
  if (!tools?.length) return { content: `You said: ${prompt}` };
  const to = ADDRESSEE.exec(prompt)?.[0] ?? 'nobody';
  return {
    reasoning: 'A mail is wanted.',
    reasoningSignature: 'c2lnbmVk',
    content: 'On it.',
    toolCalls: [{ name: 'send_mail', arguments: JSON.stringify({ to, subject: 'lunch' }) }],
  };
}

/** One family has results as objects only. */
function unwrapped(result: string): string {
  return result.startsWith('{') ? (JSON.parse(result) as { output: string }).output : result;
}

function textOf(content: unknown): string {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return '';
  return (content as { text?: unknown }[]).map(({ text }) => (typeof text === 'string' ? text : '')).join('');
}
