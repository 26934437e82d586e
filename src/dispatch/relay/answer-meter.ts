import type { Seen } from '#/meter/plausible-usage.ts';
import type { Units } from '#/call/units.ts';
import type { Usage } from '#/wire/answer/usage.ts';

/** What a relay reports of the answer it carries, and all that it knows of the call's record. */
export interface AnswerMeter {
  /** What the provider says the whole answer used; undefined until it says so, and where that can't be true. */
  readonly usage: Usage | undefined;
  /** Our own count so far: billed where `usage` is missing. */
  seen: Usage;
  readonly providerResponseId: string | null;
  /** The provider's id of the answer. The first one holds. */
  identify(id: string): void;
  /** Usage that the provider reports, of the whole answer or so far (`seen.whole`). False: it can't be true. // spec 6.1.2 */
  tell(usage: Usage, seen: Seen): boolean;
  /** What the provider reports besides tokens. */
  tellUnits(units: Units): void;
  /** Names what the answer lost on its way. A loss that is named already is not named again. */
  lose(loss: string): void;
}
