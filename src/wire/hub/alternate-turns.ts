import type { Part, Turn } from './canonical.ts';

/** One message of a family whose roles alternate, in that family's own items. */
export interface Message<Item> {
  readonly role: 'user' | 'assistant';
  readonly items: readonly Item[];
}

/** How one part is spelt; nothing for a part that the family has no place for. */
export type Spell<Item> = (part: Part, role: Message<Item>['role'], turn: Turn) => readonly Item[];

/**
 * The conversation for families that accept only user and assistant messages in strict alternation, the user's first:
 * an instruction in the middle becomes text of the user, neighbours of one role are joined, what spells nothing is not
 * there, and a user's message begins with the results of tools. `opening` is what the user says when it is not the user
 * who begins; `closing`, when given, is what they say when the assistant's turn comes last. // wire-formats 2.1
 */
export function alternateTurns<Item>(
  turns: readonly Turn[],
  spell: Spell<Item>,
  opening: Item,
  closing?: Item,
): readonly Message<Item>[] {
  const messages: { readonly role: Message<Item>['role']; readonly results: Item[]; readonly others: Item[] }[] = [];
  for (const turn of turns) {
    const role = turn.role === 'assistant' ? 'assistant' : 'user';
    for (const part of turn.parts) {
      const items = spell(part, role, turn);
      if (items.length === 0) continue;
      if (messages.at(-1)?.role !== role) messages.push({ role, results: [], others: [] });
      const message = messages.at(-1);
      const place = part.type === 'tool-result' ? message?.results : message?.others;
      for (const item of items) place?.push(item);
    }
  }
  if (messages[0]?.role !== 'user') messages.unshift({ role: 'user', results: [], others: [opening] });
  if (closing !== undefined && messages.at(-1)?.role === 'assistant') {
    messages.push({ role: 'user', results: [], others: [closing] });
  }
  return messages.map(({ role, results, others }) => ({ role, items: [...results, ...others] }));
}
