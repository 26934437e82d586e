/**
 * Names the calendar day (`2026-11-21`) of an instant (milliseconds since the epoch) in an IANA time zone. The ledger's
 * totals and the limits both use it, so that no database's time zone data decides a day. Throws RangeError for an unknown
 * zone.
 */
export function calendarDays(timeZone: string): (instant: number) => string {
  const format = new Intl.DateTimeFormat('en', {
    timeZone,
    calendar: 'gregory',
    numberingSystem: 'latn',
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
  });
  return (instant) => {
    const parts = format.formatToParts(instant);
    const part = (type: Intl.DateTimeFormatPartTypes): string => parts.find((each) => each.type === type)!.value;
    return `${part('year').padStart(4, '0')}-${part('month')}-${part('day')}`;
  };
}
