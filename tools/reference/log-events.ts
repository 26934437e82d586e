import { LOG_EVENTS, type LogEvent } from '../../src/telemetry/log-events.ts';
import { page, table } from './page.ts';

/** Every event of the logs. */
export function logEventsPage(): string {
  const events = Object.entries<LogEvent>(LOG_EVENTS);
  const rows = events.map(([name, { levels, by, facts, meaning }]) => [
    `\`${name}\``,
    levels.join(', '),
    by.join(', '),
    facts.map((fact) => `\`${fact}\``).join(', '),
    meaning,
  ]);
  return page(
    'Log events',
    'src/telemetry/log-events.ts',
    'Programs log JSON lines on stdout. Each has `level`, `time`, `event` and the members below. Logs hold no content and no ' +
      'credentials; `err` is the type, code and place of an error without its text. `LOG_LEVEL` sets the least severe level.',
    table(['event', 'level', 'program', 'members', 'meaning'], rows),
  );
}
