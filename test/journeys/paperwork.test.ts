import { mkdirSync, writeFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import sharp from 'sharp';
import { formOf, ocrOf, startDocumentWorld, type DocumentWorld } from '../documents/world.ts';
import { startDocumentEngine, type EngineProcess } from '../harness/document-engine.ts';
import { partsOf, stringsOf } from '../harness/office.ts';
import {
  cardPhoto,
  contract,
  FACE,
  IBAN,
  MAIL,
  payslip,
  PEOPLE,
  PHONE,
  scanAsPdf,
  scannedLetter,
} from '../harness/paperwork.ts';

/** What an office sends through the gateway, in and out. With DOCUMENT_PICTURES=folder all files are left there to be looked at. */

let engine: EngineProcess;
let world: DocumentWorld;

beforeAll(async () => {
  engine = await startDocumentEngine();
  world = await startDocumentWorld({ documentsUrl: engine.url });
  await engine.ready();
}, 120_000);
afterAll(async () => {
  await world[Symbol.asyncDispose]();
  await engine.stop();
});

interface Anonymized {
  readonly bytes: Buffer;
  readonly summary: {
    readonly pages: number;
    readonly images: number;
    readonly categories: readonly string[];
    readonly downgraded: boolean;
  };
  readonly mapping: readonly { readonly token: string; readonly original: string }[];
}

function leave(name: string, bytes: Uint8Array | string): void {
  const folder = process.env['DOCUMENT_PICTURES'];
  if (folder === undefined) return;
  mkdirSync(folder, { recursive: true });
  writeFileSync(`${folder}/${name}`, bytes);
}

async function anonymized(bytes: Uint8Array, name: string): Promise<Anonymized> {
  leave(`in-${name}`, bytes);
  const answer = await world.anonymize(formOf(bytes, name, { remove: Object.values(PEOPLE), include_mapping: true }));
  const body = (await answer.json()) as Omit<Anonymized, 'bytes'> & { readonly content_base64: string };
  expect([answer.status, body.summary.pages]).toEqual([200, 1]);
  const out = Buffer.from(body.content_base64, 'base64');
  leave(`out-${name}`, out);
  leave(`out-${name}.json`, JSON.stringify({ ...body, content_base64: undefined }, null, 1));
  return { ...body, bytes: out };
}

async function markdownOf(bytes: Uint8Array, name: string, mediaType: string): Promise<string> {
  const answer = await world.ocr(ocrOf(bytes, {}, mediaType));
  const { pages } = (await answer.json()) as { pages: { markdown: string }[] };
  const markdown = pages.map((page) => page.markdown).join('\n\n');
  leave(`ocr-${name}.md`, markdown);
  return markdown;
}

const OFFER = 'Your offer of 3 March';
const LIST = [
  '- The gutters on the north side stay as they are.',
  '- The scaffold stands for four weeks at most.',
  '- The old tiles are taken away by you.',
];
const TABLE = [
  '| Position | Quantity | Amount |',
  '| --- | --- | --- |',
  '| Roof tiles | 1,200 | 3,480.00 |',
  '| Gutters | 42 | 1,155.00 |',
  '| Scaffold | 12 | 890.00 |',
];
/** What nobody may read in any result: parts too, since lines are broken within them. */
const SECRETS = /Achterberg|Saalfeld|Torben|Henrike|example\.org|DE89|3704|0532|901820/i;

/** What is on the page beside personal data is there as before, in its place and order. */
function hasItsLayout(markdown: string): void {
  expect(markdown.split('\n').filter((line) => /^(?:- |\|)/.test(line))).toEqual([...LIST, ...TABLE]);
  expect(markdown).toMatch(new RegExp(`^#+ ${OFFER}$`, 'm'));
  expect(markdown.indexOf(OFFER)).toBeLessThan(markdown.indexOf('- The gutters'));
  expect(markdown).toMatch(/last\s+week. We went through it with the owners of the house and would like to/);
}

test('a scanned letter becomes markdown with its heading, list and table', async () => {
  const markdown = await markdownOf(await scannedLetter(), 'letter', 'image/jpeg');
  hasItsLayout(markdown);
  expect(markdown).toContain('Lindenallee 14');
  expect(markdown).not.toContain('![');
  expect(markdown).toContain(`from the account ${IBAN}. Should anything be unclear, call us: ${PHONE}.`);
});

test.each(['jpg', 'pdf'])('a scanned letter (%s) loses what is personal, over the ends of lines too', async (kind) => {
  const scan = await scannedLetter();
  const { bytes, summary, mapping } = await anonymized(kind === 'pdf' ? await scanAsPdf(scan) : scan, `letter.${kind}`);
  expect(summary).toEqual({
    pages: 1,
    images: kind === 'pdf' ? 1 : 0,
    categories: ['ADDRESS', 'EMAIL', 'IBAN', 'PHONE', 'TERM'],
    downgraded: false,
  });
  const originals = mapping.map(({ original }) => original);
  const others = originals.filter((original) => !original.includes('Lindenallee'));
  expect(others).toEqual([PEOPLE.receiver, MAIL, IBAN, PHONE, PEOPLE.sender]);
  expect(originals.length).toBeGreaterThan(others.length);
  const markdown = await markdownOf(bytes, `letter-${kind}`, kind === 'pdf' ? 'application/pdf' : 'image/jpeg');
  expect(markdown).not.toMatch(SECRETS);
  expect(markdown).not.toContain('Lindenallee');
  if (kind === 'jpg') {
    // The letters of tags are dots, and are read as something like them.
    expect(markdown).toMatch(/We pay within ten days, from the account.*\S{4,}.*Should anything be unclear, call us/);
    return hasItsLayout(markdown);
  }
  // Its invisible layer of text says what can be seen, tags included.
  for (const said of [OFFER, 'Roof tiles', '1,155.00', 'Scaffold', 'Should anything be unclear', 'TERM'])
    expect(markdown).toContain(said);
});

test('a contract in Word keeps its form, its comment and what was inserted, and loses what was deleted', async () => {
  const { bytes, summary } = await anonymized(await contract(), 'contract.docx');
  expect(summary).toMatchObject({ images: 0, categories: ['EMAIL', 'IBAN', 'PHONE', 'TERM'] });
  const parts = partsOf(bytes);
  const textOf = (xml = ''): string => xml.replaceAll(/<\/w:p>/g, '\n').replaceAll(/<[^>]+>/g, '');
  const named = (what: RegExp): string => textOf(Object.entries(parts).find(([name]) => what.test(name))?.[1]);
  expect(stringsOf(bytes)).not.toMatch(SECRETS);
  expect(named(/document\.xml$/)).toContain('Between the town and «TERM_1», reached at «EMAIL_1» or «PHONE_1».');
  expect(named(/comments\d*\.xml$/)).toContain('Ask «TERM_1» whether «EMAIL_1» is still right.');
  expect(named(/header\d*\.xml$/)).toContain('Contract «TERM_1», page 1');
  expect(named(/footer\d*\.xml$/)).toContain('Paid from «IBAN_1»');
  const document = Object.entries(parts).find(([name]) => name.endsWith('document.xml'))?.[1] ?? '';
  expect(document).not.toMatch(/<w:(?:ins|del)\b/);
  expect(document.match(/<w:tr\b/g)).toHaveLength(2);
  expect(document.match(/<w:numPr\b/g)).toHaveLength(2);
  expect(document).toContain('<w:commentReference');
});

test('a payslip keeps its columns and its table, with tags in the places of what was personal', async () => {
  const { bytes, summary } = await anonymized(await payslip(), 'payslip.pdf');
  expect(summary).toMatchObject({ pages: 1, downgraded: false });
  const markdown = await markdownOf(bytes, 'payslip', 'application/pdf');
  expect(markdown.split('\n\n')).toEqual([
    expect.stringMatching(/^##? Payslip March 2026$/),
    '| «TERM\\_1» | Mail: «EMAIL\\_1» |\n| --- | --- |\n| «ADDRESS\\_1» | Phone: «PHONE\\_1» IBAN: «IBAN\\_1» |',
    [
      ...[
        '| Item | Hours | Amount |',
        '| --- | --- | --- |',
        '| Basic pay | 160 | 3,200.00 |',
        '| Overtime | 12 | 300.00 |',
      ],
      ...['| Tax |  | -612.40 |', '| Insurance |  | -701.75 |', '| Paid out |  | 2,185.85 |'],
    ].join('\n'),
    'Transferred to «TERM\\_1» , account «IBAN\\_1» , on 28 March.',
  ]);
});

/** How much neighbouring pixels differ in a part of a picture, given by its share of width and height. */
async function detailIn(bytes: Uint8Array, { x0, y0, x1, y1 }: typeof FACE): Promise<number> {
  const { data, info } = await sharp(bytes).greyscale().blur(2).raw().toBuffer({ resolveWithObject: true });
  const stride = info.channels * info.width;
  let sum = 0;
  let count = 0;
  for (let y = Math.round(y0 * info.height); y < y1 * info.height; y++) {
    for (let x = Math.round(x0 * info.width); x < x1 * info.width; x++, count++) {
      const at = y * stride + x * info.channels;
      sum += Math.abs((data[at] ?? 0) - (data[at + 4 * info.channels] ?? 0));
    }
  }
  return sum / count;
}

test('of a photographed identity card the face is gone and the rest of the card can be read', async () => {
  const photo = await cardPhoto();
  expect(await markdownOf(photo, 'card', 'image/jpeg')).toContain(MAIL);
  const { bytes, summary } = await anonymized(photo, 'card.jpg');
  expect(summary).toMatchObject({ pages: 1, categories: ['EMAIL', 'PHONE', 'TERM'] });
  expect(summary.images).toBeGreaterThan(0);
  const [before, after] = [await detailIn(photo, FACE), await detailIn(bytes, FACE)];
  expect(after).toBeLessThan(before / 3);
  const markdown = await markdownOf(bytes, 'card-out', 'image/jpeg');
  expect(markdown).not.toMatch(SECRETS);
  for (const kept of ['IDENTITY CARD', 'Name', 'Phone', 'Number']) expect(markdown).toContain(kept);
});
