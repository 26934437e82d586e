import { alternateTurns } from '../hub/alternate-turns.ts';
import type { Lose, ModelRequest } from '../hub/canonical.ts';
import type { JsonObject } from '../document/json.ts';
import type { Traits } from '../hub/traits.ts';
import type { WrittenMessage } from './cache-marks.ts';
import { BlockSpeller } from './encode-blocks.ts';
import type { Thinking } from './encode-thinking.ts';

/** What the user says where it is not the user who begins, or not the model who goes on. */
const CONTINUE = { type: 'text', text: 'Continue.' };

/**
 * The conversation as messages that take turns, the user's first; instructions in the middle are turns of their own where
 * the model knows such. Throws `BadRequestShape` for content that it cannot be given. // wire-formats 2.1
 */
export function encodeMessages(
  request: ModelRequest,
  thinking: Thinking,
  traits: Traits,
  lose: Lose,
): readonly WrittenMessage[] {
  const speller = new BlockSpeller(traits, lose);
  // Blocks of an instruction in the middle, where the model knows such turns.
  const instructions = new Set<JsonObject>();
  const spelled = alternateTurns<JsonObject>(
    request.turns,
    (part, role, turn) => {
      const blocks = speller.spell(part, role);
      if (turn.role === 'system' && traits.midSystem) for (const block of blocks) instructions.add(block);
      return blocks;
    },
    CONTINUE,
  );
  const messages = spelled.flatMap(({ role, items }): readonly WrittenMessage[] =>
    role === 'user' && instructions.size > 0 ? apart(items, instructions) : [{ role, content: items }],
  );
  const last = messages.at(-1);
  if (last?.role !== 'assistant') return messages;
  if (traits.prefill && !thinking.on) return [...messages.slice(0, -1), { ...last, content: trimmed(last.content) }];
  lose('prefill');
  return [...messages, { role: 'user', content: [CONTINUE] }];
}

/** A user's message and the instructions in it as turns of their own: never the first, for the user speaks before them. */
function apart(items: readonly JsonObject[], instructions: ReadonlySet<JsonObject>): readonly WrittenMessage[] {
  const messages: { role: string; content: JsonObject[] }[] = [];
  for (const item of items) {
    const role = instructions.has(item) && messages.length > 0 ? 'system' : 'user';
    const last = messages.at(-1);
    if (last?.role === role) last.content.push(item);
    else messages.push({ role, content: [item] });
  }
  return messages;
}

/** The beginning of an answer must not end in blanks. */
function trimmed(content: readonly JsonObject[]): readonly JsonObject[] {
  const last = content.at(-1);
  if (typeof last?.['text'] !== 'string') return content;
  return [...content.slice(0, -1), { ...last, text: last['text'].trimEnd() }];
}
