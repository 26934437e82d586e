import { PDFDocument } from '@cantoo/pdf-lib';
import { afterAll, afterEach, beforeAll } from 'vitest';
import { chat } from '../harness/answers.ts';
import { startDocumentEngine, type EngineProcess } from '../harness/document-engine.ts';
import { resource } from '../harness/gateway.ts';
import { letter } from '../harness/pdfs.ts';
import { startUpstream, type Upstream } from '../harness/upstream.ts';
import { startDocumentWorld, type DocumentWorld } from './world.ts';

export const MAIL = 'ada@lovelace.example';
export const PDF = 'application/pdf';
export const SURFACES = ['chat', 'messages', 'responses'] as const;
export const MODELS = ['native', 'seeing', 'plain'] as const;
const POLICIES = {
  log: { mode: 'AllowLog', documents: 'Off' },
  tokenize: { mode: 'Tokenize', documents: 'Off' },
  mask: { mode: 'Mask', documents: 'Off' },
  block: { mode: 'Block', documents: 'Off' },
  logAnonymize: { mode: 'AllowLog', documents: 'Anonymize' },
  anonymize: { mode: 'Tokenize', documents: 'Anonymize' },
  blockAnonymize: { mode: 'Block', documents: 'Anonymize' },
  refuse: { mode: 'AllowLog', documents: 'Refuse' },
};
export type Surface = (typeof SURFACES)[number];
export type PolicyName = keyof typeof POLICIES;

export let engine: EngineProcess;
export let upstream: Upstream;
export let world: DocumentWorld;
export let pdf: Buffer;
export let text: Buffer;

function providers(url: string): readonly object[] {
  const provider = (slug: string, more: object): object =>
    resource('Provider', slug, {
      ...{ slug, protocol: 'Custom', jurisdiction: 'EU', endpoint: { url, allowInsecure: true } },
      ...more,
    });
  return [
    provider('native', { features: { nativeFiles: true } }),
    provider('seeing', { features: { nativeFiles: false } }),
    provider('plain', { features: { nativeFiles: false }, models: [{ id: 'm', vision: false }] }),
  ];
}

function alias(name: string, models: readonly string[]): object {
  return resource('ModelAlias', name, {
    ...{ alias: `gw/${name}`, strategy: 'Failover' },
    targets: models.map((model, priority) => ({ model, priority })),
  });
}

const applications = Object.fromEntries(
  Object.entries(POLICIES).map(([name, dlp]) => [name.toLowerCase(), { policy: { dlp } }]),
);
const prices = MODELS.map((model) => ({ model: `${model}/*`, input: '2', output: '8' }));

export function start(documentsUrl: string | undefined): Promise<DocumentWorld> {
  return startDocumentWorld({
    ...(documentsUrl !== undefined && { documentsUrl }),
    upstreamUrl: upstream.url,
    applications,
    prices,
    more: [
      ...providers(upstream.url),
      alias('careful', ['seeing/m', 'plain/m']),
      alias('best', ['plain/m', 'native/m']),
    ],
  });
}

/** An engine, a gateway with an application for each policy, and a provider; for the file that calls it. */
export function startPrompts(): void {
  beforeAll(async () => {
    engine = await startDocumentEngine();
    upstream = await startUpstream();
    world = await start(engine.url);
    pdf = Buffer.from(await letter([`Please write to ${MAIL} at once.`, 'The harvest was good.']));
    text = Buffer.from(`name,mail\nAda,${MAIL}\n`);
    await engine.ready();
  }, 120_000);
  afterEach(() => upstream.respond(chat({ content: 'Hello.' })));
  afterAll(async () => {
    await world[Symbol.asyncDispose]();
    await upstream.close();
    await engine.stop();
  });
}

export interface File {
  readonly bytes: Uint8Array;
  readonly mediaType: string;
  readonly name: string;
}

/** A request with files, as a surface spells it. */
export function bodyOf(surface: Surface, model: string, files: readonly File[], prompt = 'What does it say?'): object {
  const parts = files.map(({ bytes, mediaType, name }) => {
    const data = Buffer.from(bytes).toString('base64');
    const file_data = `data:${mediaType};base64,${data}`;
    if (surface === 'chat') return { type: 'file', file: { filename: name, file_data } };
    if (surface === 'responses') return { type: 'input_file', filename: name, file_data };
    const kind = mediaType.startsWith('image/') ? 'image' : 'document';
    return {
      type: kind,
      ...(kind === 'document' && { title: name }),
      source: { type: 'base64', media_type: mediaType, data },
    };
  });
  const say = { type: surface === 'responses' ? 'input_text' : 'text', text: prompt };
  const turn = { role: 'user', content: [say, ...parts] };
  const id = `${model}/m`;
  if (surface === 'responses') return { model: id, input: [turn] };
  return { model: id, max_tokens: 100, messages: [turn] };
}

const PATHS: Readonly<Record<Surface, string>> = {
  chat: '/v1/chat/completions',
  messages: '/v1/messages',
  responses: '/v1/responses',
};

export function send(
  surface: Surface,
  model: string,
  policy: PolicyName,
  files: readonly File[],
  prompt?: string,
): Promise<Response> {
  return world.post(PATHS[surface], bodyOf(surface, model, files, prompt), { as: policy.toLowerCase() });
}

/** What nobody looked into. There is no model of names here, which answers say too. */
export function unread({ headers }: Response): string | null {
  const kinds = (headers.get('x-gw-unscanned') ?? '').split(', ').filter((kind) => kind !== '' && kind !== 'names');
  return kinds.length > 0 ? kinds.join(', ') : null;
}

export const letterFile = (): File => ({ bytes: pdf, mediaType: PDF, name: 'letter.pdf' });

/** What the provider was sent last: its texts, its pictures and its files. */
export function received(): {
  readonly body: string;
  readonly texts: string;
  readonly images: readonly string[];
  readonly files: readonly Buffer[];
} {
  const body = upstream.requests.at(-1)?.body ?? '';
  interface Part {
    readonly text?: string;
    readonly image_url?: { readonly url: string };
    readonly file?: { readonly file_data: string };
  }
  const { messages } = JSON.parse(body) as {
    messages: readonly { readonly content: string | readonly Part[] | null }[];
  };
  const parts = messages.flatMap(({ content }) =>
    typeof content === 'string' ? [{ text: content }] : (content ?? []),
  );
  const bytes = (url: string): Buffer => Buffer.from(url.slice(url.indexOf(',') + 1), 'base64');
  return {
    body,
    texts: parts.map((part) => part.text ?? '').join('\n'),
    images: parts.flatMap(({ image_url }) => (image_url ? [image_url.url] : [])),
    files: parts.flatMap(({ file }) => (file ? [bytes(file.file_data)] : [])),
  };
}

/** A PDF of blank pages. */
export async function blank(pages: number, size: [number, number] = [72, 72]): Promise<Buffer> {
  const document = await PDFDocument.create();
  for (let page = 0; page < pages; page++) document.addPage(size);
  return Buffer.from(await document.save());
}
