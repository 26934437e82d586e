import execution from 'k6/execution';
import http from 'k6/http';
import type { Options, Scenario } from 'k6/options';
import { KEYS, number, TIMEOUT } from './settings.ts';

/** What a scenario of k6 runs for one client; the client's index is in its environment. */
interface Share {
  /** Calls a second, of all clients together. */
  readonly rate: number;
  /** Of the run. */
  readonly seconds: number;
  /** Name of the function that makes one call. */
  readonly exec: string;
}

/** Seconds that calls may take before the clients run out of virtual users to send the next ones in time. */
const SLOWEST = number('GW_SLOWEST', 30, 1);

/**
 * One scenario a client, each with its share of the calls, sent at a fixed rate whatever the answers take: who waits
 * for slow answers before it asks again would hide them. All virtual users are there from the start, as k6 leaves out
 * the calls for which it would have to make one.
 */
export function shares({ rate, seconds, exec }: Share): Record<string, Scenario> {
  const each = rate / KEYS.length;
  const users = Math.ceil(each * Math.min(seconds, SLOWEST)) + 2;
  const scenarios: Record<string, Scenario> = {};
  for (const client of KEYS.keys()) {
    scenarios[`client_${client}`] = {
      executor: 'constant-arrival-rate',
      exec,
      env: { GW_CLIENT: String(client) },
      // Whole calls a minute: k6 takes no fractions.
      rate: Math.max(1, Math.round(each * 60)),
      timeUnit: '60s',
      duration: `${seconds}s`,
      preAllocatedVUs: users,
      maxVUs: users,
      gracefulStop: `${TIMEOUT}s`,
    };
  }
  return scenarios;
}

/** The client whose scenario this is. */
export function thisClient(): number {
  return Number(__ENV['GW_CLIENT'] ?? 0);
}

/** The same thresholds for the whole run and, one by one, for every client. */
export function forEachClient(metric: string, conditions: string[], tags = ''): Record<string, string[]> {
  const thresholds: Record<string, string[]> = { [tags === '' ? metric : `${metric}{${tags}}`]: conditions };
  for (const client of KEYS.keys()) {
    const label = [`client:${client}`, ...(tags === '' ? [] : [tags])].join(',');
    thresholds[`${metric}{${label}}`] = conditions;
  }
  return thresholds;
}

/** One call of a function at this second of the run; nothing where there is no address to send to. */
export function at(seconds: number, name: string, url: string | undefined): Options['scenarios'] {
  if (!url) return {};
  return { [name]: { executor: 'per-vu-iterations', exec: name, startTime: `${seconds}s`, vus: 1, iterations: 1 } };
}

/** Has something done by whoever listens there; ends the run where that is refused. */
export function post(url: string | undefined): void {
  const { status } = http.post(url ?? '');
  if (status < 200 || status > 299) execution.test.abort(`${url} answered ${status}`);
}

/** Seconds since the run began. */
export function secondsIn(): number {
  return execution.instance.currentTestRunDuration / 1000;
}
