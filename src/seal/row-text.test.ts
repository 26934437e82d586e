import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { editText, StrandBuilder } from '../../test/contract/ledger-rows.ts';
import type { AuditRow } from './row.ts';
import { LAYOUT, parseRowText, readPlainRowText, readRowText } from './row-text.ts';

const genuine = new StrandBuilder('019aa000-0000-7000-8000-000000000001').seal().row;

const name = fc.oneof(fc.constantFrom('EMAIL', 'IBAN', '_', 'A1', '10', '9', '__proto__', 'Ä'), fc.string());
const edit = fc.record(
  {
    model: fc.option(fc.oneof(fc.string({ unit: 'binary' }), fc.constantFrom('\ud800', '\u2028', '"'))),
    cost_nano_eur: fc.bigInt().map(String),
    sequence: fc.oneof(fc.nat(), fc.double({ noNaN: true, noDefaultInfinity: true }), fc.constant(2 ** 53)),
    dlp: fc.record({ findings: fc.dictionary(name, fc.nat()), mode: fc.string(), unscanned: fc.array(fc.string()) }),
    usage: fc.option(
      fc.record(
        {
          cacheRead: fc.nat(),
          cacheReadAudio: fc.nat(),
          cacheWrite1h: fc.nat(),
          cacheWrite5m: fc.nat(),
          input: fc.nat(),
          inputAudio: fc.nat(),
          inputImage: fc.nat(),
          output: fc.nat(),
          outputAudio: fc.nat(),
          outputImage: fc.nat(),
          reasoning: fc.nat(),
        },
        { requiredKeys: ['cacheRead', 'cacheWrite1h', 'cacheWrite5m', 'input', 'output', 'reasoning'] },
      ),
    ),
    units: fc.record({ calls: fc.nat(), images: fc.nat(), pages: fc.nat(), searches: fc.nat() }, { requiredKeys: [] }),
    service_tier: fc.string(),
    attempts: fc.array(
      fc.record(
        {
          provider: fc.string(),
          model: fc.string(),
          duration_ms: fc.nat(),
          error: fc.string(),
          host: fc.string(),
          jurisdiction: fc.string(),
          sent: fc.boolean(),
        },
        { requiredKeys: ['provider', 'model', 'duration_ms'] },
      ),
    ),
    losses: fc.array(fc.string()),
    route: fc.array(fc.string()),
    shadow: fc.array(fc.string()),
    stream: fc.boolean(),
  },
  { requiredKeys: [] },
);

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

  test('takes the quick way for rows with and without what was added to them later', () => {
    const later = {
      route: ['a/b: taken: chat, verbatim, in EU'],
      shadow: ['dlp.mode: EMAIL 1 would be masked, not tokenized'],
    };
    for (const changes of [{}, { route: later.route }, { shadow: later.shadow }, later, { route: [] }]) {
      const text = editText(genuine, changes);
      expect(readRowText(text)).toEqual({ ...parseRowText(genuine), canonical: true });
      expect(LAYOUT.test(text)).toBe(true);
    }
    const usage = { cacheRead: 0, cacheWrite1h: 0, cacheWrite5m: 0, input: 1, output: 2, reasoning: 0 };
    for (const changes of [
      { service_tier: 'priority' },
      { units: { images: 2 } },
      { units: { calls: 1, seconds: 7 } },
      { usage: { ...usage, inputAudio: 3, outputImage: 4 } },
      {
        usage: { ...usage, cacheReadAudio: 3, inputImage: 5, outputAudio: 4 },
        units: { pages: 1 },
        service_tier: 'flex',
      },
    ]) {
      const text = editText(genuine, changes);
      expect([text, LAYOUT.test(text)]).toEqual([text, true]);
      expect(readRowText(text)).toEqual({ ...parseRowText(genuine), canonical: true });
    }
    for (const units of ['{}', '{"seconds":1,"pages":1}', '{,"pages":1}', '{"pages":1,}', '{"pages":1"searches":2}']) {
      expect(LAYOUT.test(editText(genuine, { units: { pages: 9 } }).replace('{"pages":9}', units))).toBe(false);
    }
    // In their places only.
    expect(LAYOUT.test(genuine.replace('"sequence"', '"shadow":[],"sequence"'))).toBe(false);
  });

  test('says the same as parsing, of rows with anything in them', () => {
    fc.assert(
      fc.property(edit, (changes) => {
        const text = editText(genuine, changes);
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
