import type { Difference } from '#/call/facts.ts';
import type { ResolvedPolicy } from '#/config/snapshot.ts';
import { categoryOf } from '#/inspect/terms/terms.ts';
import { imagesRule, unreadableReason } from '#/inspect/unreadable.ts';

/** How a call went under the policy in force. */
export interface CallFacts {
  /** Category -> number of findings. */
  readonly findings: Readonly<Record<string, number>>;
  /** Labels of terms that the request itself asked to remove: no policy decides about them. */
  readonly removed: readonly string[];
  readonly unscanned: readonly string[];
  /** How long the provider took, to the whole answer, or for a stream to its beginning; undefined when none was asked. */
  readonly answeredInMs: number | undefined;
  /** It was aborted because it took too long. */
  readonly timedOut: boolean;
  /** `x-gw-upstream-timeout` in seconds, where the client sent one. */
  readonly askedSeconds: number | undefined;
}

/** What data protection and time limits would have done otherwise, on the findings there are. Routing is compared where it is decided. */
export function shadowDifferences(
  enforced: ResolvedPolicy,
  shadow: ResolvedPolicy,
  facts: CallFacts,
): readonly Difference[] {
  return [...dlpDifferences(enforced.dlp, shadow.dlp, facts), ...timeoutDifferences(enforced, shadow, facts)];
}

type Dlp = ResolvedPolicy['dlp'];

const BECOMES: Readonly<Record<Dlp['mode'], string>> = {
  allow_log: 'let through',
  tokenize: 'tokenized',
  mask: 'masked',
  block: 'refused',
};

function dlpDifferences(enforced: Dlp, shadow: Dlp, facts: CallFacts): readonly Difference[] {
  const differences: Difference[] = [];
  const audible = facts.unscanned.includes('audio');
  const [now, then] = [enforced, shadow].map((dlp) => (audible ? unreadableReason('audio', dlp, 'form') : undefined));
  if (now !== then) {
    const text = then === undefined ? `the call would not be refused: ${now}` : `the call would be refused: ${then}`;
    differences.push({ field: 'dlp.documents', text });
  }
  const [is, would] = [fateOfFiles(enforced), fateOfFiles(shadow)];
  if (facts.unscanned.includes('file') && is !== would)
    differences.push({ field: 'dlp.documents', text: `attached documents would ${would}, not ${is}` });
  const fates = [enforced, shadow].map(fateOfPictures);
  if (facts.unscanned.includes('image') && fates[0] !== fates[1])
    differences.push({
      field: enforced.documents === shadow.documents ? 'dlp.images' : 'dlp.documents',
      text: `images would ${fates[1]}, not ${fates[0]}`,
    });
  const own = new Set(facts.removed.map(categoryOf));
  for (const [category, count] of Object.entries(facts.findings)) {
    if (own.has(category)) continue;
    // A narrower list of entities finds less; a wider one was not looked for, so nothing is known of it.
    const mode = looksFor(shadow, category) ? shadow.mode : 'allow_log';
    if (mode === enforced.mode) continue;
    const text = `${category} ${count} would be ${BECOMES[mode]}, not ${BECOMES[enforced.mode]}`;
    differences.push({ field: 'dlp.mode', text });
  }
  return differences;
}

/** What happens to an attached document that was not inspected. // ADR 0024 */
function fateOfFiles({ mode, documents }: Pick<Dlp, 'mode' | 'documents'>): string {
  if (documents === 'refuse') return 'be refused';
  if (documents === 'anonymize') return 'be anonymized, or refused where they cannot be';
  return mode === 'allow_log' ? 'leave unscanned' : 'be sent as inspected text, or refused where they cannot be';
}

/** Pictures leave where neither they nor documents are looked into. */
function fateOfPictures(dlp: Dlp): string {
  const rule = imagesRule(dlp);
  if (rule === 'refuse') return 'be refused';
  if (dlp.documents === 'off' && rule === 'inspect') return fateOfFiles({ mode: 'allow_log', documents: 'anonymize' });
  return fateOfFiles({ mode: 'allow_log', documents: dlp.documents });
}

function looksFor({ entities, customTerms }: Dlp, category: string): boolean {
  return (entities?.has(category) ?? true) || customTerms.some(({ label }) => categoryOf(label) === category);
}

function timeoutDifferences(
  { answerTimeoutSeconds: now }: ResolvedPolicy,
  { answerTimeoutSeconds: then }: ResolvedPolicy,
  { answeredInMs, timedOut, askedSeconds = Infinity }: CallFacts,
): readonly Difference[] {
  const field = 'answerTimeoutSeconds';
  if (now === then) return [];
  if (askedSeconds <= now && askedSeconds > then) {
    return [{ field, text: `x-gw-upstream-timeout of ${askedSeconds} s would be cut to ${then} s` }];
  }
  if (timedOut) {
    return then > now && askedSeconds > now ? [{ field, text: `would have waited ${then} s, not ${now} s` }] : [];
  }
  if (answeredInMs === undefined || answeredInMs <= then * 1000) return [];
  return [{ field, text: `would have timed out after ${then} s: the answer took ${Math.ceil(answeredInMs / 1000)} s` }];
}
