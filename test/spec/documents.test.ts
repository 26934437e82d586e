import { PDFDocument } from '@cantoo/pdf-lib';
import { Document, Packer, Paragraph } from 'docx';
import sharp from 'sharp';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { failureOf, formOf, ocrOf, startDocumentWorld, written } from '../documents/world.ts';
import { startDocumentEngine, type EngineProcess } from '../harness/document-engine.ts';
import { resource } from '../harness/gateway.ts';
import { letter } from '../harness/pdfs.ts';
import { KINDS as EVERY_KIND } from '../matrix/kinds/kinds.ts';
import { at, list, type Body } from '../matrix/vocabulary.ts';
import { startSpecWorld, type SpecWorld } from './world.ts';

/** Sections 2.4, 2.5 and what 4.3, 7.1 and 8 say of documents: with the engine that reads them. */

const MAIL = 'ada@lovelace.example';
const PDF = 'application/pdf';
const WORD = 'application/vnd.openxmlformats-officedocument.wordprocessingml.document';
const DLP = {
  open: { mode: 'AllowLog', documents: 'Off' },
  tokenizing: { mode: 'Tokenize', documents: 'Off' },
  masking: { mode: 'Mask', documents: 'Off' },
  blocking: { mode: 'Block', documents: 'Off' },
  anonymizing: { mode: 'AllowLog', documents: 'Anonymize' },
  refusing: { mode: 'AllowLog', documents: 'Refuse' },
};
const KINDS = ['native', 'seeing', 'plain'] as const;
const applications = Object.fromEntries(Object.entries(DLP).map(([name, dlp]) => [name, { policy: { dlp } }]));
const prices = KINDS.map((model) => ({ model: `${model}/*`, input: '2', output: '8' }));

const more = ({ upstream }: { readonly upstream: string }): readonly object[] =>
  KINDS.map((slug) =>
    resource('Provider', slug, {
      ...{ slug, protocol: 'Custom', jurisdiction: 'EU', endpoint: { url: upstream, allowInsecure: true } },
      features: { nativeFiles: slug === 'native' },
      ...(slug === 'plain' && { models: [{ id: 'm', vision: false }] }),
    }),
  );

let engine: EngineProcess;
let world: SpecWorld;
let pdf: Uint8Array;
let page: Buffer;
beforeAll(async () => {
  engine = await startDocumentEngine();
  world = await startSpecWorld({ documentsUrl: engine.url, applications, prices, more });
  pdf = await letter([`Please write to ${MAIL} at once.`, 'The harvest was good.']);
  page = await written('DEAR ADA LOVELACE', 'COME AT NOON');
  await engine.ready();
}, 120_000);
afterAll(async () => {
  await world?.[Symbol.asyncDispose]();
  await engine?.stop();
});

const file = (bytes: Uint8Array, type = PDF, filename = 'letter.pdf'): object => ({
  type: 'file',
  file: { filename, file_data: `data:${type};base64,${Buffer.from(bytes).toString('base64')}` },
});
const ask = (kind: string, as: string, ...files: readonly object[]): Promise<Response> =>
  world.chat(
    { model: `${kind}/m`, messages: [{ role: 'user', content: [{ type: 'text', text: 'Sum it up.' }, ...files] }] },
    { as },
  );
/** The parts that the provider got last. */
function received(): readonly Body[] {
  const body = JSON.parse(world.upstream.requests.at(-1)?.body ?? '{}') as Body;
  return list(at(body, 'messages', 0, 'content')) as readonly Body[];
}
const served = async (answer: Promise<Response>): Promise<Response> => {
  const told = await answer;
  expect([told.status, told.ok ? '' : await told.text()]).toEqual([200, '']);
  return told;
};
const nothingSent = async (answer: Promise<Response>, status: number): Promise<string> => {
  const before = world.upstream.requests.length;
  const refused = await failureOf(await answer);
  expect([refused.status, world.upstream.requests.length]).toEqual([status, before]);
  return refused.code;
};
const blank = async (pages: number, size: [number, number] = [72, 72]): Promise<Uint8Array> => {
  const made = await PDFDocument.create();
  for (let one = 0; one < pages; one++) made.addPage(size);
  return made.save();
};

interface Recognized {
  readonly pages: readonly {
    readonly index: number;
    readonly markdown: string;
    readonly images: readonly unknown[];
    readonly dimensions: Readonly<Record<string, unknown>>;
  }[];
  readonly model: string;
  readonly usage_info: { readonly pages_processed: number; readonly doc_size_bytes: number };
}

test('1/8 2.4/3 2.4/4 2.4/5 2.4/6 2.4/7 2.4/8 2.4/9 4.1/7 8/16 a page comes back with its text, its size and the count of pages, billed by the page', async () => {
  const answer = await served(world.ocr(ocrOf(page)));
  const body = (await answer.clone().json()) as Recognized;
  expect(body.pages[0]).toMatchObject({ index: 0, markdown: expect.stringContaining('LOVELACE') as string });
  expect(Array.isArray(body.pages[0]?.images)).toBe(true);
  for (const side of ['dpi', 'height', 'width']) expect(Number.isInteger(body.pages[0]?.dimensions[side])).toBe(true);
  expect([body.model, body.usage_info]).toEqual(['gw/ocr', { pages_processed: 1, doc_size_bytes: page.length }]);
  const row = await world.row(answer);
  expect([row.units, BigInt(row.cost_nano_eur) > 0n]).toEqual([{ pages: 1 }, true]);
});

test('2.4/1 the document is an https address, where a provider takes it, or inline', async () => {
  const document = { type: 'document_url', document_url: 'https://letters.example/a.pdf' };
  await served(world.ocr({ model: 'mistral/mistral-ocr-latest', document }, { as: 'open' }));
  expect(world.sentTo('mistral').at(-1)).toMatchObject({ document });
  await served(world.ocr({ ...ocrOf(pdf, {}, PDF), model: 'mistral/mistral-ocr-latest' }, { as: 'open' }));
  expect(JSON.stringify(world.sentTo('mistral').at(-1))).toContain('data:application/pdf;base64,');
});

test('2.4/10 gw/ocr asks nobody and takes inline documents only', async () => {
  const before = world.providers.seen.length + world.upstream.requests.length;
  const answer = await served(world.ocr(ocrOf(page), { as: 'blocking' }));
  expect(await world.row(answer)).toMatchObject({ provider: 'gw', jurisdiction: 'LOCAL' });
  const document = { type: 'document_url', document_url: 'https://letters.example/a.pdf' };
  const refused = await world.ocr({ model: 'gw/ocr', document });
  expect(refused.status).toBeGreaterThanOrEqual(400);
  expect(refused.status).toBeLessThan(500);
  expect(world.providers.seen.length + world.upstream.requests.length).toBe(before);
});

interface Anonymized {
  readonly filename: string;
  readonly content_type: string;
  readonly content_base64: string;
  readonly summary: Readonly<Record<string, unknown>>;
  readonly mapping?: readonly { readonly token: string; readonly original: string }[];
}
const TEXT = 'Falcon: mail ada@example.com, pay DE89370400440532013000.';
const anonymize = async (bytes: Uint8Array, name: string, options?: object): Promise<Anonymized> =>
  (await (await served(world.anonymize(formOf(bytes, name, options)))).json()) as Anonymized;
const readable = ({ content_base64 }: Anonymized): string => Buffer.from(content_base64, 'base64').toString();

test('1/8 2.5/1 2.5/2 2.5/3 kinds and terms that the options name are replaced, and no others', async () => {
  const bytes = Buffer.from(TEXT);
  const both = await anonymize(bytes, 'a.txt', { entities: ['email', 'iban'], remove: ['Falcon'] });
  expect(readable(both)).toBe('«TERM_1»: mail «EMAIL_1», pay «IBAN_1».');
  const one = await anonymize(bytes, 'a.txt', { entities: ['email'] });
  expect(readable(one)).toBe('Falcon: mail «EMAIL_1», pay DE89370400440532013000.');
  const odd = await world.anonymize(formOf(bytes, 'a.txt', { entities: ['EMAIL'] }));
  expect(odd.status).toBe(400);
  for (const entities of [['email'], ['iban']]) await anonymize(bytes, 'a.txt', { entities });
});

test('2.5/4 2.5/14 the mapping comes when it is asked for', async () => {
  const bytes = Buffer.from(TEXT);
  expect(await anonymize(bytes, 'a.txt', { entities: ['email'] })).not.toHaveProperty('mapping');
  const { mapping } = await anonymize(bytes, 'a.txt', { entities: ['email'], include_mapping: true });
  expect(mapping).toEqual([{ token: '«EMAIL_1»', original: 'ada@example.com' }]);
});

test('2.5/7 2.5/8 2.5/9 2.5/10 2.5/11 2.5/12 2.5/13 4.1/8 8/16 the anonymized file, its name, type and summary; billed by page or picture', async () => {
  const answer = await served(world.anonymize(formOf(pdf, 'letter.pdf', { entities: ['email'] })));
  const body = (await answer.clone().json()) as Anonymized;
  expect(body).toMatchObject({ filename: 'letter.pdf', content_type: PDF });
  expect(Buffer.from(body.content_base64, 'base64').subarray(0, 5).toString()).toBe('%PDF-');
  expect(body.summary).toMatchObject({ pages: 1, images: expect.any(Number) as number, categories: ['EMAIL'] });
  expect(typeof body.summary['downgraded']).toBe('boolean');
  const row = await world.row(answer);
  expect([row.units, BigInt(row.cost_nano_eur) > 0n]).toEqual([{ pages: 1 }, true]);
  const shown = await served(world.anonymize(formOf(page, 'page.png', { entities: ['email'] })));
  expect((await world.row(shown)).units).toEqual({ images: 1 });
});

test('2.5/15 what is personal becomes a tag with its kind and number, and pictures are blurred', async () => {
  const masked = readable(await anonymize(Buffer.from(`${MAIL} and bob@b.example`), 'a.txt', { entities: ['email'] }));
  expect(masked).toBe('«EMAIL_1» and «EMAIL_2»');
  const options = { remove: ['Ada Lovelace'], entities: ['email'] };
  const { content_base64 } = await anonymize(page, 'page.png', options);
  const bytes = Buffer.from(content_base64, 'base64');
  expect((await sharp(bytes).metadata()).format).toBe('png');
  const left = (await (await world.ocr(ocrOf(bytes))).json()) as Recognized;
  expect(left.pages[0]?.markdown).not.toMatch(/ADA|LOVELACE/);
});

interface Job {
  readonly id: string;
  readonly status: string;
  readonly result_url: string | null;
}
test('4.1/9 5/7 a document is enqueued, its status polled, and its result fetched at an address that needs no key', async () => {
  const form = formOf(Buffer.from(`Write to ${MAIL}.`), 'a.txt');
  const headers = { authorization: `Bearer ${world.keys['app']}` };
  const url = `${world.gateway.url}/v1/documents/anonymize/jobs`;
  const entered = await fetch(url, { method: 'POST', headers, body: form });
  expect(entered.status).toBe(202);
  const { id } = (await entered.json()) as Job;
  const told = async (): Promise<Job> => (await (await fetch(`${url}/${id}`, { headers })).json()) as Job;
  await expect.poll(async () => (await told()).status, { timeout: 30_000 }).toBe('succeeded');
  const result = new URL((await told()).result_url ?? '', world.gateway.url).href;
  expect(await (await fetch(result)).text()).toBe('Write to «EMAIL_1».');
  expect((await fetch(`${result.slice(0, -2)}xx`)).status).toBe(404);
  expect((await fetch(`${url}/${id}`)).status).toBe(401);
});

test('2.2/4 4.3/16 4.3/17 PDF, Word, pictures and text are taken as file parts, by any model', async () => {
  const word = await Packer.toBuffer(
    new Document({ sections: [{ children: [new Paragraph('The harvest was good.')] }] }),
  );
  const files = [
    file(pdf),
    file(word, WORD, 'letter.docx'),
    file(page, 'image/png', 'page.png'),
    file(Buffer.from('The harvest was good.'), 'text/plain', 'letter.txt'),
  ];
  for (const kind of KINDS) for (const one of files) await served(ask(kind, 'open', one));
  const talking = EVERY_KIND.filter(({ name, refused }) => refused === undefined && name !== 'bedrock');
  for (const { name, model } of talking) {
    const messages = [{ role: 'user', content: [files[0]] }];
    await served(world.chat({ model: `${name}/${model}`, messages }, { as: 'open' }));
  }
});

test('4.3/18 every kind of provider that takes files gets the bytes themselves, and no other', async () => {
  const data = Buffer.from(pdf).toString('base64');
  for (const { name, model, documents, images, refused } of EVERY_KIND) {
    if (refused !== undefined || name === 'bedrock' || name.startsWith('custom')) continue;
    await served(
      world.chat({ model: `${name}/${model}`, messages: [{ role: 'user', content: [file(pdf)] }] }, { as: 'open' }),
    );
    const sent = JSON.stringify(world.sentTo(name).at(-1));
    expect([name, sent.includes(data)]).toEqual([name, documents]);
    if (!documents)
      expect([name, sent.includes('image_url'), sent.includes('harvest')]).toEqual([name, images, !images]);
  }
});

test('4.3/18 who takes files gets them as they are; for others they are turned into pictures or text', async () => {
  await served(ask('native', 'open', file(pdf)));
  expect(received()).toContainEqual(file(pdf));
  await served(ask('seeing', 'open', file(pdf)));
  expect(
    received()
      .filter(({ type }) => type !== 'text')
      .map(({ type }) => type),
  ).toEqual(['image_url']);
  await served(ask('plain', 'open', file(pdf)));
  expect(JSON.stringify(received())).toContain('The harvest was good.');
});

test('4.3/19 an id of a file at a provider is not resolved', async () => {
  for (const kind of ['seeing', 'plain']) {
    const before = world.upstream.requests.length;
    const answer = await ask(kind, 'open', { type: 'file', file: { file_id: 'file-1' } });
    expect([answer.status >= 400 && answer.status < 500, world.upstream.requests.length]).toEqual([true, before]);
  }
});

test('4.3/20 8/10 pages are pictures to who sees, 48 for all documents; text to who does not, and protected', async () => {
  await served(ask('seeing', 'open', file(await blank(30)), file(await blank(18))));
  expect(received().filter(({ type }) => type === 'image_url')).toHaveLength(48);
  const code = await nothingSent(ask('seeing', 'open', file(await blank(30)), file(await blank(19))), 422);
  expect(code).toBe('document_too_large_to_scan');
  await served(ask('plain', 'tokenizing', file(pdf)));
  expect(JSON.stringify(received())).toContain('Please write to «EMAIL_1» at once.');
});

test('4.3/21 who sends too many pages is shown the way to /v1/ocr', async () => {
  const refused = await failureOf(await ask('seeing', 'open', file(await blank(49))));
  expect(refused.message).toContain('/v1/ocr');
});

test('1/20 4.3/22 documents are anonymized or refused before they leave, where policy says so', async () => {
  for (const kind of KINDS) {
    await served(ask(kind, 'anonymizing', file(pdf)));
    expect(JSON.stringify(received())).not.toContain('lovelace');
    await nothingSent(ask(kind, 'refusing', file(pdf)), 422);
  }
});

test('4.3/23 a document that would leave as pictures is refused under protection, and named as unscanned without', async () => {
  for (const as of ['tokenizing', 'masking', 'blocking']) await nothingSent(ask('seeing', as, file(pdf)), 422);
  const answer = await served(ask('seeing', 'open', file(pdf)));
  expect((await world.row(answer)).dlp.unscanned).toContain('file');
});

test('7.1/14 a page that is too large at any resolution, and more bytes than text is taken out of, are 422; large pages are scaled', async () => {
  const code = 'document_too_large_to_scan';
  expect(await nothingSent(ask('seeing', 'open', file(await blank(1, [3_000_000, 3_000_000]))), 422)).toBe(code);
  const large = Buffer.alloc(33 * 1024 * 1024, '%PDF-1.7 ');
  expect(await nothingSent(ask('plain', 'tokenizing', file(large)), 422)).toBe(code);
  await served(ask('seeing', 'open', file(await blank(1, [3400, 4800]))));
});

test('7.1/16 a PDF that must be sent as pictures is 503 where nobody makes them', async () => {
  await using without = await startDocumentWorld({
    upstreamUrl: world.upstream.url,
    applications: { open: { policy: { dlp: DLP.open } } },
    prices,
    more: more({ upstream: world.upstream.url }),
  });
  const body = { model: 'seeing/m', messages: [{ role: 'user', content: [file(pdf)] }] };
  expect(await nothingSent(without.post('/v1/chat/completions', body, { as: 'open' }), 503)).toBe(
    'pdf_renderer_unavailable',
  );
});
