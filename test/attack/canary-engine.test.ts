import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import sharp from 'sharp';
import { PDFDocument } from '@cantoo/pdf-lib';
import { beforeAll, expect, test } from 'vitest';
import { MODELS, startDocumentEngine, type EngineProcess } from '../harness/document-engine.ts';
import { officeFile } from '../harness/office.ts';
import { tally } from './tally.ts';

/** Words that neither the engine's log nor its errors may repeat: of documents, their metadata, names and requests. */

const tried = tally('canaries of the engine');
/** What is logged at other levels is logged at the first. */
const LEVELS = ['trace', 'info'] as const;
const CANARY = 'canarycontent';
const WORD = 'wordprocessingml.document.main+xml';

interface Sent {
  readonly name: string;
  readonly bytes: Uint8Array;
}
let documents: readonly Sent[];

beforeAll(async () => {
  const whole = await pdf();
  const png = await picture();
  documents = [
    ...words(),
    ...workbooks(),
    { name: 'whole.pdf', bytes: whole },
    { name: 'half.pdf', bytes: whole.subarray(0, whole.length >> 1) },
    { name: 'changed.pdf', bytes: Buffer.from(changed(whole), 'latin1') },
    { name: 'claims.pdf', bytes: Buffer.from(`%PDF-1.7\n1 0 obj<</Title(${CANARY})/Type/${CANARY}>>endobj`) },
    { name: `${CANARY}.png`, bytes: png },
    { name: 'half.png', bytes: png.subarray(0, png.length - 40) },
    { name: 'page.html', bytes: Buffer.from(`<html><title>${CANARY}<body ${'<div '.repeat(9000)}${CANARY}=1>`) },
    { name: 'bytes.txt', bytes: Buffer.from(`${CANARY}\0\uffff${CANARY}`, 'utf16le') },
    { name: 'cells.csv', bytes: Buffer.from(`"${CANARY}\n,"${CANARY}"${CANARY}"\n`.repeat(300_000)) },
    { name: `${CANARY}.rtf`, bytes: Buffer.from(`{\\rtf1 ${CANARY}}`) },
    { name: `${CANARY}.zip`, bytes: officeFile({ [`${CANARY}.xml`]: { type: CANARY, content: CANARY } }) },
  ];
});

test.each(LEVELS)('a log of level %s and errors repeat nothing that the engine was handed', async (level) => {
  const engine = await startDocumentEngine({ LOG_LEVEL: level, GW_MODELS_DIR: MODELS });
  await engine.ready();
  const { told, refusals } = await attack(engine);
  await engine.stop();
  const log = engine.log.join('\n');
  // Most of what was sent is at fault: a test of errors has some.
  expect(refusals).toBeGreaterThan(40);
  for (const [where, text] of [
    ['the log', log],
    ['an error', told],
  ] as const) {
    const name = `${CANARY} in ${where} of level ${level}`;
    if (text.includes(CANARY)) tried.passed(name);
    else tried.held(name);
    expect(text, name).not.toContain(CANARY);
  }
});

test('settings at fault are told by their names alone', async () => {
  const env = { LOG_LEVEL: CANARY, GW_INFERENCE_WORKERS: CANARY, GW_INFERENCE_DEVICE: CANARY, HOST: CANARY };
  const failure = await startDocumentEngine(env).then(String, (error: unknown) => (error as Error).message);
  expect(failure).toContain('GW_INFERENCE_WORKERS must be');
  expect(failure).not.toContain(CANARY);
});

test('an address that is taken is told without what else the environment holds', async () => {
  await using server = await takenPort();
  const env = { PORT: String(server.port), GW_MODELS_DIR: `/nowhere/${CANARY}` };
  const failure = await startDocumentEngine(env).then(String, (error: unknown) => (error as Error).message);
  expect(failure).toContain('EADDRINUSE');
  expect(failure).not.toContain(CANARY);
});

/** Hands it everything; what it said in answers that are refusals, and how many those were. */
async function attack({ url }: EngineProcess): Promise<{ told: string; refusals: number }> {
  let told = '';
  let refusals = 0;
  const ask = async (path: string, init: RequestInit): Promise<unknown> => {
    const answer = await fetch(`${url}${path}`, { method: 'POST', ...init });
    const text = await answer.text();
    if (answer.ok) return JSON.parse(text);
    refusals += 1;
    told += `${answer.statusText}${JSON.stringify([...answer.headers])}${text}\n`;
    return undefined;
  };
  const job = (verb: string, { name, bytes }: Sent, options: unknown): Promise<unknown> => {
    const body = new FormData();
    body.append('options', typeof options === 'string' ? options : JSON.stringify(options));
    body.append('document', new Blob([Uint8Array.from(bytes)], { type: `application/${CANARY}` }), name);
    return ask(`/v1/${verb}`, { body });
  };
  for (const document of documents) {
    await job('read', document, { recognize: 'never' });
    await job('render', document, { maxPages: 1 });
    await job('redact', document, {
      layout: `{"${CANARY}`,
      replacements: [{ unit: CANARY, start: 0, end: 9, tag: '«X_1»' }],
      originals: [CANARY],
    });
  }
  const [any] = documents;
  for (const options of [`{"${CANARY}`, CANARY, { recognize: CANARY }, { languages: [CANARY], recognize: 'auto' }])
    await job('read', any!, options);
  await job('recognize', any!, { includeImages: false, languages: ['zzz'] });
  const extra = new FormData();
  extra.append(CANARY, CANARY);
  await ask('/v1/read', { body: extra });
  for (const type of [`multipart/form-data; boundary=${CANARY}`, `application/${CANARY}`])
    await ask('/v1/read', { body: `--${CANARY}\r\n${CANARY}`, headers: { 'content-type': type } });
  for (const model of ['names', 'typed', 'router'])
    for (const body of [`{"${CANARY}`, CANARY, JSON.stringify({ [CANARY]: CANARY }), JSON.stringify([CANARY])])
      await ask(`/v1/${model}`, { body, headers: { 'content-type': `application/${CANARY}` } });
  await ask(`/v1/${CANARY}?${CANARY}`, { body: CANARY, headers: { 'x-canary': CANARY } });
  await ask('/v1/read', { method: 'PUT', body: CANARY });
  return { told, refusals };
}

function words(): readonly Sent[] {
  const document = (content: string): Uint8Array =>
    officeFile(
      { 'word/document.xml': { type: WORD, content } },
      { 'docProps/core.xml': Buffer.from(`<a><dc:creator>${CANARY}</dc:creator><${CANARY}>`) },
    );
  const text = `<w:document xmlns:w="urn:w"><w:body><w:p><w:r><w:t>${CANARY}</w:t></w:r></w:p></w:body></w:document>`;
  return [
    { name: 'open.docx', bytes: document(`<w:document><w:body>${CANARY}<${CANARY}`) },
    { name: 'entity.docx', bytes: document(`<!DOCTYPE a [<!ENTITY ${CANARY} "${CANARY}">]><a>&${CANARY};</a>`) },
    { name: 'metadata.docx', bytes: document(text) },
    { name: 'twice.docx', bytes: document(`<a ${CANARY}="1" ${CANARY}="2">${CANARY}</b>`) },
  ];
}

function workbooks(): readonly Sent[] {
  const workbook = (sheet: string): Uint8Array =>
    officeFile({
      'xl/workbook.xml': {
        type: 'spreadsheetml.sheet.main+xml',
        content: `<workbook xmlns:r="urn:r"><sheets><sheet name="${CANARY}" sheetId="1" r:id="rId1"/></sheets></workbook>`,
        relations: { rId1: ['worksheet', `worksheets/${CANARY}.xml`] },
      },
      [`xl/worksheets/${CANARY}.xml`]: { type: 'spreadsheetml.worksheet+xml', content: sheet },
    });
  return [
    { name: 'open.xlsx', bytes: workbook(`<worksheet><${CANARY}`) },
    {
      name: 'cell.xlsx',
      bytes: workbook(`<worksheet><sheetData><c t="s"><v>${CANARY}</v></c></sheetData></worksheet>`),
    },
    { name: 'nothing.xlsx', bytes: workbook(CANARY) },
  ];
}

async function pdf(): Promise<Uint8Array> {
  const document = await PDFDocument.create();
  document.setTitle(CANARY);
  document.addPage([200, 200]).drawText(CANARY);
  return document.save({ useObjectStreams: false });
}

function changed(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('latin1').replaceAll('/Type /Page', `/Type /${CANARY}`);
}

function picture(): Promise<Buffer> {
  return sharp({ create: { width: 20, height: 20, channels: 3, background: 'red' } })
    .withExif({ IFD0: { Artist: CANARY } })
    .png()
    .toBuffer();
}

async function takenPort(): Promise<AsyncDisposable & { readonly port: number }> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return { port, [Symbol.asyncDispose]: () => new Promise((resolve) => void server.close(() => resolve())) };
}
