import type { RestorePolicy } from '#/config/snapshot.ts';
import { Conversation } from '#/inspect/restore/conversation.ts';
import { Restoration } from '#/inspect/restore/restoration.ts';
import type { TagTable } from '#/inspect/tags.ts';
import { chatCodec } from '#/wire/chat/codec.ts';
import { readDocument } from '#/wire/document/document.ts';

/** Restoring an answer to a chat request that says these messages. */
export function restorationOf(
  tags: TagTable,
  { messages = [], policy }: { readonly messages?: readonly object[]; readonly policy?: RestorePolicy } = {},
): Restoration {
  const document = readDocument('chat', JSON.stringify({ messages }));
  return new Restoration(
    tags,
    new Conversation(
      () => document,
      () => chatCodec.speakers!(document),
    ),
    policy,
  );
}
