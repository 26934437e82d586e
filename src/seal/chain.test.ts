import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { canonicalRow, genesis, link } from './chain.ts';
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
const textOrNull = fc.option(text);
const number = fc.oneof(
  fc.nat(),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.constantFrom(-0, 1e21, 5e-324),
);
const some = fc.oneof(fc.integer({ min: 1 }), fc.constant(0.5));
const usage = fc.record(
  {
    outputImage: some,
    inputAudio: some,
    cacheReadAudio: some,
    inputImage: some,
    outputAudio: some,
    reasoning: number,
    output: number,
    input: number,
    cacheWrite5m: number,
    cacheWrite1h: number,
    cacheRead: number,
  },
  { requiredKeys: ['reasoning', 'output', 'input', 'cacheWrite5m', 'cacheWrite1h', 'cacheRead'] },
);
const units = fc.record(
  { seconds: some, images: some, calls: some, searches: some, pages: some },
  { requiredKeys: [] },
);
// Category names come from the configuration and are well formed.
const category = text.map((name) => name.toWellFormed());
const findings = fc.dictionary(fc.oneof(category, fc.constantFrom('10', '9', '2', '__proto__', 'EMAIL')), number);

const row = fc.record({
  units,
  service_tier: text,
  workload: text,
  wire_format: text,
  v: fc.constant(1 as const),
  usage_source: fc.constantFrom('provider', 'held', null),
  usage: fc.option(usage),
  surface: text,
  stream: fc.boolean(),
  strand: text,
  step: fc.constantFrom('door', null),
  status: number,
  sequence: number,
  reason: textOrNull,
  provider_response_id: textOrNull,
  provider_model: textOrNull,
  provider: textOrNull,
  price: textOrNull,
  outcome: fc.constant('served'),
  organization: text,
  model: textOrNull,
  losses: fc.array(text),
  key: text,
  jurisdiction: textOrNull,
  held_nano_eur: text,
  duration_ms: number,
  dlp: fc.record({ unscanned: fc.array(text), mode: text, findings }),
  cost_nano_eur: text,
  config_revision: text,
  code: textOrNull,
  call_id: text,
  cache_hit: fc.constant('none'),
  attempts: fc.array(
    fc.record(
      {
        provider: text,
        model: text,
        status: number,
        error: text,
        duration_ms: number,
        host: text,
        jurisdiction: text,
        sent: fc.boolean(),
      },
      { requiredKeys: ['provider', 'model', 'duration_ms'] },
    ),
  ),
  at: text,
}) as fc.Arbitrary<AuditRow>;

describe('canonicalRow', () => {
  test('is the RFC 8785 text, whatever order the members came in', () => {
    fc.assert(
      fc.property(row, (value) => {
        expect(canonicalRow(value)).toBe(rfc8785(value));
      }),
      { numRuns: 2_000 },
    );
  });

  test('leaves out members that are undefined', () => {
    const [value] = fc.sample(row, 1) as [AuditRow];
    const attempts = [{ provider: 'p', model: 'm', status: undefined, error: undefined, duration_ms: 1 }];
    const odd = { ...value, attempts } as unknown as AuditRow;
    expect(canonicalRow(odd)).toContain('"attempts":[{"duration_ms":1,"model":"m","provider":"p"}]');
  });

  test('orders categories by code unit even when they look like numbers', () => {
    const [value] = fc.sample(row, 1) as [AuditRow];
    const dlp = { findings: { 9: 1, 10: 2, '１': 3, Z: 4 }, mode: 'mask', unscanned: [] };
    expect(canonicalRow({ ...value, dlp })).toContain('"findings":{"10":2,"9":1,"Z":4,"１":3}');
  });

  test.each([Number.NaN, Number.POSITIVE_INFINITY])('refuses %s, which would be sealed as null', (bad) => {
    const [value] = fc.sample(row, 1) as [AuditRow];
    expect(() => canonicalRow({ ...value, duration_ms: bad })).toThrow(RangeError);
    expect(() => canonicalRow({ ...value, dlp: { ...value.dlp, findings: { X: bad } } })).toThrow(RangeError);
  });
});

describe('link', () => {
  const sha256 = (...parts: (string | Buffer)[]) => {
    const digest = createHash('sha256');
    for (const part of parts) digest.update(part);
    return digest.digest();
  };

  test('is SHA-256(previous || SHA-256(row)), from the genesis of the strand', () => {
    const strand = '0199aaaa-bbbb-7ccc-8ddd-eeeeeeeeeeee';
    const first = sha256(`gatewarden strand v1\n${strand}`);
    expect(genesis(strand)).toBe(first.toString('hex'));
    const second = sha256(first, sha256('{"a":"ü"}'));
    expect(link(genesis(strand), '{"a":"ü"}')).toBe(second.toString('hex'));
  });

  test.each(['', 'ab', 'g'.repeat(64), `${'a'.repeat(63)}g`, 'a'.repeat(66)])(
    'refuses %j as a previous link',
    (bad) => {
      expect(() => link(bad, '{}')).toThrow(RangeError);
    },
  );
});
