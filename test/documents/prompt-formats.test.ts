import { PDFDocument } from '@cantoo/pdf-lib';
import { Document, Packer, Paragraph } from 'docx';
import ExcelJS from 'exceljs';
import { zipSync } from 'fflate';
import { describe, expect, test } from 'vitest';
import { stringsOf } from '../harness/office.ts';
import { everythingIn } from '../harness/pdfs.ts';
import { failureOf } from './world.ts';
import {
  blank,
  type File,
  MAIL,
  MODELS,
  PDF,
  pdf,
  received,
  send,
  startPrompts,
  SURFACES,
  unread,
  upstream,
  world,
} from './prompt-world.ts';

startPrompts();

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
    // The media type says text, and the bytes are not: the type is not believed.
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
