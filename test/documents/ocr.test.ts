import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { json } from '../harness/answers.ts';
import { startDocumentEngine, type EngineProcess } from '../harness/document-engine.ts';
import { resource } from '../harness/gateway.ts';
import { startUpstream, type Upstream } from '../harness/upstream.ts';
import { failureOf, ocrOf, pagesOf, startDocumentWorld, written, type DocumentWorld } from './world.ts';

interface Answer {
  readonly pages: readonly { readonly index: number; readonly markdown: string; readonly images: readonly object[] }[];
  readonly model: string;
  readonly usage_info: object;
}

const STRICT = { dlp: { mode: 'Block', documents: 'Refuse' }, residency: { allowedJurisdictions: ['EU'] } };
const PAGE = 1_000_000n;

let engine: EngineProcess;
let upstream: Upstream;
let world: DocumentWorld;
let letter: Buffer;

beforeAll(async () => {
  engine = await startDocumentEngine();
  upstream = await startUpstream();
  world = await startDocumentWorld({
    documentsUrl: engine.url,
    upstreamUrl: upstream.url,
    applications: {
      strict: { policy: STRICT },
      listed: { workload: { allowedModels: ['upstream/*'] } },
      poor: { workload: { budget: { amount: '0.0005', period: 'Total' } } },
      open: { policy: { dlp: { mode: 'AllowLog' } } },
    },
  });
  letter = await written('DEAR ADA LOVELACE', 'COME AT NOON');
  await engine.ready();
});
afterAll(async () => {
  await world[Symbol.asyncDispose]();
  await upstream.close();
  await engine.stop();
});

describe('gw/ocr', () => {
  test('reads a picture under the strictest policy, for nothing leaves', async () => {
    const answer = await world.ocr(ocrOf(letter, { languages: ['en'], document_name: 'a' }), { as: 'strict' });
    expect(answer.status).toBe(200);
    expect(answer.headers.get('x-gw-unscanned')).toBeNull();
    const body = (await answer.json()) as Answer;
    expect(Object.keys(body)).toEqual(['pages', 'model', 'usage_info']);
    expect(body.pages[0]?.markdown).toContain('LOVELACE');
    expect(body.pages[0]).toMatchObject({ index: 0, dimensions: { width: 1000, height: 352 } });
    expect(body).toMatchObject({
      model: 'gw/ocr',
      usage_info: { pages_processed: 1, doc_size_bytes: letter.length },
    });
    expect(await world.row(answer)).toMatchObject({
      outcome: 'served',
      surface: 'ocr',
      wire_format: 'ocr',
      model: 'gw/ocr',
      provider: 'gw',
      provider_model: 'ocr',
      jurisdiction: 'LOCAL',
      units: { pages: 1 },
      price: 'gatewarden documents',
      cost_nano_eur: String(PAGE),
      held_nano_eur: String(PAGE),
      dlp: { findings: {}, unscanned: [] },
      attempts: [{ provider: 'gw', model: 'ocr', status: 200 }],
    });
    expect(upstream.requests).toHaveLength(0);
  });

  test('reads the pages that are wanted, and bills those', async () => {
    const two = await pagesOf(['FIRST PAGE', 'SECOND PAGE']);
    const second = await world.ocr(ocrOf(two, { pages: '1-1' }, 'image/tiff'));
    const body = (await second.json()) as Answer;
    expect(body.pages.map(({ index }) => index)).toEqual([1]);
    expect(body.pages[0]?.markdown).toContain('SECOND');
    expect(await world.row(second)).toMatchObject({ cost_nano_eur: String(PAGE), held_nano_eur: String(PAGE) });

    const both = await world.ocr(ocrOf(two, {}, 'image/tiff'));
    expect(((await both.json()) as Answer).usage_info).toMatchObject({ pages_processed: 2 });
    const row = await world.row(both);
    expect(row.cost_nano_eur).toBe(String(2n * PAGE));
    expect(BigInt(row.held_nano_eur)).toBeGreaterThanOrEqual(2n * PAGE);

    const none = await failureOf(await world.ocr(ocrOf(two, { pages: [7] }, 'image/tiff')));
    expect(none).toMatchObject({ status: 400, code: 'invalid_request', param: 'pages' });
  });

  test.each([
    ['an address', { document: { document_url: 'https://example.com/a.pdf' } }, 400, 'invalid_request', 'document'],
    ['no document', { document: undefined }, 400, 'invalid_request', 'document'],
    ['pages that are none', { pages: ['first'] }, 400, 'invalid_request', 'pages'],
    ['more pages than there are', { pages: '0-5000' }, 400, 'invalid_request', 'pages'],
    ['a language that is not known', { languages: ['tlh'] }, 400, 'invalid_request', 'languages'],
    ['half an image', { image_limit: 0.5 }, 400, 'invalid_request', 'image_limit'],
    ['a wish that is not served', { document_annotation_format: {} }, 400, 'invalid_request', undefined],
    ['what is no model', { model: 'gw/anonymize' }, 404, 'model_not_found', 'model'],
  ])('refuses %s before anything is held', async (_what, more, status, code, param) => {
    const answer = await world.ocr(ocrOf(letter, more));
    expect(await failureOf(answer)).toMatchObject({ status, code, ...(param !== undefined && { param }) });
    const row = await world.row(answer);
    expect(row).toMatchObject({ outcome: 'refused', code, held_nano_eur: '0', cost_nano_eur: '0', attempts: [] });
  });

  test.each([
    ['nothing that is read', Buffer.from('000102030405060708', 'hex'), 'document_unsupported'],
    ['half a picture', Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex'), 'document_unreadable'],
  ])('tells what is wrong with %s, once, for nothing', async (_what, bytes, code) => {
    const answer = await world.ocr(ocrOf(bytes));
    expect(await failureOf(answer)).toMatchObject({ status: 422, code, param: 'document' });
    expect(await world.row(answer)).toMatchObject({ outcome: 'failed', step: 'dispatch', code, cost_nano_eur: '0' });
  });

  test('is asked for within allow-lists and budgets', async () => {
    expect(await failureOf(await world.ocr(ocrOf(letter), { as: 'listed' }))).toMatchObject({
      status: 403,
      code: 'permission_denied',
    });
    const poor = await world.ocr(ocrOf(letter), { as: 'poor' });
    expect(await failureOf(poor)).toMatchObject({ status: 402, code: 'insufficient_quota' });
    expect(await world.row(poor)).toMatchObject({ outcome: 'refused', step: 'meter', cost_nano_eur: '0' });
  });

  test('is listed where it is allowed, and its engine answers', async () => {
    const ids = async (as: string): Promise<readonly string[]> => {
      const { data } = (await (await world.get('/v1/models', { as })).json()) as { data: readonly { id: string }[] };
      return data.map(({ id }) => id);
    };
    await expect.poll(() => ids('app')).toContain('gw/ocr');
    expect(await ids('app')).not.toContain('gw/anonymize');
    expect(await ids('listed')).not.toContain('gw/ocr');
    const unknown = await world.ocr(ocrOf(letter, { model: 'gw/read' }), { as: 'open' });
    expect(await failureOf(unknown)).toMatchObject({ status: 404, code: 'model_not_found', param: 'model' });
  });

  test('leaves the models of other providers as they were', async () => {
    upstream.respond(json({ pages: [{ index: 0, markdown: 'x', images: [] }], model: 'm', usage_info: {} }));
    const asked = ocrOf(letter, { model: 'upstream/m', document: { document_url: 'https://example.com/a.pdf' } });
    expect((await world.ocr(asked, { as: 'open' })).status).toBe(200);
    const refused = await world.ocr(ocrOf(letter, { model: 'upstream/m' }), { as: 'strict' });
    expect(await failureOf(refused)).toMatchObject({ code: 'data_protection' });
    expect(upstream.requests).toHaveLength(1);
  });
});

test("an organization's alias and its prices go before the gateway's own", async () => {
  const alias = resource('ModelAlias', 'read', {
    alias: 'gw/ocr',
    strategy: 'Weighted',
    targets: [{ model: 'upstream/reader', weight: 1 }],
  });
  await using own = await startDocumentWorld({
    documentsUrl: engine.url,
    upstreamUrl: upstream.url,
    more: [alias],
    applications: { open: { policy: { dlp: { mode: 'AllowLog' } } } },
  });
  upstream.respond(json({ pages: [{ index: 0, markdown: 'theirs', images: [] }], model: 'reader' }));
  const answer = await own.ocr(ocrOf(letter), { as: 'open' });
  expect(await answer.text()).toContain('theirs');
  expect(await own.row(answer)).toMatchObject({ provider: 'upstream', model: 'gw/ocr', cost_nano_eur: '20000000' });
  // What leaves under that name is protected as ever.
  expect(await failureOf(await own.ocr(ocrOf(letter)))).toMatchObject({ status: 422, code: 'data_protection' });
});
