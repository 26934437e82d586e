import { LRUCache } from 'lru-cache';
import type { OpenHold } from '#/ports/limit-counters.ts';
import { Arrivals, RecentRefusals } from './limits/turn-away.ts';

/** State of one process across calls, in addition to the counters. */
export interface MeterMemory {
  readonly refusals: RecentRefusals;
  readonly arrivals: Arrivals;
  readonly likely: LikelyOutput;
  /** Open holds for which a limit is near. */
  readonly near: WeakSet<OpenHold>;
}

export function meterMemory(): MeterMemory {
  return {
    refusals: new RecentRefusals(),
    arrivals: new Arrivals(),
    likely: new LikelyOutput(),
    near: new WeakSet(),
  };
}

/** Of an answer of a model that has not been heard yet. */
const UNHEARD_TOKENS = 1024;
/** How much the newest answer counts in the mean. */
const SHARE_OF_NEWEST = 0.1;
const MOST_MODELS = 4096;

/** How long the answers of models are for organizations: a running mean each, by process. */
export class LikelyOutput {
  readonly #means = new LRUCache<string, number>({ max: MOST_MODELS });

  /** Notes how many tokens an answer had. */
  note(organization: string, model: string, tokens: number): void {
    const key = `${organization}\n${model}`;
    const mean = this.#means.get(key);
    this.#means.set(key, mean === undefined ? tokens : mean + SHARE_OF_NEWEST * (tokens - mean));
  }

  /**
   * Tokens to reserve against a limit per minute: the input and what the wordiest of the models is likely to say, no more
   * than allowed. A likely amount never refuses a call for good: the reservation stays within the limit if the input
   * does.
   */
  reserve(
    organization: string,
    models: Iterable<string>,
    { input, mostOutput, limit = Infinity }: { input: number; mostOutput: number; limit: number | undefined },
  ): number {
    if (input === 0 || input >= limit) return input;
    let wordiest = 0;
    for (const model of models) {
      wordiest = Math.max(wordiest, this.#means.get(`${organization}\n${model}`) ?? UNHEARD_TOKENS);
    }
    return Math.min(input + Math.min(mostOutput, Math.ceil(wordiest)), limit);
  }
}
