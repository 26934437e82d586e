import type { Inspection } from '#inspect/inspect.ts';
import type { Call } from '#pipeline/call.ts';
import type { AuditRow } from '#seal/row.ts';
import type { CallContent, ContentDraft } from '#seal/content-writer.ts';
import type { Candidate } from './prepare.ts';
import { MOST_RECORDED } from './recorded.ts';

const DAY_MS = 86_400_000;

/** What is kept of a call that was sent to a provider, or answered from the cache. */
export function retained(
  call: Call,
  { tags }: Inspection,
  { provider, model, family, body }: Candidate,
  answer: Buffer | undefined,
  cacheHit: AuditRow['cache_hit'],
): ContentDraft {
  const { organization, policy } = call.key.workload;
  const truncated: CallContent['truncated'][number][] = [];
  if (body.length > MOST_RECORDED) truncated.push('request');
  if (answer && answer.length >= MOST_RECORDED) truncated.push('answer');
  return {
    callId: call.id,
    organization: organization.id,
    expiresAt: call.startedAt + policy.contentRetentionDays * DAY_MS,
    content: {
      v: 1,
      surface: call.surface,
      wire_format: family,
      provider: provider.config.slug,
      model,
      stream: call.ask.stream,
      cache_hit: cacheHit,
      request: body.slice(0, MOST_RECORDED),
      answer: answer?.toString('utf8') ?? '',
      tags: tags.originals,
      truncated,
    },
  };
}
