import { hash } from 'node:crypto';
import type { CreditHead } from '#/ports/checkpoints.ts';
import type { LinkedEntry } from '#/ports/credit.ts';
import { canonicalJson } from '#/wire/document/canonical-json.ts';
import { linkOfHash } from '../chain.ts';
import type { VouchedCredit } from './checkpoint-check.ts';

/**
 * The first fault of an organization's entries. `edited`: it differs from what was linked. `removed`: entries are
 * missing from this number on. `inserted`: it has a number that no entry has here. `rewritten`: the entries from this
 * number on follow from one another, but not to what a checkpoint says.
 */
interface CreditFault {
  readonly organization: string;
  readonly number: number;
  readonly kind: 'edited' | 'removed' | 'inserted' | 'rewritten';
  /** Description in one sentence. */
  readonly detail: string;
}

export interface CreditReport {
  readonly intact: boolean;
  readonly entries: number;
  readonly organizations: number;
  /** Entries that were there before entries were linked. */
  readonly adopted: number;
  /** Entries that come after the last checkpoint that covers their organization's: nothing but the links vouches for them. */
  readonly afterCheckpoints: number;
  /** One an organization. */
  readonly faults: readonly CreditFault[];
}

/** The link that the first entry of an organization follows from, 32 bytes as hex. */
function creditGenesis(organization: string): string {
  return hash('sha256', `gatewarden credit v1\n${organization}`, 'hex');
}

/** RFC 8785 text of an entry: what its link hashes. The database writes the same (migration 11). */
function creditText({
  organization,
  number,
  amount,
  sum,
  reference,
  note,
  actor,
  at,
  salt,
  adopted,
}: LinkedEntry): string {
  const facts = { reference, note, actor, at, salt, adopted };
  const money = { amount_nano_eur: String(amount), sum_nano_eur: String(sum) };
  return canonicalJson({ ...facts, ...money, organization, number, v: 1 });
}

/**
 * Recomputes the links and sums of all entries, holds them against what checkpoints vouch for, and names the first bad
 * entry of each organization. Entries come organization by organization, by number.
 */
export async function verifyCredit(entries: AsyncIterable<LinkedEntry>, vouched: VouchedCredit): Promise<CreditReport> {
  const counts = { entries: 0, organizations: 0, adopted: 0, afterCheckpoints: 0 };
  const faults: CreditFault[] = [];
  const seen = new Set<string>();
  let check: OrganizationCheck | undefined;
  const end = (): void => {
    const fault = check?.end();
    if (fault) faults.push(fault);
  };
  for await (const entry of entries) {
    if (check?.organization !== entry.organization) {
      end();
      check = new OrganizationCheck(entry.organization, vouched.get(entry.organization) ?? []);
      seen.add(entry.organization);
      counts.organizations += 1;
    }
    check.next(entry);
    counts.entries += 1;
    if (entry.adopted) counts.adopted += 1;
    if (entry.number > check.covered) counts.afterCheckpoints += 1;
  }
  end();
  for (const [organization, heads] of vouched) {
    if (seen.has(organization)) continue;
    const fault = new OrganizationCheck(organization, heads).end();
    if (fault) faults.push(fault);
  }
  return { intact: faults.length === 0, ...counts, faults };
}

class OrganizationCheck {
  readonly organization: string;
  /** Number of the last entry that a checkpoint vouches for. */
  readonly covered: number;
  readonly #heads: ReadonlyMap<number, readonly CreditHead[]>;
  #number = 0;
  #sum = 0n;
  #link: string;
  #matched = 0;
  #fault: CreditFault | undefined;

  constructor(organization: string, heads: readonly CreditHead[]) {
    this.organization = organization;
    this.covered = heads.reduce((most, { number }) => Math.max(most, number), 0);
    this.#heads = Map.groupBy(heads, ({ number }) => number);
    this.#link = creditGenesis(organization);
  }

  next(entry: LinkedEntry): void {
    this.#fault ??= this.#faultOf(entry);
    this.#number = entry.number;
    this.#link = entry.link;
  }

  /** The first thing that is wrong, after the last entry. */
  end(): CreditFault | undefined {
    if (!this.#fault && this.#number < this.covered)
      this.#fault = this.#named(this.#number + 1, 'removed', `a checkpoint says that there are ${this.covered}`);
    return this.#fault;
  }

  #faultOf(entry: LinkedEntry): CreditFault | undefined {
    const { number, sum, link } = entry;
    const expected = this.#number + 1;
    if (number < expected) return this.#named(number, 'inserted', `the entries begin with number 1`);
    if (number > expected) return this.#named(expected, 'removed', `the next one is number ${number}`);
    if (linkOfHash(this.#link, Buffer.from(hash('sha256', creditText(entry), 'hex'), 'hex')) !== link)
      return this.#named(number, 'edited', 'its content does not match its link');
    this.#sum += entry.amount;
    if (this.#sum !== sum)
      return this.#named(number, 'edited', `it says ${sum} nano-euro in total, but the entries add up to ${this.#sum}`);
    const heads = this.#heads.get(number) ?? [];
    if (heads.some((head) => head.link !== link))
      return this.#named(this.#matched + 1, 'rewritten', `entry ${number} does not match the checkpoint`);
    if (heads.length > 0) this.#matched = number;
    return undefined;
  }

  #named(number: number, kind: CreditFault['kind'], detail: string): CreditFault {
    return { organization: this.organization, number, kind, detail };
  }
}
