import { LRUCache } from 'lru-cache';
import { readDocument, removeMembers, render } from '#/wire/document/document.ts';
import type { Candidate } from '#/call/target.ts';

/** Members that advise or annotate: without one, the answer still answers the request. */
const OPTIONAL = new Set([
  'frequency_penalty',
  'logit_bias',
  'logprobs',
  'metadata',
  'parallel_tool_calls',
  'presence_penalty',
  'prompt_cache_key',
  'reasoning',
  'reasoning_effort',
  'safety_identifier',
  'seed',
  'service_tier',
  'store',
  'stream_options',
  'temperature',
  'top_k',
  'top_logprobs',
  'top_p',
  'user',
  'verbosity',
]);

const REFUSAL =
  /unsupported|not supported|n't support|not support|unknown|unrecognized|unexpected|extra|not permitted|not allowed|forbidden/i;
const MOST_MODELS = 512;
const NONE: ReadonlySet<string> = new Set();

/**
 * What models turned out to refuse that the catalogue does not know of: learned from a provider's own words, so that one
 * call pays for it with an attempt and the next ones don't. Kept by process.
 */
export class UnsupportedParameters {
  readonly #unsupported = new LRUCache<string, ReadonlySet<string>>({ max: MOST_MODELS });

  /** Whether anything was learned: `fit` changes nothing before. */
  hasLearned = false;

  /** The candidate without what its model is known to refuse; the same one when there is nothing. */
  fit(candidate: Candidate): Candidate {
    const names = this.#unsupported.get(idOf(candidate)) ?? NONE;
    return names.size === 0 ? candidate : without(candidate, names);
  }

  /**
   * The candidate without an optional member that the provider has just refused by name; undefined when it named none
   * that the body has.
   */
  learn(candidate: Candidate, status: number, message: string | undefined): Candidate | undefined {
    if ((status !== 400 && status !== 422) || message === undefined || !REFUSAL.test(message)) return undefined;
    const named = new Set(message.match(/[a-z_]{4,32}/g)?.filter((word) => OPTIONAL.has(word)));
    const lighter = without(candidate, named);
    if (lighter === candidate) return undefined;
    this.#unsupported.set(idOf(candidate), new Set([...(this.#unsupported.get(idOf(candidate)) ?? []), ...named]));
    this.hasLearned = true;
    return lighter;
  }
}

function without(candidate: Candidate, names: ReadonlySet<string>): Candidate {
  const { family, body, losses } = candidate;
  const { text, root } = readDocument(family, body);
  const dropped = root.members.map(({ key }) => key.value).filter((name) => names.has(name));
  if (dropped.length === 0) return candidate;
  const lighter = render(
    text,
    removeMembers(root, (key) => names.has(key.value)),
  );
  return { ...candidate, body: lighter, losses: [...new Set([...losses, ...dropped])] };
}

function idOf({ provider, model, family }: Candidate): string {
  return `${provider.config.id} ${model} ${family}`;
}
