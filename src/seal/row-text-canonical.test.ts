import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { anyRow } from '../../test/harness/any-row.ts';
import { rowText } from '../../test/harness/row-text.ts';
import { genesis, link } from './chain.ts';
import { ROW_FIELDS, type Field } from './row-fields.ts';
import { LAYOUT } from './row-text.ts';
import type { AuditRow } from './row.ts';

/** RFC 8785 written a second time, character by character and without JSON.stringify, to check the first. */
function rfc8785(value: unknown): string {
  if (value === null || typeof value === 'boolean') return `${value}`;
  if (typeof value === 'number') return Object.is(value, -0) ? '0' : `${value}`;
  if (typeof value === 'string') return rfc8785String(value);
  if (Array.isArray(value)) return `[${value.map(rfc8785).join()}]`;
  const object = value as Record<string, unknown>;
  const names = Reflect.ownKeys(object).filter((name) => object[name as string] !== undefined) as string[];
  names.sort(compareCodeUnits);
  return `{${names.map((name) => `${rfc8785String(name)}:${rfc8785(object[name])}`).join()}}`;
}

function compareCodeUnits(a: string, b: string): number {
  for (let i = 0; i < Math.min(a.length, b.length); i++) {
    if (a.charCodeAt(i) !== b.charCodeAt(i)) return a.charCodeAt(i) - b.charCodeAt(i);
  }
  return a.length - b.length;
}

const SHORT: Record<string, string> = { '\b': 'b', '\t': 't', '\n': 'n', '\f': 'f', '\r': 'r', '"': '"', '\\': '\\' };

function rfc8785String(value: string): string {
  let text = '"';
  for (const character of value) {
    const code = character.codePointAt(0)!;
    if (SHORT[character] !== undefined) text += `\\${SHORT[character]}`;
    else if (code < 0x20) text += `\\u00${code < 16 ? '0' : ''}${code.toString(16)}`;
    else text += code >= 0xd800 && code <= 0xdfff ? '\ufffd' : character;
  }
  return `${text}"`;
}

const text = fc.oneof(
  fc.string({ unit: 'grapheme' }),
  fc.string({ unit: 'binary' }),
  fc.constantFrom('\ud800', 'a\udc00', '\\ud800', '\u2028\u0000\u007f', '"\\/\b', ''),
);
const number = fc.oneof(
  fc.nat(),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.constantFrom(-0, 1e21, 5e-324),
);
const amount = fc.oneof(fc.integer({ min: 1 }), fc.constant(0.5));
// Category names come from the configuration and are well formed.
const category = text.map((name) => name.toWellFormed());
const counts = fc.dictionary(fc.oneof(category, fc.constantFrom('10', '9', '2', '__proto__', 'EMAIL')), number);

const row = anyRow({ text, number, amount, counts });

describe('canonicalRow', () => {
  test('is the RFC 8785 text, whatever order the members came in', () => {
    fc.assert(
      fc.property(row, (value) => {
        expect(rowText(value)).toBe(rfc8785(value));
      }),
      { numRuns: 2_000 },
    );
  });

  test('leaves out members that are undefined', () => {
    const [value] = fc.sample(row, 1) as [AuditRow];
    const attempts = [{ provider: 'p', model: 'm', status: undefined, error: undefined, duration_ms: 1 }];
    const odd = { ...value, attempts } as unknown as AuditRow;
    expect(rowText(odd)).toContain('"attempts":[{"duration_ms":1,"model":"m","provider":"p"}]');
  });

  test('leaves out what there is none of', () => {
    const [value] = fc.sample(row, 1) as [AuditRow];
    expect(rowText({ ...value, units: { pages: 0, calls: 1 } })).toContain('"units":{"calls":1}');
  });

  test('orders categories by code unit even when they look like numbers', () => {
    const [value] = fc.sample(row, 1) as [AuditRow];
    const dlp = { findings: { 9: 1, 10: 2, '１': 3, Z: 4 }, mode: 'mask', unscanned: [] };
    expect(rowText({ ...value, dlp })).toContain('"findings":{"10":2,"9":1,"Z":4,"１":3}');
  });

  test.each([Number.NaN, Number.POSITIVE_INFINITY])('refuses %s, which would be sealed as null', (bad) => {
    const [value] = fc.sample(row, 1) as [AuditRow];
    expect(() => rowText({ ...value, duration_ms: bad })).toThrow(RangeError);
    expect(() => rowText({ ...value, dlp: { ...value.dlp, findings: { X: bad } } })).toThrow(RangeError);
  });
});

describe('rows that are sealed already', () => {
  const strand = '019aa58a-0000-7000-8000-000000000001';
  // Written by a build whose writer was another. A change of these texts breaks every chain there is.
  const EVERY_FIELD = String.raw`{"at":"2026-11-21T09:00:00.001Z","attempts":[{"duration_ms":412,"error":"timeout","host":"api.openai.com","jurisdiction":"EU","model":"gpt-6-luna","provider":"openai","sent":true,"status":200}],"cache_hit":"none","call_id":"019aa58a-3a01-7000-8000-00000000002a","code":"upstream_error","config_revision":"a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1","cost_nano_eur":"1234000","dlp":{"detectors":"5d41402abc4b","findings":{"EMAIL":2,"IBAN":1},"mode":"tokenize","unscanned":["image"]},"duration_ms":415,"held_nano_eur":"2000000","jurisdiction":"EU,US","key":"team/production","losses":["seed"],"model":"openai/gpt-6-luna","organization":"team/acme","outcome":"failed","price":"genai-prices","provider":"openai","provider_model":"gpt-6-luna","provider_response_id":"chatcmpl-1","reason":"ü \"quoted\"\\\n","route":["openai/gpt-6-luna: taken: chat, verbatim, in EU"],"scope":"inside: 0.93","sequence":42,"service_tier":"priority","shadow":["dlp.mode: EMAIL 2 would be masked, not tokenized"],"status":502,"step":"dispatch","strand":"019aa58a-0000-7000-8000-000000000001","stream":false,"surface":"chat","tool_servers":["docs at mcp.example.com"],"units":{"calls":2,"containers":2,"fileSearches":2,"images":2,"pages":2,"searches":2,"seconds":2},"usage":{"cacheRead":100,"cacheReadAudio":10,"cacheWrite1h":100,"cacheWrite5m":100,"input":100,"inputAudio":10,"inputImage":10,"output":100,"outputAudio":10,"outputImage":10,"reasoning":100},"usage_source":"provider","v":1,"wire_format":"chat","workload":"team/support"}`;
  const EARLY =
    '{"at":"2026-11-21T09:00:00.001Z","attempts":[{"duration_ms":412,"model":"gpt-6-luna","provider":"openai","status":200}],"cache_hit":"none","call_id":"019aa58a-3a01-7000-8000-00000000002a","code":null,"config_revision":"a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1","cost_nano_eur":"1234000","dlp":{"findings":{},"mode":"mask","unscanned":[]},"duration_ms":415,"held_nano_eur":"2000000","jurisdiction":"EU","key":"team/production","losses":["seed"],"model":"openai/gpt-6-luna","organization":"team/acme","outcome":"served","price":"genai-prices","provider":"openai","provider_model":"gpt-6-luna","provider_response_id":"chatcmpl-1","reason":null,"sequence":42,"status":200,"step":null,"strand":"019aa58a-0000-7000-8000-000000000001","stream":false,"surface":"chat","usage":{"cacheRead":100,"cacheWrite1h":100,"cacheWrite5m":100,"input":100,"output":100,"reasoning":100},"usage_source":"provider","v":1,"wire_format":"chat","workload":"team/support"}';

  test.each([
    ['with every field of its time', EVERY_FIELD, 'a25ec0ec8e31f4ad876801b03a7858d6fa86c7da337c3733f6c3a630b6e856f0'],
    ['without any that came later', EARLY, 'd16b68ba23b5c2b266ee842162523e9dca957846881d14ae7b33e01b4f45a32b'],
  ])('keep their bytes: %s', (_, sealed, linked) => {
    const read = JSON.parse(sealed) as AuditRow;
    expect(rowText(read)).toBe(sealed);
    expect(LAYOUT.test(sealed)).toBe(true);
    expect(link(genesis(strand), sealed)).toBe(linked);
  });

  test('go on being rows: a field that they lack has a condition', () => {
    const read = JSON.parse(EARLY) as object;
    for (const [name, { when }] of Object.entries<Field>(ROW_FIELDS)) {
      expect(
        name in read || when !== undefined,
        `src/seal/row-fields.ts: \`${name}\` is new, so it needs a \`when\``,
      ).toBe(true);
    }
  });
});
