import { Conversation } from '#/inspect/restore/conversation.ts';
import type { Inspection } from '#/inspect/inspect.ts';
import { Restoration } from '#/inspect/restore/restoration.ts';
import type { Call } from '#/call/call.ts';
import type { AnswerMeter } from './answer-meter.ts';

/** What may be put back into the answer to a call. */
export function restorationFor({ codec, document, key }: Call, { tags }: Pick<Inspection, 'tags'>): Restoration {
  const conversation = new Conversation(document, () => codec.speakers?.(document) ?? []);
  return new Restoration(tags, conversation, key.workload.policy.dlp.restore);
}

/** Names tags that stayed, since what they stand for was not to go where they stand. */
export function noteWithheld({ withheld }: Restoration, meter: AnswerMeter): void {
  if (withheld) meter.lose('restore');
}
