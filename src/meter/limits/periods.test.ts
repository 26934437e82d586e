import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { periodEnd, periodsAt } from './periods.ts';

const at = (iso: string) => Date.parse(iso);

describe('periodsAt', () => {
  test.each([
    ['UTC', '2026-11-30T23:59:59.999Z', '2026-11-30', '2026-11'],
    ['UTC', '2026-12-01T00:00:00.000Z', '2026-12-01', '2026-12'],
    ['Europe/Berlin', '2026-11-30T22:59:59.999Z', '2026-11-30', '2026-11'],
    ['Europe/Berlin', '2026-11-30T23:00:00.000Z', '2026-12-01', '2026-12'],
    ['Asia/Kathmandu', '2026-01-31T18:14:59.999Z', '2026-01-31', '2026-01'],
    ['Asia/Kathmandu', '2026-01-31T18:15:00.000Z', '2026-02-01', '2026-02'],
    ['Pacific/Kiritimati', '2026-12-31T10:00:00.000Z', '2027-01-01', '2027-01'],
    ['Pacific/Chatham', '2026-04-04T11:14:59.999Z', '2026-04-05', '2026-04'],
    // 30 December 2011 did not happen in Samoa.
    ['Pacific/Apia', '2011-12-30T09:59:59.999Z', '2011-12-29', '2011-12'],
    ['Pacific/Apia', '2011-12-30T10:00:00.000Z', '2011-12-31', '2011-12'],
    // Clocks went back from midnight to 23:00: Saturday had 25 hours.
    ['America/Sao_Paulo', '2018-02-18T02:30:00.000Z', '2018-02-17', '2018-02'],
    ['America/Sao_Paulo', '2018-02-18T03:00:00.000Z', '2018-02-18', '2018-02'],
    ['UTC', '0099-05-06T00:00:00.000Z', '0099-05-06', '0099-05'],
  ])('%s at %s is %s', (zone, instant, day, month) => {
    expect(periodsAt(at(instant), zone)).toEqual({ day, month });
  });

  test('does not depend on what was asked before', () => {
    const zones = ['UTC', 'Europe/Berlin', 'Asia/Kathmandu', 'America/Havana', 'Australia/Lord_Howe'];
    const instant = fc.integer({ min: at('1960-01-01'), max: at('2050-01-01') });
    const near = fc.tuple(instant, fc.integer({ min: -3, max: 3 }), fc.constantFrom(...zones));
    fc.assert(
      fc.property(fc.array(near, { minLength: 2, maxLength: 20 }), (asked) => {
        for (const [base, step, zone] of asked) {
          const now = base + step * 60_000;
          const text = new Intl.DateTimeFormat('sv-SE', { timeZone: zone, dateStyle: 'short' }).format(now);
          expect(periodsAt(now, zone)).toEqual({ day: text, month: text.slice(0, 7) });
        }
      }),
    );
  });

  test('keeps answering when more zones were asked for than it remembers', () => {
    const names = Array.from({ length: 1_500 }, (_, index) => {
      // Every spelling is a name of its own.
      const bits = index.toString(2).padStart(13, '0');
      return 'europe/berlin'
        .split('')
        .map((c, i) => (bits[i] === '1' ? c.toUpperCase() : c))
        .join('');
    });
    for (const name of names) expect(periodsAt(at('2026-11-30T23:00:00Z'), name).day).toBe('2026-12-01');
  });

  test('refuses a zone that does not exist', () => {
    expect(() => periodsAt(0, 'Mars/Olympus')).toThrow(RangeError);
  });
});

describe('periodEnd', () => {
  test.each([
    ['UTC', '2026-11-30T23:59:59.999Z', 'daily', '2026-12-01T00:00:00.000Z'],
    ['UTC', '2026-12-01T00:00:00.000Z', 'monthly', '2027-01-01T00:00:00.000Z'],
    ['Europe/Berlin', '2026-11-30T22:59:59.999Z', 'monthly', '2026-11-30T23:00:00.000Z'],
    ['Asia/Kathmandu', '2026-01-01T00:00:00.000Z', 'monthly', '2026-01-31T18:15:00.000Z'],
    // A day of 25 hours.
    ['America/Sao_Paulo', '2018-02-17T03:00:00.000Z', 'daily', '2018-02-18T03:00:00.000Z'],
  ] as const)('in %s of %s, %s, is %s', (zone, now, period, end) => {
    expect(new Date(periodEnd(at(now), zone, period)!).toISOString()).toBe(end);
  });

  test('the period of all time has no end', () => {
    expect(periodEnd(at('2026-11-30T23:59:59.999Z'), 'UTC', 'total')).toBeUndefined();
  });
});
