import { calendarDays } from '#/values/calendar-day.ts';

/** A calendar period: its id, and the instants (milliseconds since the epoch) from which and until which it lasts. */
export interface Span {
  readonly id: string;
  readonly from: number;
  readonly until: number;
}

const DAY_MS = 86_400_000;
const MOST_DAYS = 3_700;

/**
 * The day and the month that `now` falls in, in an IANA time zone. Worked out here and not by the database, whose time zone
 * data is seldom of the same year as the gateway's: the two would name different days for an hour around midnight.
 * Throws RangeError for an unknown zone.
 */
export function localPeriods(now: number, timeZone: string): { readonly day: Span; readonly month: Span } {
  const dayAt = calendarDays(timeZone);
  const monthAt = (instant: number): string => dayAt(instant).slice(0, 7);
  return { day: spanAt(now, dayAt, 3 * DAY_MS), month: spanAt(now, monthAt, 34 * DAY_MS) };
}

/**
 * The days from `from` to `to` (`2026-11-21`), both included, in an IANA time zone: in order and without gaps. Throws
 * RangeError for an unknown zone, an invalid day, and a `to` before `from`.
 */
export function localDays(from: string, to: string, timeZone: string): readonly Span[] {
  const dayAt = calendarDays(timeZone);
  const noon = Date.parse(`${from}T12:00:00Z`);
  const end = Date.parse(`${to}T12:00:00Z`);
  if (!isDay(from) || !isDay(to)) throw new RangeError('a day must be written as 2026-11-21');
  if (!(noon <= end && end - noon <= MOST_DAYS * DAY_MS))
    throw new RangeError(`the last day must not be before the first, nor more than ${MOST_DAYS} days after it`);
  const days: Span[] = [];
  let start = firstWhere((instant) => dayAt(instant) >= from, noon - 3 * DAY_MS, noon + 3 * DAY_MS);
  for (let id = dayAt(start); id <= to; id = dayAt(start)) {
    // Most days have 24 hours.
    const next = start + DAY_MS;
    const ordinary = dayAt(next - 1) === id && dayAt(next) > id;
    const until = ordinary ? next : firstWhere((instant) => dayAt(instant) > id, start, start + 3 * DAY_MS);
    days.push({ id, from: start, until });
    start = until;
  }
  return days;
}

/** Whether it names a day of the calendar. */
function isDay(text: string): boolean {
  const at = Date.parse(`${text}T12:00:00Z`);
  return /^\d{4}-\d\d-\d\d$/.test(text) && !Number.isNaN(at) && new Date(at).toISOString().startsWith(text);
}

/** The span of equal ids around `now`; ids grow with time, and none lasts as long as `reach`. */
function spanAt(now: number, idAt: (instant: number) => string, reach: number): Span {
  const id = idAt(now);
  const from = firstWhere((instant) => idAt(instant) >= id, now - reach, now);
  const until = firstWhere((instant) => idAt(instant) > id, now, now + reach);
  return { id, from, until };
}

/** The first instant after `before`, where the test fails, up to `after`, where it holds. */
function firstWhere(holds: (instant: number) => boolean, before: number, after: number): number {
  let low = before;
  let high = after;
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (holds(middle)) high = middle;
    else low = middle;
  }
  return high;
}
