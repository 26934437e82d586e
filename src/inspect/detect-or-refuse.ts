import type { ResolvedPolicy } from '#/config/snapshot.ts';
import { GatewayError } from '#/errors/gateway-error.ts';
import { NAME_CATEGORIES, NAMES, NamesUnavailable } from './names/detect-names.ts';
import type { Detection, Span } from './detectors/detector.ts';
import { mayHoldName } from './names/name-search.ts';
import { DetectionUnavailable, SearchTooLarge } from './search/search-errors.ts';

/** What was found in texts, and what nobody looked for though policy wants it. */
export interface Detected {
  readonly spans: readonly (readonly Span[])[];
  /** As `x-gw-unscanned` tells it. */
  readonly missed: readonly string[];
}

/**
 * The kinds that policy wants looked for; undefined: all structured ones. Where it names none, names of people are among
 * them, unless nothing would come of them but a number.
 */
export function lookedFor(
  { entities, mode }: Pick<ResolvedPolicy['dlp'], 'entities' | 'mode'>,
  { byDefault }: Pick<Detection, 'byDefault'>,
): ReadonlySet<string> | undefined {
  return entities ?? (mode === 'allow_log' ? undefined : byDefault);
}

/**
 * What a policy that names no kinds leaves out in these texts: names, where there is no model of them or nothing would come
 * of them but a number. A policy that names kinds has what it names looked for, or refuses. // spec 4.3.5
 */
export function leftOut(
  texts: readonly string[],
  { entities }: Pick<ResolvedPolicy['dlp'], 'entities'>,
  kinds: ReadonlySet<string> | undefined,
): readonly string[] {
  if (entities !== undefined || kinds?.has('PERSON_NAME') === true) return NOTHING;
  return texts.some(mayHoldName) ? LEFT_OUT : NOTHING;
}

const NOTHING: readonly string[] = [];
const LEFT_OUT: readonly string[] = [NAMES];

/**
 * Finds in texts what policy wants found. Where names cannot be looked for, mode `allow_log` goes on without them, and says
 * so; otherwise, and where nothing could be searched, it throws `inspection_unavailable`. `what`: whose texts they are.
 */
export async function detectOrRefuse(
  texts: readonly string[],
  policy: Pick<ResolvedPolicy['dlp'], 'entities' | 'mode'>,
  detection: Detection,
  what = 'The request',
): Promise<Detected> {
  const kinds = lookedFor(policy, detection);
  try {
    return { spans: await detection.find(texts, kinds), missed: leftOut(texts, policy, kinds) };
  } catch (cause) {
    const { entities, mode } = policy;
    if (cause instanceof NamesUnavailable && mode === 'allow_log') {
      const others = new Set([...(entities ?? [])].filter((category) => !NAME_CATEGORIES.has(category)));
      const { spans } = await detectOrRefuse(texts, { entities: others, mode }, detection, what);
      return { spans, missed: LEFT_OUT };
    }
    throw notSearched(cause, `${what} could not be inspected. Nothing was sent.`);
  }
}

/**
 * `inspection_unavailable` where it may go better another time, `request_too_large` where it may not; what is wrong for
 * another reason, or was given up, stays what it is.
 */
export function notSearched(cause: unknown, message: string): unknown {
  if (cause instanceof SearchTooLarge) {
    const why = `${message} ${capitalized(cause.message)}: send less text in one request.`;
    return new GatewayError('request_too_large', why, {}, { cause });
  }
  if (!(cause instanceof NamesUnavailable || cause instanceof DetectionUnavailable)) return cause;
  if (!(cause instanceof NamesUnavailable) || !cause.isForGood) {
    return new GatewayError('inspection_unavailable', message, {}, { cause });
  }
  const why = `${message} ${capitalized(cause.message)}: remove the kinds of names from dlp.entities in the policy.`;
  return new GatewayError('inspection_unavailable', why, { shouldRetry: false }, { cause });
}

function capitalized(sentence: string): string {
  return `${sentence.charAt(0).toUpperCase()}${sentence.slice(1)}`;
}
