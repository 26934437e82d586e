import type { Called, Codec, Leaf } from '#/wire/hub/codec.ts';
import { isSource, locate, readDocument, render, setString, type Edit } from '#/wire/document/document.ts';
import type { JsonObject } from '#/wire/document/json.ts';
import { readLarge } from '#/wire/document/large-json.ts';
import type { JsonNode } from '#/wire/document/scan.ts';
import type { Steps } from '#/wire/document/steps.ts';
import { restoreCall } from './restore-call.ts';
import { mayHoldTag } from '../tags.ts';
import type { Restoration } from './restoration.ts';
import { restoreText } from './restore-text.ts';

/**
 * Puts originals back in a buffered answer, wherever they may be; the rest keeps its bytes. `body`: what it says, where
 * that is known. Throws `AnswerOutOfBounds`.
 */
export function restoreAnswer(
  text: string,
  codec: Pick<Codec, 'family' | 'answerLeaves'>,
  restoration: Restoration,
  jsonAnswer: boolean,
  body?: JsonObject,
): string {
  if (restoration.tags.size === 0 || !mayHoldTag(text)) return text;
  const lenient = { lenient: true };
  const answer = body ? locate(codec.family, text, body, lenient) : readDocument(codec.family, text, lenient);
  const edits: Edit[] = [];
  const calls = new Map<JsonNode, Called>();
  for (const leaf of codec.answerLeaves(answer, jsonAnswer)) {
    if (leaf.called) {
      calls.set(leaf.called.told, leaf.called);
      continue;
    }
    const edit = restoreLeaf(leaf, restoration);
    if (edit) edits.push(edit);
  }
  for (const called of calls.values()) for (const edit of restoreCall(called, restoration)) edits.push(edit);
  return render(text, edits);
}

const LEAVES_A_STEP = 64;

/** As `restoreAnswer`, of a large result of a tool, in steps. */
export function* restoreLargeAnswer(
  text: string,
  codec: Pick<Codec, 'family' | 'answerLeaves'>,
  restoration: Restoration,
): Steps<string> {
  if (restoration.tags.size === 0 || !mayHoldTag(text)) return text;
  const answer = yield* readLarge(codec.family, text, { lenient: true, isOwn: true });
  yield;
  const edits: Edit[] = [];
  for (const [at, leaf] of codec.answerLeaves(answer, false).entries()) {
    if (at % LEAVES_A_STEP === 0) yield;
    const edit = restoreLeaf(leaf, restoration);
    if (edit) edits.push(edit);
  }
  yield;
  return render(text, edits);
}

function restoreLeaf(
  { node, text, kind }: Pick<Leaf, 'node' | 'text' | 'kind'>,
  restoration: Restoration,
): Edit | undefined {
  if (kind === 'text' && isSource(node, text)) {
    const source = restoreText(text, restoration, 'text', { inSource: true });
    return source === text ? undefined : { start: node.start, end: node.end, text: `"${source}"` };
  }
  const restored = restoreText(text, restoration, kind);
  return restored === text ? undefined : setString(node, restored);
}
