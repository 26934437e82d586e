import { expect, test } from 'vitest';
import { bundledSource } from '#/meter/pricing/source-bundled.ts';
import { createDetectionPool } from './search/detection-pool.ts';
import { IdSearch } from './ids.ts';
import { ScopeTerms } from './terms/scope-terms.ts';

const search = new IdSearch(createDetectionPool(), {}, []);
const BEFORE = [
  '',
  'call_',
  'user',
  'x',
  'Z',
  'user-',
  'gpt-5.4-',
  'gpt-oss-120b',
  'call_abc',
  '2024-',
  'v1.',
  'm_2024_',
];
const BEHIND = ['', 'mini', '-mini', '_1', 'x', 'b', '-2024', '.5', '-v2', ':0', '/x', ' '];

const glued = (secret: string): readonly string[] =>
  BEFORE.flatMap((before) => BEHIND.map((behind) => before + secret + behind));

test.each([
  ['CREDIT_CARD', '4111111111111111'],
  ['CREDIT_CARD', '4111-1111-1111-1111'],
  ['CREDIT_CARD', '4111.1111.1111.1111'],
  ['CREDIT_CARD', '3782:822463:10005'],
  ['IBAN', 'DE89370400440532013000'],
  ['IBAN', 'GB29NWBK60161331926819'],
  ['PHONE', '+4930901820'],
  ['PHONE', '+49-30-901820'],
  ['EMAIL', 'ada@corp.example.com'],
])('%s %s is found in an id, whatever it touches there', (kind, secret) => {
  const missed = glued(secret).filter((id) => !search.inId(id).includes(kind));
  expect(missed).toEqual([]);
});

test.each([
  ['CREDIT_CARD', '4111 1111 1111 1111'],
  ['CREDIT_CARD', '４１１１１１１１１１１１１１１１'],
  ['EMAIL', 'ada%40corp.de'],
  ['SECRET', 'sk-proj-Zk39vQpL0tRbX7cYw2Nf8HsJ1mUe5GaD'],
  ['SECRET', 'call_sk-proj-Zk39vQpL0tRbX7cYw2Nf8HsJ1mUe5GaD'],
])('%s as %s is no id by chance', (kind, id) => {
  expect(search.inId(id)).toContain(kind);
});

test.each([
  '1204111111111111111',
  '41111111111111116',
  '0.4111111111111111',
  'ec4111111111111111a0b1c2d3e4f5a6',
  '3f2b8c1e-4111-4111-8111-1111abcdefab',
  'session_3f2b8c1e-4111-4111-8111-1111abcdefab_1',
  'claude-sonnet-4@20250514',
  'req_1732392837498',
  'us.anthropic.claude-haiku-4-5-20251001-v1:0',
])('%s is an id', (id) => {
  expect(search.inId(id)).toEqual([]);
});

test('no model that a price is known for is taken for anything', () => {
  const { names } = bundledSource();
  expect(names.length).toBeGreaterThan(500);
  expect(names.filter((name) => search.inId(name).length > 0)).toEqual([]);
});

const named = new IdSearch(createDetectionPool(), {}, [
  ScopeTerms.of([
    { term: 'Blue Heron', label: 'project' },
    { term: 'Falconery', label: 'project' },
    { term: 'Ed', label: 'project' },
  ]),
]);

test.each([
  ...['call_blue_heron_1', 'call-blue-heron-1', 'blueHeron', 'callBlueHeronNow', 'models/blue.heron', 'BlueHeron2'],
  ...['call_falconery', 'xFalconery2', 'ft:gpt-4o:falconery', 'call_ed_1', 'askEdNow', 'ed.2'],
])('a term is found among the words of %s', (id) => {
  expect(named.inId(id)).toContain('PROJECT');
});

test.each(['call_edition', 'needed', 'call_Zk39vQpL0tEdK7cYw2Nf8HsZ', 'toolu_01EdAbCdEfGhIjKlMnOpQr1T'])(
  'no term is found in %s',
  (id) => expect(named.inId(id)).toEqual([]),
);
