import { PDFDocument } from '@cantoo/pdf-lib';
import { Document, Packer, Paragraph } from 'docx';
import ExcelJS from 'exceljs';
import { zipSync } from 'fflate';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { chat } from '../harness/answers.ts';
import { startDocumentEngine, type EngineProcess } from '../harness/document-engine.ts';
import { resource } from '../harness/gateway.ts';
import { stringsOf } from '../harness/office.ts';
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

function start(documentsUrl: string | undefined): Promise<DocumentWorld> {
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

function send(
  surface: Surface,
  model: string,
  policy: PolicyName,
  files: readonly File[],
  prompt?: string,
): Promise<Response> {
  return world.post(PATHS[surface], bodyOf(surface, model, files, prompt), { as: policy.toLowerCase() });
}

/** What nobody looked into. There is no model of names here, which answers say too. */
function unread({ headers }: Response): string | null {
  const kinds = (headers.get('x-gw-unscanned') ?? '').split(', ').filter((kind) => kind !== '' && kind !== 'names');
  return kinds.length > 0 ? kinds.join(', ') : null;
}

const letterFile = (): File => ({ bytes: pdf, mediaType: PDF, name: 'letter.pdf' });

/** What the provider was sent last: its texts, its pictures and its files. */
function received(): {
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

describe.each(SURFACES)('%s', (surface) => {
  test.each(['log', 'logAnonymize', 'anonymize', 'blockAnonymize'] as const)(
    'a PDF travels under %s',
    async (policy) => {
      const anonymized = policy !== 'log';
      for (const model of MODELS) {
        upstream.respond(chat({ content: anonymized ? 'Mail «EMAIL_1».' : `Mail ${MAIL}.` }));
        const answer = await send(surface, model, policy, [letterFile()]);
        expect([model, answer.status]).toEqual([model, 200]);
        expect(await answer.text()).toContain(`Mail ${MAIL}.`);
        const { body, texts, images, files } = received();
        const all = [body, ...(await Promise.all(files.map(everythingIn)))].join('\n');
        if (anonymized) expect(all).not.toContain('lovelace');
        expect([model, files.length, images.length]).toEqual([
          model,
          model === 'native' ? 1 : 0,
          model === 'seeing' ? 1 : 0,
        ]);
        if (model === 'native' && !anonymized) expect(files[0]?.equals(pdf)).toBe(true);
        if (model === 'native' && anonymized) expect(all).toContain('EMAIL_1');
        if (model === 'plain') {
          expect(texts).toContain(`letter.pdf:\n\nPlease write to ${anonymized ? '«EMAIL_1»' : MAIL} at once.`);
          expect(texts).toContain('The harvest was good.');
        }
        const unscanned = !anonymized && model !== 'plain' ? ['file'] : [];
        expect(unread(answer)).toBe(unscanned[0] ?? null);
        const row = await world.row(answer);
        expect(row.dlp.unscanned).toEqual(['names', ...unscanned]);
        expect(row.dlp.findings).toEqual(unscanned.length > 0 ? {} : { EMAIL: 1 });
        const losses = { native: [], seeing: ['document.as_images'], plain: ['document.as_text'] }[model];
        expect(row.losses).toEqual(expect.arrayContaining(losses));
      }
    },
  );

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
        expect(unread(answer)).toBeNull();
        const { texts, files } = received();
        const all = files.join('') + texts;
        expect(all).toContain({ log: `Ada,${MAIL}`, mask: 'Ada,[EMAIL]' }[policy as string] ?? 'Ada,«EMAIL_1»');
      }
      expect((await send(surface, model, 'block', [file])).status).toBe(422);
      expect((await send(surface, model, 'refuse', [file])).status).toBe(422);
    }
  });
});

/** A PDF of blank pages. */
async function blank(pages: number, size: [number, number] = [72, 72]): Promise<Buffer> {
  const document = await PDFDocument.create();
  for (let page = 0; page < pages; page++) document.addPage(size);
  return Buffer.from(await document.save());
}

describe('what a document may be', () => {
  test('all documents of a request have 48 pages between them', async () => {
    const pages = (count: number, bytes: Buffer): File => ({ bytes, mediaType: PDF, name: `${count}.pdf` });
    const [thirty, eighteen] = [pages(30, await blank(30)), pages(18, await blank(18))];
    const answer = await send('chat', 'seeing', 'log', [thirty, eighteen]);
    expect(answer.status).toBe(200);
    expect(received().images).toHaveLength(48);
    expect((await world.row(answer)).losses).toEqual(['document.as_images']);
    const before = upstream.requests.length;
    for (const files of [
      [thirty, eighteen, pages(1, await blank(1))],
      [pages(49, await blank(49))],
      [thirty, pages(19, await blank(19))],
    ]) {
      const refused = await failureOf(await send('chat', 'seeing', 'log', files));
      expect(refused).toMatchObject({ status: 422, code: 'document_too_large_to_scan' });
      expect(refused.message).toContain('/v1/ocr');
    }
    expect(upstream.requests).toHaveLength(before);
  });

  test.each([
    ['encrypted', 'document_encrypted'],
    ['absurd', 'document_too_large_to_scan'],
    ['broken', 'document_unreadable'],
  ] as const)('%s: %s', async (what, code) => {
    const made = await PDFDocument.create();
    made.addPage();
    if (what === 'encrypted') made.encrypt({ userPassword: 'x', ownerPassword: 'y' });
    const bytes = {
      encrypted: () => made.save(),
      absurd: () => blank(1, [3_000_000, 3_000_000]),
      broken: () => Promise.resolve(pdf.subarray(0, 60)),
    }[what]();
    const file = { bytes: await bytes, mediaType: PDF, name: 'a.pdf' };
    const before = upstream.requests.length;
    expect(await failureOf(await send('chat', 'seeing', 'log', [file]))).toMatchObject({ status: 422, code });
    expect(upstream.requests).toHaveLength(before);
    // Who takes files is told what it is: it is theirs to refuse.
    expect((await send('chat', 'native', 'log', [file])).status).toBe(200);
    if (what !== 'absurd') expect((await send('chat', 'native', 'anonymize', [file])).status).toBe(422);
  });

  test('a file of no format that is read', async () => {
    const file = { bytes: Buffer.from([0, 1, 2, 3]), mediaType: 'application/x-thing', name: 'a.bin' };
    for (const [model, policy] of [
      ['plain', 'log'],
      ['seeing', 'log'],
      ['plain', 'tokenize'],
      ['native', 'anonymize'],
    ] as const) {
      expect(await failureOf(await send('chat', model, policy, [file]))).toMatchObject({ status: 422 });
    }
    // What is called text and is none is not taken at its word.
    const disguised = { bytes: Buffer.from([0x41, 0, 1, 2, 0xff]), mediaType: 'text/plain', name: 'a.txt' };
    expect((await send('chat', 'native', 'tokenize', [disguised])).status).toBe(422);
  });

  test('more bytes than text is taken out of', async () => {
    const bytes = Buffer.alloc(33 * 1024 * 1024, '%PDF-1.7 ');
    const file = { bytes, mediaType: PDF, name: 'large.pdf' };
    const refused = await failureOf(await send('chat', 'plain', 'tokenize', [file]));
    expect(refused).toMatchObject({ status: 422, code: 'document_too_large_to_scan' });
  });

  test.each([
    ['bytes', '€'.repeat(11 * 1024 * 1024 + 1)],
    ['characters', 'a'.repeat(4 * 1024 * 1024 + 1)],
  ])('a text with more %s than are looked through, in every mode', async (_, said) => {
    const file = { bytes: Buffer.from(said), mediaType: 'text/plain', name: 'large.txt' };
    const before = upstream.requests.length;
    for (const policy of ['tokenize', 'log', 'anonymize'] as const) {
      const refused = await failureOf(await send('chat', 'native', policy, [file]));
      expect(refused).toMatchObject({ status: 422, code: 'document_too_large_to_scan' });
    }
    expect(upstream.requests).toHaveLength(before);
  });

  test('film is no document: it goes as it is, or not at all', async () => {
    const part = { type: 'video_url', video_url: { url: 'data:video/mp4;base64,AAAA' } };
    const body = { model: 'seeing/m', messages: [{ role: 'user', content: [part] }] };
    const answer = await world.post('/v1/chat/completions', body, { as: 'log' });
    expect([answer.status, unread(answer)]).toEqual([200, 'file']);
    expect(received().body).toContain(JSON.stringify(part));
    for (const as of ['tokenize', 'anonymize', 'refuse']) {
      expect((await world.post('/v1/chat/completions', body, { as })).status).toBe(422);
    }
  });

  test('however it is written, a file is a file', async () => {
    const base64 = pdf.toString('base64');
    const lines = base64.replaceAll(/.{76}/g, '$&\n');
    for (const file_data of [
      base64,
      lines,
      `DATA:${PDF};BASE64,${base64}`,
      `data:${PDF};name=a b.pdf;base64,${base64}`,
    ]) {
      const part = { type: 'file', file: { file_data } };
      const body = { model: 'native/m', messages: [{ role: 'user', content: [part] }] };
      const answer = await world.post('/v1/chat/completions', body, { as: 'anonymize' });
      expect([file_data.slice(0, 30), answer.status]).toEqual([file_data.slice(0, 30), 200]);
      const { files, body: sent } = received();
      expect(sent).not.toContain(base64.slice(0, 200));
      expect((await Promise.all(files.map(everythingIn))).join('')).not.toContain('lovelace');
    }
    const source = { type: 'base64', media_type: PDF, data: lines };
    const blocks = {
      model: 'native/m',
      max_tokens: 9,
      messages: [{ role: 'user', content: [{ type: 'document', source }] }],
    };
    expect((await world.post('/v1/messages', blocks, { as: 'refuse' })).status).toBe(422);
    const two = {
      type: 'file',
      file: { file_data: `data:${PDF};base64,${base64}`, more: `data:${PDF};base64,${base64}` },
    };
    const body = { model: 'seeing/m', messages: [{ role: 'user', content: [two] }] };
    expect((await world.post('/v1/chat/completions', body, { as: 'log' })).status).toBe(400);
  });

  test('a document by address is refused where content is protected', async () => {
    const part = { type: 'input_file', file_url: 'https://files.example/a.pdf' };
    const body = { model: 'native/m', input: [{ role: 'user', content: [part] }] };
    for (const as of ['tokenize', 'anonymize', 'refuse']) {
      expect((await world.post('/v1/responses', body, { as })).status).toBe(422);
    }
  });

  test('a document by address goes to who takes addresses, and is never fetched for who takes none', async () => {
    const part = { type: 'input_file', file_url: 'https://files.example/a.pdf' };
    const before = upstream.requests.length;
    for (const model of MODELS) {
      const body = { model: `${model}/m`, input: [{ role: 'user', content: [part] }] };
      const refused = await failureOf(await world.post('/v1/responses', body, { as: 'log' }));
      expect([model, refused]).toEqual([model, expect.objectContaining({ status: 400, code: 'invalid_request' })]);
    }
    expect(upstream.requests).toHaveLength(before);
  });
});

describe('formats of offices and browsers', () => {
  test.each([
    ['letter.rtf', 'text/rtf', `{\\rtf1 Please write to ${MAIL.replace('@', "\\'40")} at once.}`],
    ['letter.rtf', 'text/plain', `{\\rtf1 Please write to ${MAIL.replace('@', '\\u64?')} at once.}`],
    [
      'letter.eml',
      'message/rfc822',
      `Subject: x\r\nContent-Type: text/plain\r\nContent-Transfer-Encoding: base64\r\n\r\n${Buffer.from(`Please write to ${MAIL} at once.`).toString('base64')}`,
    ],
  ])('%s as %s, in words of its own', async (name, mediaType, text) => {
    for (const policy of ['tokenize', 'anonymize'] as const) {
      const answer = await send('chat', 'plain', policy, [{ name, mediaType, bytes: Buffer.from(text) }]);
      expect([policy, answer.status]).toEqual([policy, 200]);
      expect(received().texts).toContain('Please write to «EMAIL_1» at once.');
    }
  });

  test('Word', async () => {
    const paragraphs = [`Please write to ${MAIL} at once.`, 'The harvest was good.'];
    const children = paragraphs.map((line) => new Paragraph(line));
    const bytes = await Packer.toBuffer(new Document({ creator: MAIL, title: MAIL, sections: [{ children }] }));
    const mediaType = 'application/vnd.openxmlformats-officedocument.wordprocessingml.document';
    const file = { bytes, mediaType, name: 'letter.docx' };
    for (const surface of SURFACES) {
      for (const model of ['seeing', 'plain'] as const) {
        for (const policy of ['tokenize', 'anonymize', 'log'] as const) {
          const answer = await send(surface, model, policy, [file]);
          expect([surface, model, policy, answer.status]).toEqual([surface, model, policy, 200]);
          expect(unread(answer)).toBeNull();
          const { texts, images } = received();
          const said = policy === 'log' ? MAIL : '«EMAIL_1»';
          expect(texts).toContain(`letter.docx:\n\nPlease write to ${said} at once.`);
          expect(images).toEqual([]);
        }
      }
    }
    expect((await send('chat', 'native', 'anonymize', [file])).status).toBe(200);
    const [sent = Buffer.of()] = received().files;
    expect(stringsOf(sent)).toContain('Please write to «EMAIL_1» at once.');
    expect(stringsOf(sent)).not.toContain('lovelace');
    expect(unread(await send('chat', 'native', 'log', [file]))).toBe('file');
    expect(received().files[0]?.equals(bytes)).toBe(true);
    expect((await send('chat', 'native', 'tokenize', [file])).status).toBe(200);
    expect(received()).toMatchObject({ files: [], texts: expect.stringContaining('«EMAIL_1»') as string });
  });

  test('a workbook, cell by cell', async () => {
    const workbook = new ExcelJS.Workbook();
    workbook.creator = MAIL;
    workbook.addWorksheet('People').addRows([
      ['Name', 'Mail', 'Pieces'],
      ['Harvest', MAIL, 42],
    ]);
    const bytes = Buffer.from(await workbook.xlsx.writeBuffer());
    const mediaType = 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet';
    const file = { bytes, mediaType, name: 'people.xlsx' };
    for (const surface of SURFACES) {
      for (const policy of ['tokenize', 'anonymize', 'log'] as const) {
        const answer = await send(surface, 'plain', policy, [file]);
        expect([surface, policy, answer.status]).toEqual([surface, policy, 200]);
        const { texts } = received();
        expect(texts).toContain('people.xlsx:');
        expect(texts).toMatch(policy === 'log' ? /Harvest.*ada@lovelace\.example.*42/s : /Harvest.*«EMAIL_1».*42/s);
      }
    }
    expect((await send('chat', 'native', 'anonymize', [file])).status).toBe(200);
    const [sent = Buffer.of()] = received().files;
    expect(stringsOf(sent)).toContain('«EMAIL_1»');
    expect(stringsOf(sent)).not.toContain('lovelace');
    expect((await send('chat', 'native', 'block', [file])).status).toBe(422);
  });

  test.each([
    ['text', 'odt', `<text:p>Write to ${MAIL} now.</text:p>`],
    [
      'spreadsheet',
      'ods',
      `<table:table><table:table-row><table:table-cell office:value-type="string"><text:p>Write to ${MAIL} now.</text:p></table:table-cell></table:table-row></table:table>`,
    ],
  ])('OpenDocument %s, as it reads', async (kind, ending, inner) => {
    const mediaType = `application/vnd.oasis.opendocument.${kind}`;
    const names = ['office', 'text', 'table'].map(
      (name) => `xmlns:${name}="urn:oasis:names:tc:opendocument:xmlns:${name}:1.0"`,
    );
    const content = `<office:document-content ${names.join(' ')} office:version="1.2"><office:body><office:${kind}>${inner}</office:${kind}></office:body></office:document-content>`;
    const packed = (xml: string): Uint8Array =>
      zipSync({ mimetype: [Buffer.from(mediaType), { level: 0 }], 'content.xml': Buffer.from(xml) });
    const file = { bytes: packed(content), mediaType, name: `a.${ending}` };
    for (const surface of SURFACES) {
      for (const model of ['plain', 'native'] as const) {
        for (const policy of ['tokenize', 'anonymize'] as const) {
          expect([surface, model, policy, (await send(surface, model, policy, [file])).status]).toEqual([
            ...[surface, model, policy],
            200,
          ]);
          const { texts, files } = received();
          const all = files.map(stringsOf).join('') + texts;
          expect(all).toContain('Write to «EMAIL_1» now.');
          expect(all).not.toContain('lovelace');
        }
      }
    }
    const before = upstream.requests.length;
    for (const damaged of ['<office:text', `<office:${kind}>${MAIL}</office:${kind}>`]) {
      const broken = { ...file, bytes: packed(damaged) };
      const refused = await failureOf(await send('chat', 'native', 'anonymize', [broken]));
      expect(refused).toMatchObject({ status: 422, code: 'document_unreadable' });
    }
    expect(upstream.requests).toHaveLength(before);
    // Who takes files is sent it as it is where policy protects nothing.
    expect(unread(await send('chat', 'native', 'log', [file]))).toBe('file');
  });

  test('HTML, whose entities hide nothing', async () => {
    const html = `<!doctype html><html><body><p>Write to ada&#64;lovelace&period;example now.</p></body></html>`;
    const file = { bytes: Buffer.from(html), mediaType: 'text/html', name: 'a.html' };
    for (const surface of SURFACES) {
      for (const model of MODELS) {
        for (const policy of ['tokenize', 'anonymize'] as const) {
          expect((await send(surface, model, policy, [file])).status).toBe(200);
          const { texts, files } = received();
          expect([surface, model, policy, files.join('') + texts]).toEqual([
            ...[surface, model, policy],
            expect.stringContaining('Write to «EMAIL_1» now.'),
          ]);
          expect(files.join('') + texts).not.toContain('lovelace');
        }
      }
    }
  });
});

describe('a text that is written otherwise than it reads', () => {
  const page = '<!doctype html><html><body><p>Write to ada&commat;lovelace&period;example now.</p></body></html>';
  test.each([
    ['escaped JSON', String.raw`{"mail":"ada\u0040lovelace.example now."}`, 'application/json'],
    ['an address', 'Write to https://x.example/?m=ada%40lovelace.example now.', 'text/plain'],
    ['entities', 'Write to ada&#64;lovelace.example now.', 'text/plain'],
    ['marks', 'Write to **ada**@love*lace*.example now.', 'text/markdown'],
    ['HTML that is called plain', page, 'text/plain'],
  ])('is searched as it reads: %s', async (_, content, mediaType) => {
    const file = { bytes: Buffer.from(content), mediaType, name: 'a' };
    for (const policy of ['tokenize', 'anonymize'] as const) {
      expect((await send('chat', 'plain', policy, [file])).status).toBe(200);
      expect(received().texts).toMatch(/«EMAIL_1»\*? now\./);
      expect(received().texts).not.toMatch(/lovelace|love\*|lace/);
    }
  });

  test.each(['text/plain', 'message/rfc822'])('is searched as it reads: mail that is called %s', async (mediaType) => {
    const content =
      'From: a\nSubject: x\nContent-Transfer-Encoding: quoted-printable\n\nWrite to ada=40love=\nlace.example now.';
    const file = { bytes: Buffer.from(content), mediaType, name: 'a.txt' };
    for (const policy of ['tokenize', 'anonymize'] as const) {
      expect((await send('chat', 'plain', policy, [file])).status).toBe(200);
      expect(received().texts).toContain('Write to «EMAIL_1» now.');
      expect(received().texts).not.toMatch(/lovelace|lace/);
    }
    expect((await send('chat', 'plain', 'log', [file])).status).toBe(200);
    expect(received().texts).toMatch(/Write to ada(=40love=\nlace|@lovelace)\.example now\./);
  });
});

describe('an alias', () => {
  const ask = (model: string, policy: PolicyName): Promise<Response> => {
    const body = { ...bodyOf('chat', 'x', [letterFile()]), model };
    return world.post('/v1/chat/completions', body, { as: policy.toLowerCase() });
  };

  test('is answered by who may be told', async () => {
    const answer = await ask('gw/careful', 'tokenize');
    expect(answer.status).toBe(200);
    expect(received().texts).toContain('Please write to «EMAIL_1» at once.');
    const row = await world.row(answer);
    expect(row).toMatchObject({ provider: 'plain' });
    expect(row.route?.join('\n')).toContain('seeing/m: skipped');
  });

  test('prefers who takes files, where they may leave', async () => {
    expect((await ask('gw/best', 'anonymize')).status).toBe(200);
    expect(received().files).toHaveLength(1);
    expect((await ask('gw/best', 'tokenize')).status).toBe(200);
    expect(received().files).toHaveLength(0);
  });
});

describe('a conversation', () => {
  test('sends the same bytes each turn, and what it adds has tags of its own', async () => {
    const first = { role: 'user', content: [{ type: 'text', text: 'From grace@hopper.example.' }] };
    const file_data = `data:${PDF};base64,${pdf.toString('base64')}`;
    const second = { role: 'user', content: [{ type: 'file', file: { filename: `${MAIL} says.pdf`, file_data } }] };
    const later = [
      { role: 'assistant', content: 'Yes.' },
      { role: 'user', content: 'Copy alan@turing.example.' },
    ];
    const ask = async (messages: readonly object[]): Promise<string> => {
      const answer = await world.post('/v1/chat/completions', { model: 'native/m', messages }, { as: 'anonymize' });
      expect(answer.status).toBe(200);
      return received().body;
    };
    const before = await engine.metric('gw_inference_jobs_total{verb="redact",outcome="done"}');
    const [one, two] = [await ask([first, second]), await ask([first, second, ...later])];
    const shared = one.slice(one.indexOf('"messages":['), one.indexOf('"}}]}') + 5);
    expect(shared.length).toBeGreaterThan(500);
    expect(two).toContain(shared);
    expect(one).toContain('From «EMAIL_1»');
    expect(one).toContain('"filename":"«EMAIL_2» says.pdf"');
    expect(two).toContain('Copy «EMAIL_3»');
    expect((await engine.metric('gw_inference_jobs_total{verb="redact",outcome="done"}')) - before).toBeLessThanOrEqual(
      1,
    );
  });

  test('a document in the result of a tool, with its cache marker', async () => {
    const source = { type: 'base64', media_type: PDF, data: pdf.toString('base64') };
    const document = { type: 'document', source, title: MAIL, cache_control: { type: 'ephemeral' } };
    const messages = [
      { role: 'user', content: 'Fetch it.' },
      { role: 'assistant', content: [{ type: 'tool_use', id: 'toolu_1', name: 'fetch', input: {} }] },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'toolu_1', content: [document] }] },
    ];
    const body = {
      model: 'plain/m',
      max_tokens: 100,
      messages,
      tools: [{ name: 'fetch', input_schema: { type: 'object' } }],
    };
    expect((await world.post('/v1/messages', body, { as: 'tokenize' })).status).toBe(200);
    expect(received().body).toContain('«EMAIL_1»:\\n\\nPlease write to «EMAIL_1» at once.');
  });

  test('terms to remove are removed from documents too', async () => {
    const body = { ...bodyOf('chat', 'plain', [letterFile()]), gw: { remove: [{ term: 'harvest', label: 'crop' }] } };
    const answer = await world.post('/v1/chat/completions', body, { as: 'log' });
    expect(answer.status).toBe(200);
    expect(received().texts).toMatch(/The «[A-Z_]*CROP_1» was good/);
  });
});

describe('pictures', () => {
  test('in a prompt are blurred where documents are anonymized, and named otherwise', async () => {
    const picture = await written('DEAR ADA LOVELACE', 'COME AT NOON');
    const url = `data:image/png;base64,${picture.toString('base64')}`;
    const messages = [{ role: 'user', content: [{ type: 'image_url', image_url: { url } }] }];
    const ask = (as: string): Promise<Response> =>
      world.post('/v1/chat/completions', { model: 'seeing/m', messages, gw: { remove: ['Lovelace'] } }, { as });
    const open = await ask('tokenize');
    expect(unread(open)).toBe('image');
    expect(received().images).toEqual([url]);
    const closed = await ask('anonymize');
    expect(closed.status).toBe(200);
    expect(unread(closed)).toBeNull();
    const [sent = ''] = received().images;
    expect(sent).toMatch(/^data:image\/png;base64,/);
    expect(sent).not.toBe(url);
    expect((await world.row(closed)).dlp).toMatchObject({ unscanned: ['names'], findings: { TERM: 1 } });
  });

  test('as files are pictures to who sees, where they may leave unread, and their text to who does not', async () => {
    const bytes = await written('HELLO');
    const file = { bytes, mediaType: 'image/png', name: 'a.png' };
    const answer = await send('chat', 'seeing', 'log', [file]);
    expect(unread(answer)).toBe('image');
    expect(received().images).toEqual([`data:image/png;base64,${bytes.toString('base64')}`]);
    const before = upstream.requests.length;
    for (const policy of ['tokenize', 'mask', 'block', 'refuse'] as const) {
      for (const model of ['native', 'seeing'] as const) {
        expect([policy, model, (await send('chat', model, policy, [file])).status]).toEqual([policy, model, 422]);
      }
    }
    expect(upstream.requests).toHaveLength(before);
    for (const policy of ['log', 'tokenize', 'anonymize'] as const) {
      const told = await send('chat', 'plain', policy, [file]);
      expect([policy, told.status, unread(told)]).toEqual([policy, 200, null]);
      expect(received()).toMatchObject({
        images: [],
        files: [],
        texts: expect.stringContaining('a.png:\n\nHELLO') as string,
      });
    }
  });

  test.each(['refuse', 'anonymize'] as const)('nobody has looked into are not sent by %s', async (as) => {
    const before = upstream.requests.length;
    const url = `data:image/png;base64,${(await written('HELLO')).toString('base64')}`;
    const urls = ['https://pictures.example/a.png', ...(as === 'refuse' ? [url] : [])];
    for (const one of urls) {
      const messages = [{ role: 'user', content: [{ type: 'image_url', image_url: { url: one } }] }];
      const refused = await failureOf(
        await world.post('/v1/chat/completions', { model: 'seeing/m', messages }, { as }),
      );
      expect(refused).toMatchObject({ status: 422, code: 'data_protection' });
    }
    expect(upstream.requests).toHaveLength(before);
  });
});

describe('without an engine', () => {
  const ask = (from: DocumentWorld, model: string, as: string, file: File): Promise<Response> =>
    from.post('/v1/chat/completions', bodyOf('chat', model, [file]), { as });

  test.each([
    ['not there', undefined],
    ['down', 'http://127.0.0.1:9'],
  ])('%s', async (_how, url) => {
    await using alone = await start(url);
    const before = upstream.requests.length;
    expect(await failureOf(await ask(alone, 'seeing', 'log', letterFile()))).toMatchObject({
      status: 503,
      code: 'pdf_renderer_unavailable',
    });
    expect((await ask(alone, 'plain', 'log', letterFile())).status).toBe(503);
    // Where an engine is to be, names are too, and nobody looks for them.
    const refused = url === undefined ? 422 : 503;
    expect((await ask(alone, 'native', 'anonymize', letterFile())).status).toBe(refused);
    expect((await ask(alone, 'seeing', 'tokenize', letterFile())).status).toBe(refused);
    expect((await ask(alone, 'native', 'tokenize', letterFile())).status).toBe(refused);
    expect(upstream.requests).toHaveLength(before);
    expect((await ask(alone, 'native', 'log', letterFile())).status).toBe(200);
    const csv = { bytes: text, mediaType: 'text/csv', name: 'a.csv' };
    expect((await ask(alone, 'seeing', 'tokenize', csv)).status).toBe(url === undefined ? 200 : 503);
    if (url === undefined) expect(received().texts).toContain('Ada,«EMAIL_1»');
  });
});

test('who hangs up while a document is read is neither billed nor sent anywhere', async () => {
  const before = upstream.requests.length;
  const leave = new AbortController();
  const file = { bytes: await blank(40, [600, 800]), mediaType: PDF, name: 'long.pdf' };
  const asked = world.post('/v1/chat/completions', bodyOf('chat', 'seeing', [file]), {
    as: 'log',
    signal: leave.signal,
  });
  const jobs = 'gw_inference_jobs_running';
  await expect.poll(() => engine.metric(jobs)).toBeGreaterThan(0);
  leave.abort();
  await expect(asked).rejects.toThrow('aborted');
  await expect.poll(() => engine.metric(jobs)).toBe(0);
  expect(upstream.requests).toHaveLength(before);
});
