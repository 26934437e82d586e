import { PDFDocument } from '@cantoo/pdf-lib';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { chat } from '../harness/answers.ts';
import { startDocumentEngine, type EngineProcess } from '../harness/document-engine.ts';
import { resource } from '../harness/gateway.ts';
import { everythingIn, letter } from '../harness/pdfs.ts';
import { startUpstream, type Upstream } from '../harness/upstream.ts';
import { failureOf, startDocumentWorld, written, type DocumentWorld } from './world.ts';

const MAIL = 'ada@lovelace.example';
const PDF = 'application/pdf';
const SURFACES = ['chat', 'messages', 'responses'] as const;
const MODELS = ['native', 'seeing', 'plain'] as const;
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
type Surface = (typeof SURFACES)[number];
type PolicyName = keyof typeof POLICIES;

let engine: EngineProcess;
let upstream: Upstream;
let world: DocumentWorld;
let pdf: Buffer;
let text: Buffer;

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

const applications = Object.fromEntries(
  Object.entries(POLICIES).map(([name, dlp]) => [name.toLowerCase(), { policy: { dlp } }]),
);
const prices = MODELS.map((model) => ({ model: `${model}/*`, input: '2', output: '8' }));

function start(documentsUrl: string | undefined): Promise<DocumentWorld> {
  return startDocumentWorld({
    ...(documentsUrl !== undefined && { documentsUrl }),
    upstreamUrl: upstream.url,
    applications,
    prices,
    more: providers(upstream.url),
  });
}

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

interface File {
  readonly bytes: Uint8Array;
  readonly mediaType: string;
  readonly name: string;
}

/** A request with files, as a surface spells it. */
function bodyOf(surface: Surface, model: string, files: readonly File[], prompt = 'What does it say?'): object {
  const parts = files.map(({ bytes, mediaType, name }) => {
    const data = Buffer.from(bytes).toString('base64');
    const file_data = `data:${mediaType};base64,${data}`;
    if (surface === 'chat') return { type: 'file', file: { filename: name, file_data } };
    if (surface === 'responses') return { type: 'input_file', filename: name, file_data };
    const kind = mediaType.startsWith('image/') ? 'image' : 'document';
    return { type: kind, ...(kind === 'document' && { title: name }), source: { type: 'base64', media_type: mediaType, data } };
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

function send(surface: Surface, model: string, policy: PolicyName, files: readonly File[], prompt?: string): Promise<Response> {
  return world.post(PATHS[surface], bodyOf(surface, model, files, prompt), { as: policy.toLowerCase() });
}

const letterFile = (): File => ({ bytes: pdf, mediaType: PDF, name: 'letter.pdf' });

/** What the provider was sent last: its texts, its pictures and its files. */
function received(): { readonly body: string; readonly texts: string; readonly images: readonly string[]; readonly files: readonly Buffer[] } {
  const body = upstream.requests.at(-1)?.body ?? '';
  interface Part {
    readonly text?: string;
    readonly image_url?: { readonly url: string };
    readonly file?: { readonly file_data: string };
  }
  const { messages } = JSON.parse(body) as { messages: readonly { readonly content: string | readonly Part[] }[] };
  const parts = messages.flatMap(({ content }) => (typeof content === 'string' ? [{ text: content } as Part] : content));
  const bytes = (url: string): Buffer => Buffer.from(url.slice(url.indexOf(',') + 1), 'base64');
  return {
    body,
    texts: parts.map((part) => part.text ?? '').join('\n'),
    images: parts.flatMap(({ image_url }) => (image_url ? [image_url.url] : [])),
    files: parts.flatMap(({ file }) => (file ? [bytes(file.file_data)] : [])),
  };
}

describe.each(SURFACES)('%s', (surface) => {
  test.each(['log', 'logAnonymize', 'anonymize', 'blockAnonymize'] as const)('a PDF travels under %s', async (policy) => {
    const anonymized = policy !== 'log';
    for (const model of MODELS) {
      upstream.respond(chat({ content: anonymized ? 'Mail «EMAIL_1».' : `Mail ${MAIL}.` }));
      const answer = await send(surface, model, policy, [letterFile()]);
      expect([model, answer.status]).toEqual([model, 200]);
      expect(await answer.text()).toContain(`Mail ${MAIL}.`);
      const { body, texts, images, files } = received();
      const all = [body, ...(await Promise.all(files.map(everythingIn)))].join('\n');
      if (anonymized) expect(all).not.toContain('lovelace');
      expect([model, files.length, images.length]).toEqual([model, model === 'native' ? 1 : 0, model === 'seeing' ? 1 : 0]);
      if (model === 'native' && !anonymized) expect(files[0]?.equals(pdf)).toBe(true);
      if (model === 'native' && anonymized) expect(all).toContain('EMAIL_1');
      if (model === 'plain') {
        expect(texts).toContain(`letter.pdf:\n\nPlease write to ${anonymized ? '«EMAIL_1»' : MAIL} at once.`);
        expect(texts).toContain('The harvest was good.');
      }
      const unscanned = !anonymized && model !== 'plain' ? ['file'] : [];
      expect(answer.headers.get('x-gw-unscanned')).toBe(unscanned[0] ?? null);
      const row = await world.row(answer);
      expect(row.dlp.unscanned).toEqual(unscanned);
      expect(row.dlp.findings).toEqual(unscanned.length > 0 ? {} : { EMAIL: 1 });
      const losses = { native: [], seeing: ['document.as_images'], plain: ['document.as_text'] }[model];
      expect(row.losses).toEqual(expect.arrayContaining(losses));
    }
  });

  test('a PDF under tokenize goes as text to who would read it so, and as pictures to nobody', async () => {
    upstream.respond(chat({ content: 'Mail «EMAIL_1».' }));
    for (const model of ['plain', 'native'] as const) {
      const answer = await send(surface, model, 'tokenize', [letterFile()], `I am ${MAIL}.`);
      expect(answer.status).toBe(200);
      expect(await answer.text()).toContain(`Mail ${MAIL}.`);
      const { body, texts, files } = received();
      expect(files).toEqual([]);
      expect(body).not.toContain('lovelace');
      // The same address has the same tag in the prompt and in the document.
      expect(texts).toContain('I am «EMAIL_1».');
      expect(texts).toContain('Please write to «EMAIL_1» at once.');
    }
    const before = upstream.requests.length;
    const refused = await send(surface, 'seeing', 'tokenize', [letterFile()]);
    expect(refused.status).toBe(422);
    expect(await refused.text()).toContain('data protection');
    expect(upstream.requests).toHaveLength(before);
  });

  test('personal data in a document is masked, or refuses the call', async () => {
    expect((await send(surface, 'plain', 'mask', [letterFile()])).status).toBe(200);
    expect(received().texts).toContain('Please write to [EMAIL] at once.');
    const before = upstream.requests.length;
    for (const model of MODELS) {
      const answer = await send(surface, model, 'block', [letterFile()]);
      expect([model, answer.status]).toEqual([model, 422]);
      const refused = await send(surface, model, 'refuse', [letterFile()]);
      expect([model, refused.status]).toEqual([model, 422]);
    }
    expect(upstream.requests).toHaveLength(before);
  });

  test('a text is read like the prompt, under any policy', async () => {
    const file = { bytes: text, mediaType: 'text/csv', name: 'people.csv' };
    for (const model of MODELS) {
      for (const policy of ['tokenize', 'anonymize', 'logAnonymize', 'mask', 'log'] as const) {
        const answer = await send(surface, model, policy, [file]);
        expect([model, policy, answer.status]).toEqual([model, policy, 200]);
        expect(answer.headers.get('x-gw-unscanned')).toBeNull();
        const { texts, files } = received();
        const all = files.join('') + texts;
        expect(all).toContain({ log: `Ada,${MAIL}`, mask: 'Ada,[EMAIL]' }[policy as string] ?? 'Ada,«EMAIL_1»');
      }
      expect((await send(surface, model, 'block', [file])).status).toBe(422);
      expect((await send(surface, model, 'refuse', [file])).status).toBe(422);
    }
  });
});
