/** A calendar period: its id, and the instants (milliseconds since the epoch) from which and until which it lasts. */
export interface Span {
  readonly id: string;
  readonly from: number;
  readonly until: number;
}

const DAY_MS = 86_400_000;

/**
 * The day and the month that `now` falls in, in an IANA time zone. Worked out here and not by the database, whose time zone
 * data is seldom of the same year as the gateway's: the two would name different days for an hour around midnight.
 * Throws RangeError for an unknown zone.
 */
export function localPeriods(now: number, timeZone: string): { readonly day: Span; readonly month: Span } {
  const format = new Intl.DateTimeFormat('en', {
    timeZone,
    calendar: 'gregory',
    numberingSystem: 'latn',
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
  });
  const dayAt = (instant: number): string => dateText(format, instant);
  const monthAt = (instant: number): string => dateText(format, instant).slice(0, 7);
  return { day: spanAt(now, dayAt, 3 * DAY_MS), month: spanAt(now, monthAt, 34 * DAY_MS) };
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

function dateText(format: Intl.DateTimeFormat, instant: number): string {
  const parts = format.formatToParts(instant);
  const part = (type: Intl.DateTimeFormatPartTypes): string => parts.find((each) => each.type === type)!.value;
  return `${part('year').padStart(4, '0')}-${part('month')}-${part('day')}`;
}
