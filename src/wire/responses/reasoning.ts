import type { ReasoningPart } from '../hub/canonical.ts';
import { isObject, type Json, type JsonObject } from '../document/json.ts';

/** What stands between two paragraphs of reasoning that were told apart. */
export const BETWEEN_PARAGRAPHS = '\n\n';

/**
 * A reasoning item as one part: its paragraphs as text, what the provider has sealed as its proof. Undefined when it has
 * neither: reasoning that is neither shown nor to be sent back.
 */
export function readReasoning(item: JsonObject): ReasoningPart | undefined {
  const text = [...textsOf(item['summary']), ...textsOf(item['content'])].join(BETWEEN_PARAGRAPHS);
  const sealed = item['encrypted_content'];
  const proven = typeof sealed === 'string' && sealed !== '';
  if (text === '' && !proven) return undefined;
  return { type: 'reasoning', text, ...(proven ? { proof: { family: 'responses', value: sealed } } : {}) };
}

/** A part as a reasoning item, without its id; another family's proof is worth nothing here. // spec 4.5.4 */
export function writeReasoning({ text, proof }: ReasoningPart): JsonObject {
  return {
    type: 'reasoning',
    summary: text === '' ? [] : [{ type: 'summary_text', text }],
    ...(proof?.family === 'responses' ? { encrypted_content: proof.value } : {}),
  };
}

function textsOf(paragraphs: Json | undefined): string[] {
  if (!Array.isArray(paragraphs)) return [];
  return (paragraphs as readonly Json[]).flatMap((paragraph) =>
    isObject(paragraph) && typeof paragraph['text'] === 'string' ? [paragraph['text']] : [],
  );
}
