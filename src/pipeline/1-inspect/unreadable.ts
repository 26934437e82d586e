import type { ResolvedPolicy } from '#config/snapshot.ts';

/** Whether documents leave without anybody having looked into them. */
export function documentsPass({ mode, documents }: ResolvedPolicy['dlp']): boolean {
  return mode === 'allow_log' && documents === 'off';
}

/**
 * What keeps content that nobody can read from leaving under a policy; undefined where nothing does. `kinds`: those of
 * `Media`. // spec 4.3.5
 */
export function unreadableReason(kinds: readonly string[], policy: ResolvedPolicy['dlp']): string | undefined {
  if (policy.mode === 'block' && kinds.includes('audio')) return 'audio cannot be scanned';
  if (!documentsPass(policy) && kinds.includes('file')) return 'an attached document cannot be scanned';
  // A picture may be that of a document.
  return policy.documents !== 'off' && kinds.includes('image') ? 'a picture cannot be scanned' : undefined;
}
