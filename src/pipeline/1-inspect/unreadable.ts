import type { ResolvedPolicy } from '#config/snapshot.ts';

/**
 * What keeps content that nobody can read from leaving under a policy; undefined where nothing does. `kinds`: those of
 * `Media`. // spec 4.3.5
 */
export function unreadableReason(kinds: readonly string[], policy: ResolvedPolicy['dlp']): string | undefined {
  if (policy.mode === 'block' && kinds.includes('audio')) return 'audio cannot be scanned';
  const documentsPass = policy.mode === 'allow_log' && policy.documents === 'off';
  if (!documentsPass && kinds.includes('file')) return 'an attached document cannot be scanned';
  // A picture may be that of a document.
  return policy.documents !== 'off' && kinds.includes('image') ? 'a picture cannot be scanned' : undefined;
}
