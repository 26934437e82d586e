import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { stringify } from 'yaml';
import { make, sha256, type TestResource } from '#/config/testing/resources.ts';
import { explain } from './explain.ts';

let dir: string;

const bot = { targetRefs: [{ kind: 'Workload', name: 'bot' }] };
const RESOURCES: readonly TestResource[] = [
  make('Organization', 'acme', { priceBookRef: { name: 'prices' }, messagesDefaultProvider: 'home' }),
  make('Workload', 'bot', { allowedModels: ['gw/*', 'home/*', 'away/*'] }),
  make('Workload', 'narrow', { allowedModels: ['home/*'], organizationRef: { name: 'acme' } }),
  make('Workload', 'other', { organizationRef: { name: 'acme' } }),
  make('VirtualKey', 'front', { hash: { value: sha256('front') } }),
  make('PriceBook', 'prices', { prices: [{ model: 'home/*', input: '1', output: '2' }] }),
  make('Provider', 'home', {
    onlyListedModels: true,
    models: [
      { id: 'plain', vision: false },
      { id: 'seeing', vision: true },
    ],
  }),
  make('Provider', 'away', { jurisdiction: 'US' }),
  make('Provider', 'free', {}),
  make('ModelAlias', 'auto', {
    strategy: 'Auto',
    targets: [{ model: 'away/x' }, { model: 'home/plain', priority: 1 }, { model: 'home/seeing', priority: 2 }],
    auto: { routes: [{ task: 'code', model: 'home/seeing' }] },
  }),
  make('MCPServer', 'crm', { tools: { exclude: ['drop_*'] }, definitions: { mode: 'Record' } }),
  make('MCPServer', 'files', {
    definitions: { mode: 'Record' },
    rules: [{ tools: ['read_*'], arguments: { properties: { path: { pattern: '^/data/' } } } }],
  }),
  make('MCPServer', 'far', { jurisdiction: 'US' }),
  make('Policy', 'floor', {
    defaults: undefined,
    overrides: { dlp: { mode: 'Mask' }, residency: { allowedJurisdictions: ['EU'] } },
  }),
  make('Policy', 'own', { ...bot, defaults: { answerTimeoutSeconds: 60, dlp: { mode: 'AllowLog' } } }),
  make('Policy', 'next', {
    ...bot,
    mode: 'Shadow',
    defaults: { allowedModels: ['home/plain'], dlp: { mode: 'Block' } },
  }),
];

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'gw-explain-'));
  const texts = RESOURCES.map((resource) => stringify(JSON.parse(JSON.stringify(resource))));
  await writeFile(join(dir, 'all.yaml'), texts.join('---\n'));
});

afterAll(async () => {
  await rm(dir, { recursive: true });
});

async function run(...args: readonly string[]): Promise<{ status: number; lines: string[]; errors: string[] }> {
  const lines: string[] = [];
  const errors: string[] = [];
  const output = { out: (line: string) => void lines.push(line), err: (line: string) => void errors.push(line) };
  const status = await explain(['--config', dir, ...args], { usdToEur: '0.92' }, output);
  return { status, lines, errors };
}

test('tells the policy with its origins, each candidate, its price, and the shadow', async () => {
  const { status, lines } = await run('--key', 'front', '--model', 'gw/auto', '--has', 'images,tools');
  expect(lines).toEqual([
    'workload default/bot, organization default/acme',
    'policy',
    '  dlp.mode: mask — Policy default/floor (override)',
    '  dlp.documents: off — built-in',
    '  dlp.images: pass — built-in',
    '  dlp.entities: all — built-in',
    '  dlp.customTerms: none — built-in',
    '  dlp.restore: known_targets — built-in',
    '  dlp.restoreHosts: none — built-in',
    '  dlp.tools.internal: mask — built-in',
    '  dlp.tools.external: mask — built-in',
    '  dlp.tools.results: allow_log — built-in',
    '  allowedModels: gw/*, home/*, away/* — Workload default/bot',
    '  allowedTools: all — built-in',
    '  toolsToApprove: none — built-in',
    '  residency.allowedJurisdictions: EU — Policy default/floor (override)',
    '  contentRetention: Disabled — built-in',
    '  providerSideTools: none — built-in',
    '  passthrough: fim, score, uploads — built-in',
    '  caching.promptCache: Disabled — built-in',
    '  price: Known — built-in',
    '  caching.responseCache.mode: Disabled — built-in',
    '  caching.responseCache.ttlSeconds: 3600 — built-in',
    '  contentRetentionDays: 30 — built-in',
    '  scopeGuard.mode: off — built-in',
    '  answerTimeoutSeconds: 60 — Policy default/own (workload)',
    'in shadow mode',
    '  allowedModels: home/plain — Policy default/next (shadow workload)',
    '  answerTimeoutSeconds: 300 — Workload default/bot',
    'gw/auto on chat with images, tools',
    '  gw/auto: automatic: a request with tools, images, by priority',
    '  away/x: refused: in US, allowed are EU (Policy default/floor (override))',
    '  home/plain: skipped: it takes no images, but another does',
    '  home/seeing: selected: chat, verbatim, in EU',
    '  shadow: allowedModels: home/seeing would be refused: not on the allow-list of Policy default/next (shadow workload)',
    '  home/seeing: price from PriceBook default/prices home/*',
    'asked in this order: home/seeing',
  ]);
  expect(status).toBe(0);
});

test.each([
  ['chat', 'home/plain', '  home/plain: selected: chat, verbatim, in EU'],
  ['messages', 'plain', '  home/plain: selected: chat, translated, in EU'],
  ['responses', 'home/plain', '  home/plain: selected: chat, translated, in EU'],
])('tells the mode on %s', async (surface, model, line) => {
  for (const has of ['', 'tools', 'json', 'images', 'tools,images,json']) {
    const { status, lines } = await run(
      '--workload',
      'default/bot',
      '--model',
      model,
      '--surface',
      surface,
      '--has',
      has,
    );
    expect({ status, told: lines.includes(line) }).toEqual({ status: 0, told: true });
  }
});

test.each([
  ['bot', 'away/x', 'refused: 403 residency_denied: No allowed jurisdiction serves this request: away is in US'],
  ['bot', 'free/x', 'refused: 403 permission_denied: The model is not on the allow-list of Workload default/bot.'],
  ['bot', 'home/none', 'refused: 404 model_not_found'],
  ['bot', 'plain', 'refused: 400 model_not_prefixed'],
  ['other', 'free/x', 'refused: 400 price_unknown'],
])('workload %s, model %s: %s', async (workload, model, last) => {
  const { status, lines } = await run('--workload', workload, '--model', model);
  expect(status).toBe(1);
  expect(lines.at(-1)).toContain(last);
});

test.each([
  [
    'crm/find',
    0,
    [
      'mcp/crm/find: selected: in EU, trust external, arguments mask, results allow_log',
      'mcp/crm/find: price from gatewarden tools',
    ],
  ],
  ['crm/drop_all', 1, ['mcp/crm/drop_all: refused: not among the tools', 'refused: 404 tool_not_found']],
  ['far/find', 1, ['mcp/far/find: refused: in US', 'refused: 403 residency_denied']],
  ['crm/prompts/visit', 1, ['mcp/crm/prompts/visit: refused: not offered', 'refused: 404 prompt_not_found']],
  ['crm/resources/memo://a', 1, ['mcp/crm/resources/read: refused: not offered', 'refused: 404 resource_not_found']],
  [
    'gw/ocr',
    0,
    [
      'mcp/gw/ocr: selected: takes the steps of gw/ocr, and its price; nothing leaves the gateway',
      'gw/ocr: price from gatewarden documents',
    ],
  ],
  ['gw/decide', 0, ['gw/typed: price from gatewarden']],
  ['gw/nothing', 1, ['refused: 404 tool_not_found: the gateway has no tool of its own with this name, but anonymize_']],
  ['mail/send', 1, ['refused: 404 not_found: the workload reaches no MCP server with this name, but crm, files, far']],
])('tool %s', async (tool, expected, told) => {
  const { status, lines } = await run('--workload', 'bot', '--tool', tool);
  expect(status).toBe(expected);
  for (const text of told) expect(lines.join('\n')).toContain(text);
});

test('rules of a server: named without arguments, asked with them', async () => {
  const asking = ['--workload', 'bot', '--tool', 'files/read_text'];
  const { status, lines } = await run(...asking);
  expect(status).toBe(0);
  expect(lines).toContain('  rules[0] must hold: give the arguments with --arguments FILE to check that');
  const file = join(dir, 'arguments.json');
  await writeFile(file, '{"path":"/data/x"}');
  const kept = await run(...asking, '--arguments', file);
  expect([kept.status, kept.lines.join('\n')]).toEqual([0, expect.stringContaining('keeps rules[0]')]);
  await writeFile(file, '{"path":"/etc/secret"}');
  const broken = await run(...asking, '--arguments', file);
  expect(broken.status).toBe(1);
  const why = 'rules[0] of the MCP server files: /path must match the pattern ^/data/.';
  expect(broken.lines.at(-1)).toBe(`refused: 422 tool_arguments_denied: ${why}`);
  expect(broken.lines.join('\n')).not.toContain('secret');
  await writeFile(file, '{"path":1,"path":2}');
  await expect(run(...asking, '--arguments', file)).rejects.toThrow('--arguments takes a file');
  await expect(run('--workload', 'bot', '--model', 'gw/ocr', '--arguments', file)).rejects.toThrow('belongs to --tool');
});

test('what the gateway does itself: where it is asked, and that policy of what leaves has no say', async () => {
  const { status, lines } = await run('--workload', 'bot', '--model', 'gw/ocr');
  expect(lines.slice(lines.indexOf('gw/ocr'))).toEqual([
    'gw/ocr',
    '  gw/ocr: called on /v1/ocr: the document engine reads the text of documents sent as data: URLs',
    '  gw/ocr: selected: nothing leaves the gateway, so residency and data protection do not apply',
    '  shadow: allowedModels: gw/ocr would be refused: not on the allow-list of Policy default/next (shadow workload)',
    '  gw/ocr: price from gatewarden documents',
  ]);
  expect(status).toBe(0);
  const anonymized = await run('--workload', 'other', '--model', 'gw/anonymize');
  expect(anonymized.status).toBe(0);
  expect(anonymized.lines).toContain('gw/anonymize');
});

test('what the gateway does itself is on allow-lists like any model', async () => {
  const { status, lines } = await run('--workload', 'narrow', '--model', 'gw/ocr');
  expect(status).toBe(1);
  expect(lines.at(-1)).toBe(
    'refused: 403 permission_denied: The model is not on the allow-list of Workload default/narrow.',
  );
});

test('names that are not there, or no names', async () => {
  await expect(run('--key', 'none', '--model', 'a/b')).rejects.toThrow('there is no key "none" in this folder');
  await expect(run('--workload', 'none', '--model', 'a/b')).rejects.toThrow(
    'there is no workload "none" in this folder: there are default/bot, default/narrow, default/other. ' +
      'A resource that names no namespace is in "default"',
  );
  await expect(run('--workload', 'narow', '--model', 'a/b')).rejects.toThrow(': did you mean default/narrow?');
  await expect(run('--workload', 'defalt/bot', '--model', 'a/b')).rejects.toThrow(': did you mean default/bot?');
  await expect(run('--workload', 'bot', '--model', ' ')).rejects.toThrow('model is required');
});

test('a folder with faults is not explained', async () => {
  const broken = await mkdtemp(join(tmpdir(), 'gw-explain-'));
  await writeFile(join(broken, 'a.yaml'), stringify(make('Workload', 'bot')));
  const { status, lines, errors } = await run('--config', broken, '--workload', 'bot', '--model', 'a/b');
  await rm(broken, { recursive: true });
  expect({ status, lines }).toEqual({ status: 2, lines: [] });
  expect(errors).toEqual([expect.stringContaining('there is no Organization default/acme')]);
});
