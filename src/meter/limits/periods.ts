import type { Periods } from '#/ports/limit-counters.ts';
import { calendarDays } from '#/values/calendar-day.ts';

interface Zone {
  readonly dayAt: (instant: number) => string;
  /** Number of the quarter of an hour that `periods` was worked out for. */
  quarter: number;
  periods: Periods;
}

const QUARTER_MS = 15 * 60 * 1000;
/** Since then every zone's offset is whole quarters of an hour, so a local day never changes inside one. */
const WHOLE_QUARTERS_SINCE = Date.UTC(1973, 0) / QUARTER_MS;
const MAX_ZONES = 1_000;
const zones = new Map<string, Zone>();

/**
 * The calendar day and month that an instant (milliseconds since the epoch) falls in, in an IANA time zone.
 * Throws RangeError for an unknown zone.
 */
export function periodsAt(now: number, timeZone: string): Periods {
  const quarter = Math.floor(now / QUARTER_MS);
  let zone = zones.get(timeZone);
  if (zone?.quarter === quarter && quarter >= WHOLE_QUARTERS_SINCE) return zone.periods;
  if (!zone) {
    zone = { dayAt: calendarDays(timeZone), quarter, periods: { day: '', month: '' } };
    if (zones.size >= MAX_ZONES) zones.clear();
    zones.set(timeZone, zone);
  }
  zone.periods = periodsOn(zone.dayAt(now));
  zone.quarter = quarter;
  return zone.periods;
}

/** A month has no more quarters of an hour, whatever its clocks do. */
const MOST_QUARTERS = 33 * 24 * 4;

/** When the period ends that an instant falls in; undefined: it has no end. Throws RangeError for an unknown zone. */
export function periodEnd(now: number, timeZone: string, period: 'total' | 'daily' | 'monthly'): number | undefined {
  if (period === 'total') return undefined;
  const part = period === 'daily' ? 'day' : 'month';
  const current = periodsAt(now, timeZone)[part];
  const first = Math.floor(now / QUARTER_MS);
  let [within, beyond] = [0, MOST_QUARTERS];
  while (beyond - within > 1) {
    const middle = (within + beyond) >> 1;
    if (periodsAt((first + middle) * QUARTER_MS, timeZone)[part] === current) within = middle;
    else beyond = middle;
  }
  return (first + beyond) * QUARTER_MS;
}

function periodsOn(day: string): Periods {
  return { day, month: day.slice(0, 7) };
}
