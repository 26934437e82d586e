import type { Opening } from '#/call/call.ts';

/** What a client asks of the response cache: `no-cache`: a fresh answer, which may be kept; `no-store`: nothing of the call. */
export function cacheControl({ headers }: Pick<Opening, 'headers'>): 'no-cache' | 'no-store' | undefined {
  const header = headers['cache-control'];
  if (header === undefined) return undefined;
  const asked = new Set(
    [header]
      .flat()
      .join(',')
      .toLowerCase()
      .split(',')
      .map((word) => word.trim()),
  );
  return asked.has('no-store') ? 'no-store' : asked.has('no-cache') ? 'no-cache' : undefined;
}
