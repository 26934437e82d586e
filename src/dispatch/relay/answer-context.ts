import type { Call } from '#/call/call.ts';
import type { Candidate } from '#/call/target.ts';
import type { Inspection } from '#/inspect/inspect.ts';
import { Conversation } from '#/inspect/restore/conversation.ts';
import { KeptRequest, READ_AGAIN_UP_TO, type ReadAgain } from '#/inspect/restore/kept-request.ts';
import { Restoration } from '#/inspect/restore/restoration.ts';
import type { TagTable } from '#/inspect/tags.ts';
import type { UsageBounds } from '#/meter/usage-bounds.ts';
import type { Family, WireDocument } from '#/wire/document/document.ts';
import type { JsonObject } from '#/wire/document/json.ts';
import { isLarge } from '#/wire/document/large-text.ts';
import type { AnswerContext } from '#/wire/hub/codec.ts';

/** Members in which a request holds its conversation: no answer repeats them. */
const CONVERSATIONS: { readonly [F in Family]?: ReadonlySet<string> } = {
  chat: new Set(['messages']),
  messages: new Set(['messages', 'system']),
  responses: new Set(['input']),
  completions: new Set(['prompt', 'suffix']),
};

/** What the answer to a call is written with in another family. */
export function contextOf(
  { id, startedAt, codec, document, ask }: Call,
  { model }: Candidate,
  { estimatedInput }: UsageBounds,
): AnswerContext {
  return {
    callId: id,
    model,
    createdAt: Math.floor(startedAt / 1000),
    request: { body: settingsOf(document, codec.family) },
    includeUsage: ask.includeUsage,
    estimatedInput,
  };
}

function settingsOf({ text, body }: WireDocument, family: Family): JsonObject {
  const conversation = CONVERSATIONS[family];
  const entries = Object.entries(body).filter(([name]) => conversation?.has(name) !== true);
  const settings = Object.fromEntries(entries);
  // The strings of a large document are slices of its text and would hold all of it.
  return isLarge(text) ? (JSON.parse(JSON.stringify(settings)) as JsonObject) : settings;
}

/** Makes a `Restoration` for the answer to a call; undefined where the call has no tags. Keeps the request as a `KeptRequest`. */
export function restoringFor(call: Call, { tags }: Pick<Inspection, 'tags'>): (() => Restoration) | undefined {
  if (tags.size === 0) return undefined;
  const { family, text } = call.document;
  // A buffered answer is about to end.
  if (!call.ask.stream) return restoring(tags, text.length > READ_AGAIN_UP_TO ? call.document : { family, text }, call);
  const kept = new KeptRequest(call.document);
  kept.pack();
  return restoring(tags, kept, call);
}

/** A function of its own: a closure within `restoringFor` would hold the call. */
function restoring(
  tags: TagTable,
  kept: KeptRequest | ReadAgain,
  { codec, key }: Pick<Call, 'codec' | 'key'>,
): () => Restoration {
  const { restore } = key.workload.policy.dlp;
  return () => {
    const request = kept instanceof KeptRequest ? kept : new KeptRequest(kept);
    const conversation = new Conversation(
      () => request.read(),
      (document) => codec.speakers?.(document) ?? [],
    );
    return new Restoration(tags, conversation, restore);
  };
}
