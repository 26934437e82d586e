import type { Incoming, ProviderFailure } from '#/ports/provider.ts';
import { isObject, type Json, type JsonObject } from '#/wire/document/json.ts';

/** Most of a provider's own words that travel on, in UTF-16 code units. */
const MAX_MESSAGE = 2000;
/** Longer waits than this are no hint but a mistake. */
const MAX_WAIT_MS = 24 * 3600 * 1000;

/** Kinds of failure that no waiting helps against. */
const HOPELESS = new Set(['insufficient_quota', 'billing_not_active', 'billing_hard_limit_reached']);

type Head = Pick<Incoming, 'status' | 'header'>;

/**
 * Reads the head and body of an answer that is an error, in the shapes of OpenAI, Anthropic, Mistral, xAI, Google and
 * the proxies in front of them. // wire-formats 1.2
 */
export function readFailure(incoming: Head, body: string): ProviderFailure {
  const error = errorOf(parse(body));
  const head: Head = { status: incoming.status, header: (name) => incoming.header(name) };
  return {
    message: messageOf(error)?.slice(0, MAX_MESSAGE),
    retryAfterMs: waitOf(head, error),
    retryable: retryableOf(head, error),
    status: undefined,
  };
}

function parse(body: string): Json | undefined {
  try {
    return JSON.parse(body) as Json;
  } catch {
    return undefined;
  }
}

/** The object that describes the error: `error`, or the body itself. Google may send a list with one of them. */
function errorOf(body: Json | undefined): JsonObject {
  const one = Array.isArray(body) ? (body as readonly Json[])[0] : body;
  if (!isObject(one)) return {};
  if (isObject(one['error'])) return one['error'];
  return one;
}

function messageOf(error: JsonObject): string | undefined {
  for (const candidate of [error['message'], error['error'], error['detail']]) {
    const words = wordsOf(candidate);
    if (words !== undefined && words !== '') return words;
  }
  return undefined;
}

/** A text; a list of faults by member; or an object with one of both. */
function wordsOf(value: Json | undefined): string | undefined {
  if (typeof value === 'string') return value;
  if (Array.isArray(value)) {
    const items = (value as readonly Json[]).slice(0, 10).flatMap((item) => complaintOf(item) ?? []);
    return items.length > 0 ? items.join('; ') : undefined;
  }
  if (!isObject(value)) return undefined;
  return typeof value['message'] === 'string' ? value['message'] : wordsOf(value['detail'] ?? undefined);
}

/** One of a list of complaints: `{loc: ["body", "seed"], msg: "…"}`. Never the input it complains about. */
function complaintOf(item: Json): string | undefined {
  if (typeof item === 'string') return item;
  if (!isObject(item) || typeof item['msg'] !== 'string') return undefined;
  const { loc } = item;
  const path = Array.isArray(loc) ? (loc as readonly Json[]).filter((step) => typeof step !== 'object') : [];
  return path.length > 0 ? `${path.join('.')}: ${item['msg']}` : item['msg'];
}

function retryableOf({ header }: Head, error: JsonObject): boolean | undefined {
  const told = header('x-should-retry');
  if (told === 'true' || told === 'false') return told === 'true';
  for (const kind of [error['code'], error['type']]) if (typeof kind === 'string' && HOPELESS.has(kind)) return false;
  return detailsOf(error).some(namesDailyQuota) ? false : undefined;
}

/** How long the provider asks us to wait: what it says outright, else when the limit that was hit starts afresh. */
function waitOf({ status, header }: Head, error: JsonObject): number | undefined {
  const precise = Number(header('retry-after-ms') ?? Number.NaN);
  if (precise > 0 && precise <= MAX_WAIT_MS) return precise;
  const told = waitOfHeader(header('retry-after')) ?? retryInfo(error);
  if (told !== undefined) return Math.min(told, MAX_WAIT_MS);
  return status === 429 ? limitReset(header) : undefined;
}

function waitOfHeader(value: string | undefined): number | undefined {
  if (value === undefined || value.trim() === '') return undefined;
  const seconds = Number(value);
  if (Number.isFinite(seconds)) return Math.max(0, seconds * 1000);
  const date = Date.parse(value);
  return Number.isNaN(date) ? undefined : Math.max(0, date - Date.now());
}

/** The reset of the limits that are used up; of all, where none says so. */
function limitReset(header: Head['header']): number | undefined {
  const limits = ['requests', 'tokens'].flatMap((name) => {
    const wait = durationMs(header(`x-ratelimit-reset-${name}`));
    return wait === undefined ? [] : { wait, spent: header(`x-ratelimit-remaining-${name}`)?.trim() === '0' };
  });
  const spent = limits.filter((limit) => limit.spent);
  const waits = (spent.length > 0 ? spent : limits).map(({ wait }) => wait);
  return waits.length > 0 ? Math.min(Math.max(...waits), MAX_WAIT_MS) : undefined;
}

const DURATION =
  /^(?:(\d{1,9})d)?(?:(\d{1,9})h)?(?:(\d{1,9})m(?!s))?(?:(\d{1,9}(?:\.\d{1,9})?)s)?(?:(\d{1,9}(?:\.\d{1,9})?)ms)?$/;
const UNITS_MS = [86_400_000, 3_600_000, 60_000, 1000, 1];

/** Milliseconds of `6m0s`, `12ms`, `1h2m3.5s` or plain seconds. */
function durationMs(text: string | undefined): number | undefined {
  if (text === undefined || text.length > 40) return undefined;
  if (/^\d{1,9}(?:\.\d{1,9})?$/.test(text)) return Number(text) * 1000;
  const [, ...parts] = DURATION.exec(text) ?? [];
  if (parts.every((part) => part === undefined)) return undefined;
  return parts.reduce((sum, part, index) => sum + Number(part ?? 0) * UNITS_MS[index]!, 0);
}

function detailsOf(error: JsonObject): readonly JsonObject[] {
  return Array.isArray(error['details']) ? (error['details'] as readonly Json[]).filter(isObject) : [];
}

function isDetail(detail: JsonObject, name: string): boolean {
  return typeof detail['@type'] === 'string' && detail['@type'].endsWith(`.${name}`);
}

/** Google tells the wait in the body: `"retryDelay": "45.837906927s"`. */
function retryInfo(error: JsonObject): number | undefined {
  const info = detailsOf(error).find((detail) => isDetail(detail, 'RetryInfo'));
  const delay = info?.['retryDelay'];
  return typeof delay === 'string' ? durationMs(delay) : undefined;
}

/** A quota of the day is not there again within any call's patience. */
function namesDailyQuota(detail: JsonObject): boolean {
  if (!isDetail(detail, 'QuotaFailure') || !Array.isArray(detail['violations'])) return false;
  return (detail['violations'] as readonly Json[]).some(
    (violation) =>
      isObject(violation) && typeof violation['quotaId'] === 'string' && /PerDay/i.test(violation['quotaId']),
  );
}
