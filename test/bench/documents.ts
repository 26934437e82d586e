import { Document, Packer, Paragraph } from 'docx';
import { PDFDocument } from '@cantoo/pdf-lib';
import { MODELS, startDocumentEngine } from '../harness/document-engine.ts';
import { newKey, startGateway, tenant } from '../harness/gateway.ts';
import { letter } from '../harness/pdfs.ts';
import { startPostgres } from '../harness/postgres.ts';
import { paper, printText } from '../harness/printed-page.ts';
import { startUpstream } from '../harness/upstream.ts';
import { WRITTEN_TEXTS, type WrittenText } from '../harness/written-texts.ts';
import { keepBudgets } from './budgets.ts';
import { cpuOf } from './cpu.ts';
import { measure, type Measure } from './measures.ts';
import { yardstick } from './yardstick.ts';

/**
 * What documents cost: pages a minute that are recognized, and that are anonymized, by one thread of the engine through the
 * gateway; and what a PDF of ten pages adds to a prompt. The processor's time of both processes is the figure that holds.
 */
const ROUNDS = Number(process.env['BENCH_ROUNDS'] ?? 3);
const PAGES = 10;
const DPI = 150;

const first = firstText();
const MAIL = 'ada.lovelace@example.com';
const LINES = [first.heading, ...first.paragraphs.flatMap((one) => one.match(/.{1,90}(?:\s|$)/g) ?? []), MAIL];

await using servers = new AsyncDisposableStack();
const postgres = await startPostgres();
servers.defer(() => postgres.stop());
const upstream = await startUpstream();
servers.defer(() => upstream.close());
const engine = await startDocumentEngine({ GW_MODELS_DIR: MODELS });
servers.defer(async () => void (await engine.stop()));
const key = newKey();
const gateway = await startGateway({
  resources: tenant({
    upstreamUrl: upstream.url,
    key,
    prices: [{ model: 'upstream/*', input: '2', output: '8' }],
    policy: { dlp: { mode: 'Tokenize', documents: 'Anonymize' } },
  }),
  databaseUrl: await postgres.createDatabase(),
  documentsUrl: engine.url,
});
servers.defer(async () => void (await gateway.stop()));
await engine.ready();

function firstText(): WrittenText {
  const [text] = WRITTEN_TEXTS;
  if (!text) throw new Error('nothing is written');
  return text;
}

interface Row {
  readonly 'pages a minute': number;
  readonly 'CPU ms a page': number;
  readonly 'latency ms': number;
}

const measures: Measure[] = [];

/** Runs some work `ROUNDS` times after once to warm up. `make` gives another document each time: none is remembered. */
async function measured(
  name: string,
  pages: number,
  make: (round: number) => Promise<() => Promise<Response>>,
): Promise<Row> {
  const rounds: { cpu: number; wall: number; yardstick: number }[] = [];
  for (let round = 0; round <= ROUNDS; round++) {
    const ask = await make(round);
    const [cpu, begun] = [cpuOf(engine, gateway), performance.now()];
    const answer = await ask();
    const text = await answer.text();
    if (answer.status !== 200) throw new Error(`${answer.status} ${text.slice(0, 300)}`);
    const wall = performance.now() - begun;
    if (round > 0) rounds.push({ cpu: cpuOf(engine, gateway) - cpu, wall, yardstick: yardstick() });
  }
  // In the place of the bare proxy stands a fixed piece of work on the same processor.
  const perPage = rounds.map((one) => one.cpu / pages);
  measures.push(
    measure(
      `${name}: CPU`,
      'ms/page',
      rounds.map((one) => one.yardstick),
      perPage,
    ),
  );
  const wall = Math.min(...rounds.map((one) => one.wall));
  const cpu = Math.min(...rounds.map((one) => one.cpu));
  return {
    'pages a minute': Math.round((pages * 60_000) / wall),
    'CPU ms a page': Math.round((cpu / pages) * 10) / 10,
    'latency ms': Math.round(wall),
  };
}

async function pdf(round: number, pages: number): Promise<Uint8Array> {
  const whole = await PDFDocument.create();
  for (let page = 0; page < pages; page++) {
    const one = await PDFDocument.load(await letter([`${round} ${page}`, ...LINES], 10));
    const [copy] = await whole.copyPages(one, [0]);
    if (copy) whole.addPage(copy);
  }
  return whole.save({ useObjectStreams: false });
}

async function scan(round: number): Promise<Uint8Array> {
  const page = await printText(paper(DPI), { ...first, heading: `${round} ${first.heading}` });
  const document = await PDFDocument.create();
  const image = await document.embedJpg(await page.jpeg({ quality: 80 }).toBuffer());
  document.addPage([595, 842]).drawImage(image, { x: 0, y: 0, width: 595, height: 842 });
  return document.save();
}

async function word(round: number): Promise<Uint8Array> {
  const children = Array.from({ length: PAGES }, () => LINES)
    .flat()
    .map((text) => new Paragraph(text));
  return Packer.toBuffer(new Document({ sections: [{ children: [new Paragraph(String(round)), ...children] }] }));
}

function post(path: string, body: string | FormData, type?: string): () => Promise<Response> {
  const headers = { authorization: `Bearer ${key}`, ...(type && { 'content-type': type }) };
  return () => fetch(`${gateway.url}${path}`, { method: 'POST', headers, body });
}

function anonymize(bytes: Uint8Array, name: string): () => Promise<Response> {
  const form = new FormData();
  form.append('file', new Blob([Uint8Array.from(bytes)]), name);
  return post('/v1/documents/anonymize', form);
}

function recognize(bytes: Uint8Array): () => Promise<Response> {
  const document_url = `data:application/pdf;base64,${Buffer.from(bytes).toString('base64')}`;
  const body = { model: 'gw/ocr', document: { type: 'document_url', document_url } };
  return post('/v1/ocr', JSON.stringify(body), 'application/json');
}

function prompt(bytes?: Uint8Array): () => Promise<Response> {
  const file_data = bytes && `data:application/pdf;base64,${Buffer.from(bytes).toString('base64')}`;
  const file = { type: 'file', file: { filename: 'a.pdf', file_data } };
  const content = [{ type: 'text', text: 'Is it so?' }, ...(bytes ? [file] : [])];
  const body = { model: 'upstream/m', max_tokens: 16, messages: [{ role: 'user', content }] };
  return post('/v1/chat/completions', JSON.stringify(body), 'application/json');
}

const WORK: Readonly<
  Record<string, readonly [pages: number, make: (round: number) => Promise<() => Promise<Response>>]>
> = {
  'recognize a scanned page': [1, async (round) => recognize(await scan(round))],
  'anonymize a scanned page': [1, async (round) => anonymize(await scan(round), 'a.pdf')],
  [`anonymize a PDF of ${PAGES} pages of text`]: [PAGES, async (round) => anonymize(await pdf(round, PAGES), 'a.pdf')],
  [`anonymize a Word document of ${PAGES} pages`]: [PAGES, async (round) => anonymize(await word(round), 'a.docx')],
  'a prompt without a document': [1, async () => prompt()],
  [`a prompt with a PDF of ${PAGES} pages`]: [PAGES, async (round) => prompt(await pdf(round, PAGES))],
};
const rows: Record<string, Row> = {};
for (const [name, [pages, make]] of Object.entries(WORK)) rows[name] = await measured(name, pages, make);
console.table(rows);
// One prompt is too short for the clock of the system: it is there to be compared with the next row.
if (!keepBudgets(measures.filter(({ name }) => !name.startsWith('a prompt without')))) process.exitCode = 1;
