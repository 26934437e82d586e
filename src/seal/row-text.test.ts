import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { editText, StrandBuilder } from '../../test/contract/ledger-rows.ts';
import { anyRow } from '../../test/harness/any-row.ts';
import type { AuditRow } from './row.ts';
import { canonicalRow, LAYOUT, parseRowText, readPlainRowText, readRowText, timeText } from './row-text.ts';

const genuine = new StrandBuilder('019aa000-0000-7000-8000-000000000001').seal().row;

const strange = anyRow({
  text: fc.oneof(fc.string(), fc.string({ unit: 'binary' }), fc.constantFrom('\ud800', '\u2028', '"')),
  number: fc.oneof(fc.nat(), fc.double({ noNaN: true, noDefaultInfinity: true }), fc.constant(2 ** 53)),
  amount: fc.nat(),
  counts: fc.dictionary(
    fc.oneof(fc.constantFrom('EMAIL', 'IBAN', '_', 'A1', '10', '9', '__proto__', 'Ä'), fc.string()),
    fc.nat(),
  ),
});

const plain = anyRow({
  text: fc.constantFrom('', 'openai/gpt-6-luna', "ü, {':}]"),
  number: fc.nat(),
  amount: fc.nat({ max: 9 }).map((n) => n + 1),
  counts: fc.dictionary(fc.constantFrom('EMAIL', 'IBAN', '_', 'A1'), fc.nat()),
});

describe('readRowText', () => {
  test('takes the quick way for what the gateway writes', () => {
    expect(readRowText(genuine)).toEqual({
      callId: (JSON.parse(genuine) as AuditRow).call_id,
      strand: '019aa000-0000-7000-8000-000000000001',
      sequence: 1,
      at: '2026-11-21T09:00:00.001Z',
      organization: 'team/acme',
      workload: 'team/support',
      cost: '1000',
      canonical: true,
    });
  });

  test('takes the quick way for texts with the escapes that are the canonical ones', () => {
    const reason = 'The budget of "app" is used up: \\ \n\r\t\b\f ü';
    const text = editText(genuine, { reason });
    expect(LAYOUT.test(text)).toBe(true);
    for (const other of ['\\/', '\\u0041', '\\u000a', '\\', '["\\nrtbf]'])
      expect(LAYOUT.test(text.replace('used up', other))).toBe(false);
    // What is read has to have none: it is compared as it is written.
    expect(readPlainRowText(editText(genuine, { workload: 'team/"' }))).toBeUndefined();
  });

  test('takes the quick way for any row of plain values, whichever members it lacks', () => {
    fc.assert(
      fc.property(plain, (row) => {
        const text = canonicalRow(row);
        // Units of which there are none at all are not written by anybody.
        fc.pre(!text.includes('"units":{}'));
        expect(readPlainRowText(text), text).toEqual({ ...parseRowText(text), canonical: true });
      }),
      { numRuns: 1_000 },
    );
  });

  test('goes by the order and the commas of what may be missing', () => {
    for (const units of ['{}', '{"seconds":1,"pages":1}', '{,"pages":1}', '{"pages":1,}', '{"pages":1"searches":2}']) {
      expect(LAYOUT.test(editText(genuine, { units: { pages: 9 } }).replace('{"pages":9}', units))).toBe(false);
    }
    expect(LAYOUT.test(genuine.replace('"sequence"', '"shadow":[],"sequence"'))).toBe(false);
  });

  test('says the same as parsing, of rows with anything in them', () => {
    fc.assert(
      fc.property(strange, (row) => {
        const text = canonicalRow(row);
        expect(readRowText(text)).toEqual(parseRowText(text));
        expect(readRowText(text)?.canonical).toBe(true);
      }),
      { numRuns: 1_000 },
    );
  });

  test('says the same as parsing, of texts that were tampered with', () => {
    const tampering = fc.tuple(
      fc.nat(genuine.length),
      fc.nat(3),
      fc.oneof(
        fc.string({ unit: 'binary' }),
        fc.constantFrom(',', '}', ' ', '\\u0041', '\\/', '\\"', '\\', '["\\nrtbf]', '\ud800', '"v":1,'),
      ),
    );
    fc.assert(
      fc.property(tampering, ([at, cut, put]) => {
        const text = genuine.slice(0, at) + put + genuine.slice(at + cut);
        expect(readRowText(text)).toEqual(parseRowText(text));
      }),
      { numRuns: 5_000 },
    );
  });
});

test('times are written as toISOString writes them, whatever came before', () => {
  const bound = 8.64e15;
  fc.assert(
    fc.property(fc.array(fc.integer({ min: -bound, max: bound }), { minLength: 1 }), (instants) => {
      for (const at of instants) expect(timeText(at)).toBe(new Date(at).toISOString());
    }),
  );
  for (const none of [bound + 1, -bound - 1, Infinity, -Infinity, Number.NaN, 0.5])
    expect(timeText(none)).toBeUndefined();
});
