import type { OrganizationConfig } from '#/config/snapshot.ts';
import type { CreditCounters, CreditEntries } from '#/ports/credit.ts';

export interface CreditFeedDeps {
  readonly entries: CreditEntries;
  readonly counters: CreditCounters;
  readonly organizations: () => Iterable<OrganizationConfig>;
  readonly onFault: (error: unknown) => void;
}

/** Brings new credit entries of prepaid organizations to the counters, in the background. */
export interface CreditFeed {
  /** Reads the entries once, and updates the counters. Rejects if either cannot be reached. */
  feed(): Promise<void>;
  start(): void;
  stop(): void;
}

const EVERY_MS = 2000;
/** Every so many rounds, all sums are sent again: counters may have lost them. */
const ALL_EVERY = 15;

/** Every gateway feeds: repeated or late updates change nothing. */
export function createCreditFeed({ entries, counters, organizations, onFault }: CreditFeedDeps): CreditFeed {
  /** Organization -> number of the last entry that was sent. */
  let told = new Map<string, number>();
  let rounds = 0;
  let timer: NodeJS.Timeout | undefined;

  async function feed(): Promise<void> {
    const prepaid = [...organizations()].filter(({ plan }) => plan?.type === 'prepaid').map(({ id }) => id);
    if (rounds++ % ALL_EVERY === 0) told = new Map();
    if (prepaid.length === 0) return;
    for (const [organization, credit] of await entries.standings(prepaid)) {
      if (told.get(organization) === credit.number) continue;
      await counters.putCredit(organization, credit);
      told.set(organization, credit.number);
    }
  }

  return {
    feed,
    start() {
      const next = (): void => {
        timer = setTimeout(
          () =>
            void feed()
              .catch(onFault)
              .then(() => timer && next()),
          EVERY_MS,
        ).unref();
      };
      next();
    },
    stop() {
      clearTimeout(timer);
      timer = undefined;
    },
  };
}
