import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { formOf, startDocumentWorld, type DocumentWorld } from '../documents/world.ts';
import { startDocumentEngine, type EngineProcess } from '../harness/document-engine.ts';
import { resource } from '../harness/gateway.ts';
import { askOwn, bySdk, callOwn, CLIENTS, codeOf, comparable, namesFor, rowAfter } from './built-in-world.ts';
import { textOf } from './world.ts';

/** `anonymize_text` of the gateway's own tools, next to `POST /v1/documents/anonymize`. */

const IBAN = 'DE89370400440532013000';
const MAIL = 'Write to ada@example.com or pay DE89 3704 0044 0532 0130 00.';
const STRICT = { dlp: { mode: 'Block', documents: 'Refuse' }, residency: { allowedJurisdictions: ['EU'] } };
const PAGE = 1_000_000n;

let engine: EngineProcess;
let world: DocumentWorld;

beforeAll(async () => {
  engine = await startDocumentEngine();
  // The gateway lists what answers when it starts.
  await engine.ready();
  world = await startDocumentWorld({
    documentsUrl: engine.url,
    applications: {
      strict: { policy: STRICT },
      ocr: { workload: { allowedModels: ['gw/ocr'] } },
      text: { policy: { allowedTools: ['gw/anonymize_text', 'crm/*'] } },
      theirs: { workload: { organizationRef: { name: 'other' } } },
      poor: { workload: { budget: { amount: '0.0025', period: 'Total' } } },
    },
    more: [
      resource('Organization', 'other', { contact: { email: 'ops@other.example' }, priceBookRef: { name: 'dear' } }),
      resource('PriceBook', 'dear', { prices: [{ model: 'gw/anonymize', unit: 'Page', input: '0.5' }] }),
    ],
  });
}, 60_000);
afterAll(async () => {
  await world?.[Symbol.asyncDispose]();
  await engine?.stop();
});

interface Structured {
  readonly text: string;
  readonly summary: object;
  readonly mapping?: readonly object[];
  readonly unscanned: readonly string[];
}

async function anonymized(args: object, as = 'app'): Promise<Structured> {
  const sent = await callOwn(world, 'anonymize_text', args, as);
  expect(sent.body.result?.isError, sent.text).toBeUndefined();
  return sent.body.result?.['structuredContent'] as Structured;
}

test.each(CLIENTS)(
  '%s (%s) lists and calls it',
  async (...client) => {
    const { names, result } = await bySdk(world, client, 'gw__anonymize_text', { text: MAIL }, '/v1/mcp');
    expect(names).toContain('gw__anonymize_text');
    expect(result.structuredContent).toMatchObject({
      text: 'Write to «EMAIL_1» or pay «IBAN_1».',
      summary: { pages: 1, categories: ['EMAIL', 'IBAN'] },
    });
    const [text, unscanned] = result.content;
    expect(text?.text).toBe('Write to «EMAIL_1» or pay «IBAN_1».');
    expect(unscanned?.text).toMatch(/^Not searched for, and maybe still there: person_name, /);
  },
  60_000,
);

describe('is the same as over HTTP', () => {
  const MANY = Array.from({ length: 400 }, (_, at) => `line ${at} of person${at}@example.com`).join('\r\n');
  test.each<[string, string, object, string]>([
    ['a text', MAIL, {}, 'app'],
    ['the strictest policy', MAIL, { include_mapping: true }, 'strict'],
    ['named kinds and terms', MAIL, { entities: ['iban'], remove: ['Write', { term: 'pay', label: 'verb' }] }, 'app'],
    [
      'a mail',
      'From: ada@example.com\r\nTo: b@example.com\r\nSubject: Hi\r\n\r\nMy IBAN is DE89370400440532013000\r\n',
      {},
      'app',
    ],
    ['markup', '<html><body><p>Write to ada&#64;example.com</p></body></html>', {}, 'app'],
    ['a mark of the order of bytes, and letters of all planes', '\uFEFFŽluťoučký 🐎 ada@example.com', {}, 'app'],
    ['many lines', MANY, {}, 'app'],
  ])('%s', async (_what, text, options, as) => {
    const form = formOf(Buffer.from(text), 'text.txt', options);
    const http = await world.anonymize(form, { as });
    const {
      content_base64: content,
      summary,
      mapping,
    } = (await http.json()) as {
      content_base64: string;
      summary: object;
      mapping?: object[];
    };
    const sent = await callOwn(world, 'anonymize_text', { text, ...options }, as);
    const result = sent.body.result?.['structuredContent'] as Structured;
    expect(Buffer.from(result.text)).toEqual(Buffer.from(content, 'base64'));
    expect([result.summary, result.mapping]).toEqual([summary, mapping]);
    expect(result.unscanned.join(', ')).toBe(http.headers.get('x-gw-unscanned') ?? '');
    expect(sent.headers.get('x-gw-unscanned')).toBe(http.headers.get('x-gw-unscanned'));
    const [ofHttp, ofTool] = [await world.row(http), await rowAfter(world, sent)];
    expect(comparable(ofTool)).toEqual(comparable(ofHttp));
    expect([ofTool.surface, ofTool.cost_nano_eur]).toEqual(['mcp', ofHttp.cost_nano_eur]);
    expect(JSON.stringify(ofTool)).not.toContain('example.com');
  });
});

test('each organization pays for itself, at its own price', async () => {
  const text = `To ${IBAN}`;
  const mine = await callOwn(world, 'anonymize_text', { text });
  const theirs = await callOwn(world, 'anonymize_text', { text }, 'theirs');
  expect(theirs.body).toEqual(mine.body);
  expect(await rowAfter(world, mine)).toMatchObject({ organization: 'default/acme', cost_nano_eur: String(PAGE) });
  expect(await rowAfter(world, theirs)).toMatchObject({
    organization: 'default/other',
    cost_nano_eur: String(500n * PAGE),
  });
});

test('a budget ends between calls, whatever comes at once', async () => {
  const sent = await Promise.all(
    Array.from({ length: 6 }, async (_, at) => callOwn(world, 'anonymize_text', { text: `${at} ${MAIL}` }, 'poor')),
  );
  expect(sent.map(({ status }) => status).sort((a, b) => a - b)).toEqual([200, 200, 402, 402, 402, 402]);
  const refused = sent.find(({ status }) => status === 402);
  expect(refused?.body.error).toMatchObject({ code: -32010, data: { code: 'insufficient_quota' } });
  const rows = await Promise.all(sent.map(async (one) => rowAfter(world, one)));
  expect(rows.reduce((sum, { cost_nano_eur: cost }) => sum + BigInt(cost), 0n)).toBe(2n * PAGE);
});

test.each<[string, object]>([
  ['no text', {}],
  ['an empty text', { text: '' }],
  ['no string', { text: 7 }],
  ['a PDF', { text: '%PDF-1.7\nada@example.com' }],
  ['bytes', { text: 'ada@example.com\u0000' }],
  ['an unknown member', { text: MAIL, redact: ['ada@example.com'] }],
  ['an unknown kind', { text: MAIL, entities: ['shoes'] }],
  ['a kind that cannot be found', { text: MAIL, entities: ['person_name'] }],
  ['nothing to find', { text: MAIL, entities: [] }],
  ['a label that tells', { text: MAIL, remove: [{ term: 'x', label: 'ada@example.com' }] }],
  ['a flag that is a text', { text: MAIL, include_mapping: 'ada@example.com' }],
])('%s is a result that says so, and is free', async (_what, args) => {
  const sent = await callOwn(world, 'anonymize_text', args);
  expect([sent.status, codeOf(sent)]).toEqual([200, 'invalid_request']);
  expect(textOf(sent)).not.toMatch(/ada@|options\./);
  expect(await rowAfter(world, sent)).toMatchObject({ outcome: 'refused', model: 'gw/anonymize', cost_nano_eur: '0' });
});

test('is there for whom the endpoint is there, and only there', async () => {
  expect(await namesFor(world, 'ocr')).not.toContain('anonymize_text');
  expect(await namesFor(world, 'text')).toEqual(['anonymize_text']);
  const denied = await callOwn(world, 'anonymize_text', { text: MAIL }, 'ocr');
  expect([denied.status, denied.body.error?.code]).toEqual([200, -32602]);
  expect(await anonymized({ text: MAIL }, 'text')).toMatchObject({ summary: { pages: 1 } });
});

test('definitions are complete and honest', async () => {
  const { body } = await askOwn(world, 'tools/list');
  for (const tool of body.result?.tools ?? []) {
    expect(Object.keys(tool)).toEqual(['name', 'title', 'description', 'inputSchema', 'outputSchema', 'annotations']);
    expect(tool['annotations']).toMatchObject({ readOnlyHint: true, openWorldHint: false });
    expect(String(tool['description']).length).toBeLessThan(700);
  }
});
