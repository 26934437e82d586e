import type { Answer } from '#/call/call.ts';

/** Names of dropped fields in one audit row, at most. */
const MOST_LOSSES = 64;
/** A path of names as formats have them: no text and no address. */
const NAME = /^[A-Za-z_][\w.[\]-]{0,79}$/;
/** The date behind a vendor's tool: `web_search_20250305`. */
const VERSION = /[_-]20\d{6}(?!\d)/g;
/** Digits of an account, a card or a phone number. */
const NUMBER = /\d{6}/;

/**
 * Names of dropped parameters, fit to be shown and sealed. Callers choose the names of unknown fields, so a name that
 * may hold their text is replaced by the known names before it, and names beyond the first 64 are counted.
 */
export function tellableLosses(losses: readonly string[]): readonly string[] {
  const told = new Set(losses.map(tellable));
  if (told.size <= MOST_LOSSES) return [...told];
  return [...[...told].slice(0, MOST_LOSSES), `and ${told.size - MOST_LOSSES} more`];
}

/** The head of an answer that nothing was dropped for. */
export const PLAIN_HEAD: Answer = { kind: 'head' };

/** The head of an answer, with the header that names dropped parameters. `losses`: as shown. */
export function headWith(losses: readonly string[]): Answer {
  return losses.length === 0 ? PLAIN_HEAD : { kind: 'head', headers: { 'x-gw-losses': losses.join(', ') } };
}

function tellable(loss: string): string {
  if (NAME.test(loss) && !NUMBER.test(loss.replace(VERSION, ''))) return loss;
  const known = /^[a-z_]{1,32}(?:\[\])?(?=[.[])/.exec(loss)?.[0];
  return known === undefined ? '(other)' : `${known}.(other)`;
}
