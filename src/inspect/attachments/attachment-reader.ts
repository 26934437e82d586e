import type { Desk } from './attached-file.ts';
import type { Call } from '#/call/call.ts';
import type { RecentDocuments } from './recent-documents.ts';

/**
 * Who looks into the files of a call; undefined where its family has none that are. What takes longer than the answer
 * may take is given up. `documents` undefined: documents are not processed in this installation.
 */
export function deskFor(
  { codec, signal, timeoutMs, key }: Call,
  documents: RecentDocuments | undefined,
): Desk | undefined {
  if (!('decodeRequest' in codec)) return undefined;
  const engine = documents?.of(key.workload.organization.id);
  return { engine, signal: () => AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]) };
}
