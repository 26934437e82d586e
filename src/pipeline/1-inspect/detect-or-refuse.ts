import type { ResolvedPolicy } from '#config/snapshot.ts';
import { GatewayError } from '#errors/gateway-error.ts';
import { NAME_CATEGORIES, NamesUnavailable } from './detect-names.ts';
import { DetectionUnavailable } from './detect-worker.ts';
import type { Detection, Span } from './detector.ts';

/** What was found in texts, and what nobody looked for though policy wants it. */
export interface Detected {
  readonly spans: readonly (readonly Span[])[];
  /** `names`, as `x-gw-unscanned` tells it. */
  readonly missed: readonly string[];
}

/**
 * The kinds that policy wants looked for; undefined: all structured ones. Where it names none, names of people are among
 * them, unless nothing would come of them but a number.
 */
export function lookedFor(
  { entities, mode }: Pick<ResolvedPolicy['dlp'], 'entities' | 'mode'>,
  { byDefault }: Detection,
): ReadonlySet<string> | undefined {
  return entities ?? (mode === 'allow_log' ? undefined : byDefault);
}

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
  try {
    return { spans: await detection.find(texts, lookedFor(policy, detection)), missed: [] };
  } catch (cause) {
    const { entities, mode } = policy;
    if (cause instanceof NamesUnavailable && mode === 'allow_log') {
      const others = new Set([...(entities ?? [])].filter((category) => !NAME_CATEGORIES.has(category)));
      const { spans } = await detectOrRefuse(texts, { entities: others, mode }, detection, what);
      return { spans, missed: ['names'] };
    }
    throw notSearched(cause, `${what} could not be inspected; nothing was sent.`);
  }
}

/** `inspection_unavailable`, where that is why; what is wrong for another reason, or was given up, stays what it is. */
export function notSearched(cause: unknown, message: string): unknown {
  if (!(cause instanceof NamesUnavailable || cause instanceof DetectionUnavailable)) return cause;
  return new GatewayError('inspection_unavailable', message, {}, { cause });
}
