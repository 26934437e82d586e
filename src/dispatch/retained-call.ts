import type { Inspection } from '#/inspect/inspect.ts';
import type { Call, CallContext } from '#/call/call.ts';
import type { CallContent, ContentDraft } from '#/seal/content/content-writer.ts';
import type { CacheHit } from './cache/recalled.ts';
import type { Candidate } from '#/call/target.ts';
import { beginningOf, MOST_RECORDED } from './cache/recorded.ts';

const DAY_MS = 86_400_000;

/**
 * Retained content of a call that was sent to a provider: the request and the values of its tags; its answer comes later.
 * One that was answered from the cache keeps its tags, and the id of the call that has the rest.
 */
export function retained(
  call: Call,
  { tags }: Inspection,
  { provider, model, family, body }: Candidate,
  hit: CacheHit | undefined,
): CallContent {
  const truncated: CallContent['truncated'][number][] = [];
  if (!hit && body.length > MOST_RECORDED) truncated.push('request');
  return {
    v: 1,
    surface: call.surface,
    wire_format: family,
    provider: provider.config.slug,
    model,
    stream: call.ask.stream,
    same_as: hit?.callId ?? null,
    request: hit ? '' : beginningOf(body),
    answer: '',
    tags: tags.originals,
    truncated,
  };
}

/** Content to be kept of a call for as long as its workload's policy says. */
export function keptOf({ id, startedAt, key }: CallContext, content: CallContent): ContentDraft {
  const { organization, policy } = key.workload;
  const expiresAt = startedAt + policy.contentRetentionDays * DAY_MS;
  return { callId: id, organization: organization.id, expiresAt, content };
}

/** The same with its answer. */
export function withAnswer(draft: ContentDraft, answer: Buffer): ContentDraft {
  const { content } = draft;
  const truncated = answer.length >= MOST_RECORDED ? [...content.truncated, 'answer' as const] : content.truncated;
  return { ...draft, content: { ...content, answer: answer.toString('utf8'), truncated } };
}
