/** What a run is told by its environment; k6 has no other arguments. Faults end the run before its first call. */

/** A text; without it and without a default the run does not start. */
function text(name: string, fallback?: string): string {
  const value = __ENV[name] || fallback;
  if (value === undefined) throw new Error(`${name} is not set (test/load/README.md says what a run needs)`);
  return value;
}

/** A number from `least` on. */
export function number(name: string, fallback: number, least = 0): number {
  const value = Number(text(name, String(fallback)));
  if (!(value >= least)) throw new Error(`${name} must be a number from ${least} on, not ${text(name)}`);
  return value;
}

/** Several texts, separated by commas. */
function list(name: string): readonly string[] {
  const values = text(name)
    .split(',')
    .map((value) => value.trim())
    .filter((value) => value !== '');
  if (values.length === 0) throw new Error(`${name} is empty`);
  return values;
}

/** Addresses of the gateways, without a slash at the end; calls go to each in turn. */
export const GATEWAYS: readonly string[] = list('GW_URL').map((url) => url.replace(/\/+$/, ''));
/** Virtual keys; each is one client of the run. */
export const KEYS: readonly string[] = list('GW_KEY');
export const MODEL: string = text('GW_MODEL', 'sandbox/echo');
/** Seconds that a call may take; longer than the workload's answer timeout, so that the gateway speaks first. */
export const TIMEOUT: number = number('GW_TIMEOUT', 310, 1);
