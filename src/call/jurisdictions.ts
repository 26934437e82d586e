/** What is known of where a call went. */
interface Whereabouts {
  readonly attempts: readonly { readonly sent?: boolean; readonly jurisdiction?: string }[];
  readonly cacheHit: string;
  readonly target: { readonly jurisdiction: string } | undefined;
}

/** Where a call's prompt went; what this gateway does itself it does without attempts. */
export function jurisdictionOf({ attempts, cacheHit, target }: Whereabouts): string | null {
  if (attempts.length === 0) return cacheHit === 'none' ? (target?.jurisdiction ?? null) : null;
  if (attempts.length === 1) return attempts[0]!.sent === false ? null : (attempts[0]!.jurisdiction ?? null);
  return jurisdictionsOf(attempts.flatMap((one) => (one.sent === false ? [] : (one.jurisdiction ?? []))));
}

/** Jurisdictions as a row tells them: each once, in alphabetical order, with commas between. */
export function jurisdictionsOf(all: readonly string[]): string | null {
  if (all.length < 2) return all[0] ?? null;
  return [...new Set(all)].toSorted().join(',');
}
