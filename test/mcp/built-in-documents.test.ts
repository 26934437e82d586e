import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { formOf, ocrOf, pagesOf, startDocumentWorld, written, type DocumentWorld } from '../documents/world.ts';
import { HOSTILE } from '../documents/hostile-files.ts';
import { startDocumentEngine, type EngineProcess } from '../harness/document-engine.ts';
import { ledgerRows } from '../harness/ledger-rows.ts';
import { letter } from '../harness/pdfs.ts';
import { askOwn, bySdk, callOwn, CLIENTS, codeOf, comparable, namesFor, rowAfter } from './built-in-world.ts';
import { textOf } from './world.ts';

/** `anonymize_document` and `ocr` of the gateway's own tools, next to the endpoints that do the same. */

const PAGE = 1_000_000n;
const base64 = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64');

let engine: EngineProcess;
let world: DocumentWorld;
let pdf: Uint8Array;
let picture: Buffer;

beforeAll(async () => {
  engine = await startDocumentEngine();
  // The gateway lists what answers when it starts.
  await engine.ready();
  world = await startDocumentWorld({
    documentsUrl: engine.url,
    applications: {
      strict: {
        policy: { dlp: { mode: 'Block', documents: 'Refuse' }, residency: { allowedJurisdictions: ['EU'] } },
      },
      listed: { workload: { allowedModels: ['gw/ocr'] } },
      poor: { workload: { budget: { amount: '0.0015', period: 'Total' } } },
    },
  });
  pdf = await letter(['Dear Ada,', 'write to ada@example.com']);
  picture = await written('DEAR ADA LOVELACE', 'COME AT NOON');
}, 60_000);
afterAll(async () => {
  await world?.[Symbol.asyncDispose]();
  await engine?.stop();
});

describe('clients of others', () => {
  test.each(CLIENTS)(
    '%s (%s) anonymize and read',
    async (...client) => {
      const args = { content_base64: base64(pdf), filename: 'to ada@example.com.pdf' };
      const { names, result } = await bySdk(world, client, 'anonymize_document', args);
      expect(names).toEqual(['anonymize_text', 'anonymize_document', 'ocr']);
      expect(result.structuredContent).toMatchObject({
        filename: 'to «EMAIL_1».pdf',
        content_type: 'application/pdf',
        summary: { pages: 1, categories: ['EMAIL'] },
      });
      const [summary, file] = result.content;
      expect(summary?.text).not.toContain(String(result.structuredContent?.['content_base64']).slice(0, 64));
      expect(file).toMatchObject({
        type: 'resource',
        resource: { mimeType: 'application/pdf', blob: result.structuredContent?.['content_base64'] },
      });
      const clean = String(result.structuredContent?.['content_base64']);
      const read = await bySdk(world, client, 'gw__ocr', { content_base64: clean }, '/v1/mcp');
      expect(read.result.content[0]?.text).toContain('«EMAIL');
      expect(JSON.stringify(read.result)).not.toContain('ada@example.com');
    },
    60_000,
  );
});

describe('anonymize_document is the same as over HTTP', () => {
  test.each<[string, () => Uint8Array, string, object, string]>([
    ['a PDF', () => pdf, 'a.pdf', { include_mapping: true }, 'app'],
    ['a picture', () => picture, 'a.png', { remove: ['Ada Lovelace'] }, 'strict'],
    ['a table', () => Buffer.from('name,mail\nAda,ada@example.com\n'), 'ada@example.com.csv', {}, 'app'],
    ['a name of a folder', () => Buffer.from('ada@example.com'), '../etc/a\u0000.txt', {}, 'app'],
  ])('%s', async (_what, make, filename, options, as) => {
    const bytes = make();
    const http = await world.anonymize(formOf(bytes, filename, options), { as });
    const args = { content_base64: base64(bytes), filename, ...options };
    const sent = await callOwn(world, 'anonymize_document', args, as);
    expect(sent.body.result?.['structuredContent']).toEqual({
      ...((await http.json()) as object),
      unscanned: http.headers.get('x-gw-unscanned')?.split(', ') ?? [],
    });
    const [ofHttp, ofTool] = [await world.row(http), await rowAfter(world, sent)];
    expect(comparable(ofTool)).toEqual(comparable(ofHttp));
    expect([ofTool.surface, ofTool.cost_nano_eur]).toEqual(['mcp', String(PAGE)]);
  });
});

describe('ocr is the same as over HTTP', () => {
  test.each<[string, () => Uint8Array | Promise<Uint8Array>, string, object]>([
    ['a picture', () => picture, 'image/png', { languages: ['en'] }],
    ['a PDF', () => pdf, 'application/pdf', {}],
    ['pages', () => pagesOf(['FIRST PAGE', 'SECOND PAGE']), 'image/tiff', { pages: '1-1' }],
  ])('%s', async (_what, make, type, options) => {
    const bytes = await make();
    const http = await world.ocr(ocrOf(bytes, options, type), { as: 'strict' });
    const args = { content_base64: base64(bytes), content_type: type, ...options };
    const sent = await callOwn(world, 'ocr', args, 'strict');
    const body = (await http.json()) as { readonly pages: readonly { readonly markdown: string }[] };
    expect(sent.body.result?.['structuredContent']).toEqual(body);
    expect(textOf(sent)).toBe(body.pages.map(({ markdown }) => markdown).join('\n\n'));
    const [ofHttp, ofTool] = [await world.row(http), await rowAfter(world, sent)];
    expect(comparable(ofTool)).toEqual(comparable(ofHttp));
    expect(ofTool).toMatchObject({
      surface: 'mcp',
      wire_format: 'ocr',
      units: { pages: 1 },
      cost_nano_eur: String(PAGE),
    });
  });
});

describe.each(['anonymize_document', 'ocr'])('%s', (name) => {
  test.each<[string, object]>([
    ['no document', {}],
    ['an empty document', { content_base64: '' }],
    ['a URL', { content_base64: 'https://example.com/ada@example.com.pdf' }],
    ['no base64', { content_base64: 'ada@example.com' }],
    [
      'a type that would end a data: URL',
      { content_base64: 'QQ==', content_type: 'text/plain;base64,ada@example.com' },
    ],
    ['an unknown member', { content_base64: 'QQ==', include_image_base64: true }],
    ['another model', { content_base64: 'QQ==', model: 'upstream/ocr' }],
    ['a file name that is a number', { content_base64: 'QQ==', filename: 7 }],
  ])('%s is a result that says so, and is free', async (_what, args) => {
    const sent = await callOwn(world, name, args);
    expect([sent.status, codeOf(sent)], sent.text).toEqual([200, 'invalid_request']);
    expect(sent.text).not.toContain('ada@');
    expect(await rowAfter(world, sent)).toMatchObject({ outcome: 'refused', cost_nano_eur: '0' });
  });

  const BOMBS = HOSTILE.filter(({ what }) => /^(?:a bomb of one entry|entities of entities|half a JPEG)$/.test(what));
  test.each(BOMBS)(
    '$what is a result that says so, is free, and the next call is served',
    async ({ make, name: filename }) => {
      const sent = await callOwn(world, name, { content_base64: base64(await make()), filename });
      expect(String(codeOf(sent))).toMatch(/^document_/);
      expect(await rowAfter(world, sent)).toMatchObject({ outcome: 'failed', cost_nano_eur: '0' });
      const next = await callOwn(world, name, { content_base64: base64(pdf) });
      expect(next.body.result?.isError).toBeUndefined();
    },
    60_000,
  );

  test('a name that is no text does no harm', async () => {
    const sent = await callOwn(world, name, { content_base64: base64(pdf), filename: `${'\ud800'.repeat(300)}.pdf` });
    expect(sent.body.result?.isError, sent.text).toBeUndefined();
  });

  test('a message of 4 MiB is taken, and a larger one is not', async () => {
    const tail = (length: number): string => base64(Buffer.concat([pdf, Buffer.from(`\n%${'x'.repeat(length)}`)]));
    const most = await callOwn(world, name, { content_base64: tail(3_140_000) });
    expect(most.body.result?.isError, most.text.slice(0, 500)).toBeUndefined();
    const more = await callOwn(world, name, { content_base64: tail(3_150_000) });
    expect([more.status, more.body.error?.code]).toEqual([413, -32600]);
  }, 60_000);
});

test('tools are there for whom the endpoints are there', async () => {
  expect(await namesFor(world, 'listed')).toEqual(['ocr']);
  expect((await callOwn(world, 'anonymize_document', { content_base64: base64(pdf) }, 'listed')).body.error?.code).toBe(
    -32602,
  );
});

test('a budget ends: what cannot be paid is not begun, and the rest is billed once', async () => {
  const args = { content_base64: base64(picture), filename: 'a.png' };
  const sent = await Promise.all([1, 2, 3].map(async () => callOwn(world, 'ocr', args, 'poor')));
  expect(sent.map(({ status }) => status).sort((a, b) => a - b)).toEqual([200, 402, 402]);
  const rows = await Promise.all(sent.map(async (one) => rowAfter(world, one)));
  expect(rows.reduce((sum, { cost_nano_eur: cost }) => sum + BigInt(cost), 0n)).toBe(PAGE);
});

describe('a call that ends early', () => {
  const many = async (): Promise<string> => base64(await pagesOf(Array.from({ length: 40 }, (_, at) => `PAGE ${at}`)));

  test('whose client leaves is over, and sealed once', async () => {
    const before = (await ledgerRows(world.databaseUrl)).length;
    const leaving = new AbortController();
    const params = { name: 'anonymize_document', arguments: { content_base64: await many(), filename: 'a.tiff' } };
    const calling = fetch(`${world.gateway.url}/v1/mcp/gw`, {
      method: 'POST',
      headers: { authorization: `Bearer ${world.keys['app']}`, 'content-type': 'application/json' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params }),
      signal: leaving.signal,
    });
    const running = 'gw_inference_jobs_running';
    await expect.poll(async () => engine.metric(running), { timeout: 10_000 }).toBeGreaterThan(0);
    leaving.abort();
    await expect(calling).rejects.toThrow(/abort/);
    const rows = await ledgerRows(world.databaseUrl, before + 1);
    expect(rows.filter(({ outcome }) => outcome === 'hung_up')).toMatchObject([
      { surface: 'mcp', model: 'gw/anonymize', cost_nano_eur: '0' },
    ]);
  }, 60_000);

  test('whose engine dies is a result that says so, and is free; then the tools are away', async () => {
    const args = { content_base64: await many(), filename: 'a.tiff' };
    const calling = callOwn(world, 'ocr', args);
    await expect.poll(async () => engine.metric('gw_inference_jobs_running'), { timeout: 10_000 }).toBeGreaterThan(0);
    process.kill(engine.pid, 'SIGKILL');
    const sent = await calling;
    expect(codeOf(sent), sent.text).toBe('document_engine_unavailable');
    expect(await rowAfter(world, sent)).toMatchObject({ outcome: 'failed', cost_nano_eur: '0' });
    await expect.poll(async () => (await askOwn(world, 'tools/list')).status, { timeout: 10_000 }).toBe(503);
  }, 60_000);
});
