import type { Call } from '#/call/call.ts';
import type { Candidate } from '#/call/target.ts';
import type { Inspection } from '#/inspect/inspect.ts';
import { Conversation } from '#/inspect/restore/conversation.ts';
import { KeptRequest, READ_AGAIN_UP_TO, type ReadAgain } from '#/inspect/restore/kept-request.ts';
import { Restoration } from '#/inspect/restore/restoration.ts';
import type { TagTable } from '#/inspect/tags.ts';
import type { UsageBounds } from '#/meter/usage-bounds.ts';
import { detached } from '#/wire/document/detached.ts';
import type { Family, WireDocument } from '#/wire/document/document.ts';
import type { JsonObject } from '#/wire/document/json.ts';
import type { AnswerContext } from '#/wire/hub/codec.ts';

/** Members in which a request holds its conversation: no answer repeats them. */
const CONVERSATIONS: { readonly [F in Family]?: ReadonlySet<string> } = {
  chat: new Set(['messages']),
  messages: new Set(['messages', 'system']),
  responses: new Set(['input']),
  completions: new Set(['prompt', 'suffix']),
};

/** What the answer to a call is written with in another family. `settings`: as `settingsOf` gives them. */
export function contextOf(
  { id, startedAt, ask }: Pick<Call, 'id' | 'startedAt' | 'ask'>,
  { model }: Pick<Candidate, 'model'>,
  settings: JsonObject,
  { estimatedInput }: UsageBounds,
): AnswerContext {
  return {
    callId: id,
    model,
    createdAt: Math.floor(startedAt / 1000),
    request: { body: settings },
    includeUsage: ask.includeUsage,
    estimatedInput,
  };
}

/**
 * The request without its conversation, as answers in another family repeat it. The strings of a large document are slices of
 * its text and would hold all of it: its settings are copied.
 */
export async function settingsOf({ document, codec, slices }: Call): Promise<JsonObject> {
  const conversation = CONVERSATIONS[codec.family];
  const entries = Object.entries(document.body).filter(([name]) => conversation?.has(name) !== true);
  const settings = Object.fromEntries(entries);
  if (!slices) return settings;
  const known = COPIES.get(document);
  if (known) return known;
  const copy = await slices.run(detached(settings));
  COPIES.set(document, copy);
  return copy;
}

/** Copies of settings by their request, for all targets of a call. */
const COPIES = new WeakMap<WireDocument, JsonObject>();

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
