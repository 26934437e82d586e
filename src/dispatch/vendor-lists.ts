import { hash } from 'node:crypto';
import type { ProviderConfig, Snapshot } from '#/config/snapshot.ts';
import { UpstreamFault } from '#/ports/provider.ts';
import type { Providers } from '#/route/offer.ts';

/** The result of asking a vendor for its models. */
export type ListEvent =
  | { readonly kind: 'models.listed'; readonly provider: string; readonly models: number }
  /** The last list stays in use. `isNew`: the reason differs from the last time. */
  | {
      readonly kind: 'models.not_listed';
      readonly provider: string;
      readonly why: string;
      readonly isNew: boolean;
    };

export interface VendorListOptions {
  readonly providers: Providers;
  readonly snapshot: () => Snapshot | undefined;
  /** How long a list is believed. */
  readonly seconds: number;
  readonly onEvent: (event: ListEvent) => void;
}

/** The last list of an account. */
interface Kept {
  readonly provider: string;
  models: readonly string[];
  /** `models`, and each without its date: vendors take both and list one. */
  names: ReadonlySet<string>;
  /** Milliseconds since the epoch; undefined: never. */
  listedAt: number | undefined;
  nextAt: number;
  failures: number;
  why: string | undefined;
}

const TICK_MS = 1000;
const ASK_MS = 15_000;
const FIRST_RETRY_MS = 30_000;
/** Requests at the same time: no call waits for them. */
const AT_ONCE = 4;
/** More accounts are not asked: theirs is what the catalogue knows. */
const MOST_ACCOUNTS = 2000;
const DATED = /-(?:\d{8}|\d{4}-\d{2}-\d{2})$/;

/**
 * Vendors' own lists of models, fetched in the background with the account that calls use. Only names are
 * taken from them: a model without a price is not offered, whatever a list says. // spec 2.1, 4.5.2
 */
export class VendorLists {
  readonly #options: VendorListOptions;
  readonly #kept = new Map<string, Kept>();
  readonly #keys = new WeakMap<ProviderConfig, string>();
  readonly #stop = new AbortController();
  #asking = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: VendorListOptions) {
    this.#options = options;
  }

  start(): void {
    this.#timer = setInterval(() => this.#tick(Date.now()), TICK_MS).unref();
    this.#tick(Date.now());
  }

  stop(): void {
    clearInterval(this.#timer);
    this.#stop.abort();
  }

  /** The list of a provider's vendor for its account; undefined: unknown. Answers at once. */
  of(config: ProviderConfig): { readonly models: readonly string[]; readonly names: ReadonlySet<string> } | undefined {
    const kept = this.#kept.get(this.#keyOf(config));
    return kept?.listedAt === undefined ? undefined : kept;
  }

  /** Age of each provider's list in seconds, by its id. */
  ages(now: number): readonly (readonly [provider: string, seconds: number])[] {
    return [...this.#kept.values()].flatMap(({ provider, listedAt }) =>
      listedAt === undefined ? [] : [[provider, Math.max(0, (now - listedAt) / 1000)] as const],
    );
  }

  #tick(now: number): void {
    const there = new Map<string, ProviderConfig>();
    for (const config of providersIn(this.#options.snapshot())) {
      if (there.size === MOST_ACCOUNTS) break;
      if (config.onlyListedModels !== true && this.#options.providers(config)?.list)
        there.set(this.#keyOf(config), config);
    }
    for (const key of this.#kept.keys()) if (!there.has(key)) this.#kept.delete(key);
    for (const [key, config] of there) {
      if (this.#asking >= AT_ONCE) return;
      const kept = this.#kept.get(key) ?? neverAsked(config.id);
      this.#kept.set(key, kept);
      if (kept.nextAt <= now) void this.#ask(config, kept);
    }
  }

  async #ask(config: ProviderConfig, kept: Kept): Promise<void> {
    const { providers, seconds, onEvent } = this.#options;
    kept.nextAt = Infinity;
    this.#asking += 1;
    try {
      const signal = AbortSignal.any([this.#stop.signal, AbortSignal.timeout(ASK_MS)]);
      const credential = config.credentials.find(({ weight }) => weight > 0) ?? config.credentials[0];
      const models = (await providers(config)?.list?.({ credential, timeoutMs: ASK_MS, signal })) ?? [];
      const names = new Set(models.flatMap((name) => [name, name.replace(DATED, '')]));
      Object.assign(kept, { models, names, listedAt: Date.now(), failures: 0, why: undefined });
      onEvent({ kind: 'models.listed', provider: config.id, models: models.length });
    } catch (error) {
      if (this.#stop.signal.aborted) return;
      const why = error instanceof UpstreamFault ? error.message : 'it could not be asked';
      kept.failures += 1;
      onEvent({ kind: 'models.not_listed', provider: config.id, why, isNew: why !== kept.why });
      kept.why = why;
    } finally {
      this.#asking -= 1;
      const retry = FIRST_RETRY_MS * 2 ** Math.min(kept.failures - 1, 16);
      kept.nextAt = Date.now() + (kept.failures === 0 ? seconds * 1000 : Math.min(retry, seconds * 1000));
    }
  }

  /** An account: another key or address may get another list. */
  #keyOf(config: ProviderConfig): string {
    let key = this.#keys.get(config);
    if (key === undefined) {
      const secrets = config.credentials.map(({ name, secret, weight }) => [name, secret, weight]);
      key = hash('sha256', JSON.stringify([config.id, config.vendor, config.protocol, config.url, secrets]), 'hex');
      this.#keys.set(config, key);
    }
    return key;
  }
}

function neverAsked(provider: string): Kept {
  return { provider, models: [], names: new Set(), listedAt: undefined, nextAt: 0, failures: 0, why: undefined };
}

function* providersIn(snapshot: Snapshot | undefined): Generator<ProviderConfig> {
  for (const { providers } of snapshot?.organizations.values() ?? []) yield* providers.values();
}
