import type { Part, Turn } from './canonical.ts';

/** Gathers the turns of a conversation: neighbours of one role become one turn, results of tools come first in theirs. */
export class Turns {
  readonly #turns: { role: Turn['role']; results: Part[]; parts: Part[] }[] = [];

  add(role: Turn['role'], parts: readonly Part[]): void {
    if (parts.length === 0) return;
    let turn = this.#turns.at(-1);
    if (turn?.role !== role) this.#turns.push((turn = { role, results: [], parts: [] }));
    for (const part of parts) (part.type === 'tool-result' ? turn.results : turn.parts).push(part);
  }

  get list(): Turn[] {
    return this.#turns.map(({ role, results, parts }) => ({ role, parts: [...results, ...parts] }));
  }
}
