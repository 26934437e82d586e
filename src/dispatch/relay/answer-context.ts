import type { Call } from '#/call/call.ts';
import type { Candidate } from '#/call/target.ts';
import type { Inspection } from '#/inspect/inspect.ts';
import { Conversation } from '#/inspect/restore/conversation.ts';
import { Restoration } from '#/inspect/restore/restoration.ts';
import type { UsageBounds } from '#/meter/usage-bounds.ts';
import type { AnswerContext } from '#/wire/hub/codec.ts';

/** What the answer to a call is written with in another family. */
export function contextOf(call: Call, { model }: Candidate, bounds: UsageBounds): AnswerContext {
  return {
    callId: call.id,
    model,
    createdAt: Math.floor(call.startedAt / 1000),
    request: call.document,
    includeUsage: call.ask.includeUsage,
    estimatedInput: bounds.estimatedInput,
  };
}

/** What may be put back into the answer to a call. */
export function restorationFor({ codec, document, key }: Call, { tags }: Pick<Inspection, 'tags'>): Restoration {
  const conversation = new Conversation(document, () => codec.speakers?.(document) ?? []);
  return new Restoration(tags, conversation, key.workload.policy.dlp.restore);
}
