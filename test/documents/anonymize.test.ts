import { PDFDocument } from '@cantoo/pdf-lib';
import sharp from 'sharp';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { chat } from '../harness/answers.ts';
import { startDocumentEngine, type EngineProcess } from '../harness/document-engine.ts';
import { startUpstream } from '../harness/upstream.ts';
import { failureOf, formOf, ocrOf, pagesOf, startDocumentWorld, written, type DocumentWorld } from './world.ts';

interface Answer {
  readonly filename: string;
  readonly content_type: string;
  readonly content_base64: string;
  readonly summary: object;
  readonly mapping?: readonly { readonly token: string; readonly original: string }[];
}

const IBAN = 'DE89370400440532013000';
const MIB = 1024 * 1024;

let engine: EngineProcess;
let world: DocumentWorld;
let letter: Buffer;

beforeAll(async () => {
  engine = await startDocumentEngine();
  world = await startDocumentWorld({
    documentsUrl: engine.url,
    env: { GW_BODY_LIMIT_MIB: '1' },
    more: [
      {
        apiVersion: 'v1',
        kind: 'Secret',
        metadata: { name: 'terms', namespace: 'default' },
        stringData: { hour: 'noon' },
      },
    ],
    applications: {
      strict: { policy: { dlp: { mode: 'Block', documents: 'Refuse' }, residency: { allowedJurisdictions: ['EU'] } } },
      terms: { policy: { dlp: { customTerms: [{ label: 'hour', secretKeyRef: { name: 'terms', key: 'hour' } }] } } },
      listed: { workload: { allowedModels: ['gw/anonymize'] } },
      unlisted: { workload: { allowedModels: ['gw/ocr'] } },
      hasty: { workload: { answerTimeoutSeconds: 10 } },
      poor: { workload: { budget: { amount: '0.0005', period: 'Total' } } },
    },
  });
  letter = await written('DEAR ADA LOVELACE', 'COME AT NOON');
  await engine.ready();
});
afterAll(async () => {
  await world[Symbol.asyncDispose]();
  await engine.stop();
});

/** What can be read in a picture. */
async function readAgain(bytes: Uint8Array): Promise<string> {
  const answer = await world.ocr(ocrOf(bytes));
  return ((await answer.json()) as { pages: readonly { markdown: string }[] }).pages[0]?.markdown ?? '';
}

test('a document that was searched for terms alone changes nothing for the prompts after it', async () => {
  const paragraph = `Write to ada@corp.de. ${'All is quiet in here, and the garden sleeps. '.repeat(4)}`.trim();
  const document = formOf(Buffer.from(paragraph), 'a.txt', { entities: [], remove: ['zzz'] });
  await using upstream = await startUpstream(chat({ content: 'Hello.' }));
  await using prompts = await startDocumentWorld({
    documentsUrl: engine.url,
    upstreamUrl: upstream.url,
    prices: [
      { model: 'upstream/*', unit: 'Page', input: '0.02' },
      { model: 'upstream/m', input: '1', output: '1' },
    ],
  });
  const { content_base64 } = (await (await prompts.anonymize(document)).json()) as Answer;
  expect(Buffer.from(content_base64, 'base64').toString()).toBe(paragraph);
  const messages = [{ role: 'user', content: paragraph }];
  await prompts.post('/v1/chat/completions', { model: 'upstream/m', messages });
  const { body = '' } = upstream.requests.at(-1) ?? {};
  expect(body).toContain('Write to «EMAIL_1».');
});

describe('a document that takes longer than its client waits', () => {
  test('is refused with the way to hand it in as a job, before a page of it is recognized', async () => {
    const scans = await PDFDocument.create();
    const picture = await scans.embedPng(letter);
    for (let page = 0; page < 120; page++) {
      const { width, height } = picture;
      scans.addPage([width, height]).drawImage(picture, { x: 0, y: 0, width, height });
    }
    const recognized = await engine.metric('gw_inference_jobs_total{verb="read",outcome="done"}');
    const answer = await world.anonymize(formOf(await scans.save(), 'a.pdf', {}), { as: 'hasty' });
    const { status, code, message } = await failureOf(answer);
    expect([status, code]).toEqual([422, 'document_too_large_to_scan']);
    expect(message).toMatch(
      /^The document needs about \d+ s, but only (?:9|10) s are left: submit it as a job with POST \/v1\/documents\/anonymize\/jobs, or split it\.$/,
    );
    expect(await world.row(answer)).toMatchObject({ outcome: 'failed', cost_nano_eur: '0' });
    expect(await engine.metric('gw_inference_jobs_total{verb="read",outcome="done"}')).toBe(recognized);
  });
});

describe('an anonymized document', () => {
  test('has tags in the place of people, under the strictest policy; its row says what there was', async () => {
    const options = { remove: ['Ada Lovelace', { term: 'noon', label: 'hour' }], include_mapping: true };
    const answer = await world.anonymize(formOf(letter, 'to/Ada  Lovelace.png', options), { as: 'strict' });
    expect(answer.status).toBe(200);
    const body = (await answer.json()) as Answer;
    expect(Object.keys(body)).toEqual(['filename', 'content_type', 'content_base64', 'summary', 'mapping']);
    expect(body).toMatchObject({ filename: '«TERM_1».png', content_type: 'image/png' });
    expect(body.summary).toEqual({ pages: 1, images: 0, categories: ['HOUR', 'TERM'], downgraded: false });
    expect(body.mapping).toEqual([
      { token: '«TERM_1»', original: 'ADA LOVELACE' },
      { token: '«HOUR_1»', original: 'NOON' },
    ]);
    const bytes = Buffer.from(body.content_base64, 'base64');
    expect((await sharp(bytes).metadata()).width).toBe(1000);
    const left = await readAgain(bytes);
    expect(left).toContain('DEAR');
    expect(left).not.toMatch(/ADA|LOVELACE|NOON/);
    const row = await world.row(answer);
    expect(row).toMatchObject({
      outcome: 'served',
      surface: 'documents',
      wire_format: 'documents',
      model: 'gw/anonymize',
      provider: 'gw',
      provider_model: 'anonymize',
      units: { images: 1 },
      cost_nano_eur: '1000000',
      held_nano_eur: '1000000',
      dlp: { findings: { HOUR: 1, TERM: 2 }, mode: 'block' },
    });
    // Ids and hashes are hexadecimal: `ada` alone stands in them now and then.
    expect(JSON.stringify(row)).not.toMatch(/\bada\b|lovelace/i);
  });

  test('says which kinds nobody looked for, unless kinds are named; gives no mapping unasked', async () => {
    const plain = await world.anonymize(formOf(letter, 'a.png'), { as: 'listed' });
    expect(plain.headers.get('x-gw-unscanned')?.split(', ')).toContain('person_name');
    expect(await plain.json()).not.toHaveProperty('mapping');
    const named = await world.anonymize(formOf(letter, 'a.png', { entities: ['email', 'iban'] }));
    expect(named.headers.get('x-gw-unscanned')).toBeNull();
    expect(((await named.json()) as Answer).summary).toMatchObject({ categories: [] });
  });

  test('loses terms alone where no kind is to be found', async () => {
    const text = Buffer.from('Ada Lovelace, a@b.example');
    const answer = await world.anonymize(formOf(text, 'a.txt', { entities: [], remove: ['Ada Lovelace'] }));
    const { content_base64 } = (await answer.json()) as { content_base64: string };
    expect(Buffer.from(content_base64, 'base64').toString()).toBe('«TERM_1», a@b.example');
  });

  test("loses the policy's terms whatever is asked for; each frame is billed", async () => {
    const two = await pagesOf(['COME AT NOON', `PAY ${IBAN}`]);
    const answer = await world.anonymize(formOf(two, 'a.tiff', { entities: ['email'], include_mapping: true }), {
      as: 'terms',
    });
    const body = (await answer.json()) as Answer;
    expect(body.mapping).toEqual([{ token: '«HOUR_1»', original: 'NOON' }]);
    expect(await world.row(answer)).toMatchObject({ units: { images: 2 }, cost_nano_eur: '2000000' });
  });
});

const file = (): FormData => formOf(Buffer.from('x'), 'a.txt');

describe('a request is refused', () => {
  test.each<[string, () => FormData, number, string, string | null]>([
    ['without a file', () => new FormData(), 400, 'invalid_request', 'file'],
    ['with two', () => twice(file()), 400, 'invalid_request', 'file'],
    ['with a file that has no name', () => withField('file', 'text'), 400, 'invalid_request', 'file'],
    ['with parts that are not known', () => withPart('model', 'gw/ocr'), 400, 'invalid_request', 'file'],
    ['with options that are no JSON', () => withPart('options', '{'), 400, 'invalid_request', 'options'],
    [
      'with two readings of options',
      () => withPart('options', '{"remove":[],"remove":["a"]}'),
      400,
      'invalid_request',
      'options',
    ],
    [
      'with options that are not known',
      () => withPart('options', '{"entity":["email"]}'),
      400,
      'invalid_request',
      'options',
    ],
    [
      'with kinds that are no list',
      () => withPart('options', '{"entities":"email"}'),
      400,
      'invalid_request',
      'options.entities',
    ],
    [
      'with nothing to find',
      () => withPart('options', '{"entities":[],"remove":[]}'),
      400,
      'invalid_request',
      'options.entities',
    ],
    [
      'with an unknown kind',
      () => withPart('options', '{"entities":["shoe_size"]}'),
      400,
      'invalid_request',
      'options.entities',
    ],
    [
      'with a kind that cannot be found',
      () => withPart('options', '{"entities":["email","person_name"]}'),
      400,
      'invalid_request',
      'options.entities',
    ],
    [
      'with a term that is none',
      () => withPart('options', '{"remove":[" "]}'),
      400,
      'invalid_request',
      'options.remove[0]',
    ],
    [
      'with a mapping that is maybe',
      () => withPart('options', '{"include_mapping":"yes"}'),
      400,
      'invalid_request',
      'options.include_mapping',
    ],
    ['with too much', () => formOf(Buffer.alloc(MIB + 1), 'a.bin'), 413, 'request_too_large', 'file'],
  ])('%s: sealed, and nothing is held', async (_what, form, status, code, param) => {
    const answer = await world.anonymize(form());
    expect(await failureOf(answer)).toMatchObject({ status, code, param });
    const row = await world.row(answer);
    expect(row).toMatchObject({
      surface: 'documents',
      outcome: 'refused',
      code,
      held_nano_eur: '0',
      cost_nano_eur: '0',
    });
  });

  test.each([
    ['garbage', Buffer.from('000102030405060708', 'hex'), 'document_unsupported'],
    ['half a picture', Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex'), 'document_unreadable'],
    ['nothing', Buffer.alloc(0), 'document_unreadable'],
  ])('for %s, told by its code and for nothing', async (_what, bytes, code) => {
    const answer = await world.anonymize(formOf(bytes, 'a.bin'));
    expect(await failureOf(answer)).toMatchObject({ status: 422, code, param: 'file' });
    const row = await world.row(answer);
    expect(row).toMatchObject({ outcome: 'failed', step: 'dispatch', code, cost_nano_eur: '0', usage: null });
    expect(BigInt(row.held_nano_eur)).toBeGreaterThan(0n);
  });

  test('that is no form, by whom nobody knows, or outside of list and budget', async () => {
    const url = `${world.gateway.url}/v1/documents/anonymize`;
    const authorization = `Bearer ${world.keys['app']}`;
    const jsonBody = await fetch(url, {
      method: 'POST',
      body: '{}',
      headers: { authorization, 'content-type': 'application/json' },
    });
    expect(await failureOf(jsonBody)).toMatchObject({ status: 415, code: 'unsupported_media_type' });
    expect((await fetch(url, { method: 'POST', body: file() })).status).toBe(401);
    expect(await failureOf(await world.anonymize(file(), { as: 'unlisted' }))).toMatchObject({
      status: 403,
      code: 'permission_denied',
    });
    const poor = await world.anonymize(file(), { as: 'poor' });
    expect(await failureOf(poor)).toMatchObject({ status: 402, code: 'insufficient_quota' });
    expect(await world.row(poor)).toMatchObject({ outcome: 'refused', step: 'meter', provider: null });
  });

  test('and leaves no debit open', async () => {
    await expect.poll(() => world.metric('gw_open_holds')).toBe(0);
  });
});

function twice(form: FormData): FormData {
  form.append('file', new Blob(['y']), 'b.txt');
  return form;
}

function withPart(name: string, value: string): FormData {
  const form = file();
  form.append(name, value);
  return form;
}

function withField(name: string, value: string): FormData {
  const form = new FormData();
  form.append(name, value);
  return form;
}
