import { verify as verifySignature, type KeyObject } from 'node:crypto';
import type { CreditHead, StrandCut, StrandHead } from '#/ports/checkpoints.ts';
import {
  headsRoot,
  keyId,
  NO_CHECKPOINT,
  publicKeyOf,
  statementHash,
  statementOf,
  type Leaf,
  type ShownCheckpoint,
} from '../checkpoints/checkpoint.ts';
import { cutFault } from './cut.ts';

/** What checkpoints vouch for: heads by strand, each list by sequence. */
export type VouchedHeads = ReadonlyMap<string, readonly StrandHead[]>;

/** What checkpoints vouch for of credit: heads by organization, each list by number. */
export type VouchedCredit = ReadonlyMap<string, readonly CreditHead[]>;

/** The first thing that is wrong with the checkpoints. */
export interface CheckpointFault {
  readonly number: number;
  /**
   * `edited`: it differs from the signed statement. `removed`: checkpoints are missing before it, or after it if an
   * anchor has them.
   * `unsigned`: no trusted key signed it. `replaced`: it does not follow from the one before it.
   */
  readonly kind: 'edited' | 'removed' | 'unsigned' | 'replaced';
  readonly detail: string;
}

/** What retention dropped, all cuts taken together. */
export interface Dropped {
  /** The first month that was kept. */
  readonly before: string;
  /** Number of the checkpoint that says so. */
  readonly number: number;
  readonly rows: number;
  readonly strands: number;
}

export interface CheckpointReport {
  readonly intact: boolean;
  readonly count: number;
  /**
   * Whether there were keys to check signatures with. Without keys, any writer of the database could make checkpoints.
   */
  readonly signaturesChecked: boolean;
  readonly last?: { readonly number: number; readonly at: number; readonly hash: string };
  readonly fault?: CheckpointFault;
  readonly dropped?: Dropped;
  /** What those that are sound vouch for. */
  readonly vouched: VouchedHeads;
  readonly credit: VouchedCredit;
  /** Up to where rows were dropped, by strand, as far as that is shown. */
  readonly cuts: ReadonlyMap<string, StrandCut>;
}

/** Statements that are known from elsewhere, by the numbers of their checkpoints. */
export type AnchoredStatements = ReadonlyMap<number, readonly string[]>;

export interface CheckpointTrust {
  /** Ed25519 public keys that may have signed; those that they introduce may too. */
  readonly publicKeys?: readonly KeyObject[];
  /** A checkpoint that is known from elsewhere, by the hash of its statement: it has to be there still. */
  readonly anchor?: string;
  /** Statements that writers of the database cannot change: each must still be there, byte for byte. */
  readonly anchored?: AnchoredStatements;
}

/** Heads kept of one strand: beyond it every other one is let go, the last never. Bounds memory; coarsens `rewritten`. */
const MAX_HEADS = 1_024;

/**
 * Checks the chain of checkpoints: numbers, statements, signatures, heads, cuts. Those that are sound vouch for their
 * heads, also when others are not. Checkpoints cut off at the end are noticed with an anchor only.
 */
export async function verifyCheckpoints(
  checkpoints: AsyncIterable<ShownCheckpoint>,
  trust: CheckpointTrust = {},
): Promise<CheckpointReport> {
  const check = new CheckpointCheck(trust);
  for await (const checkpoint of checkpoints) check.next(checkpoint);
  return check.end();
}

/** Checks checkpoints one after the other, in the order of their numbers. */
export class CheckpointCheck {
  readonly #trust: CheckpointTrust;
  readonly #keys: Map<string, KeyObject> | undefined;
  readonly #vouched = new Map<string, StrandHead[]>();
  readonly #credit = new Map<string, CreditHead[]>();
  readonly #cuts = new Map<string, StrandCut>();
  #before: ShownCheckpoint | undefined;
  #fault: CheckpointFault | undefined;
  #dropped: Pick<Dropped, 'before' | 'number'> | undefined;
  #count = 0;
  #anchored: boolean;
  #anchoredSeen = 0;
  /** The first of those before a trusted key signed, which then vouches for them: each names the one before. */
  #unsigned: CheckpointFault | undefined;
  /** Names of the keys that may have signed those: the first one's, and what it introduces, and so on. */
  readonly #olderKeys = new Set<string>();
  #trusted = false;
  /** Name of an introduced key -> the name of the one that introduced it. */
  readonly #introducedBy = new Map<string, string>();
  /** Name of a key that handed over -> the first checkpoint that its successor signed: it vouches for none after that. */
  readonly #retired = new Map<string, number>();
  #lastKept: { readonly spki: string; readonly id: string; readonly key: KeyObject } | undefined;

  constructor(trust: CheckpointTrust) {
    this.#trust = trust;
    this.#keys = trust.publicKeys && new Map(trust.publicKeys.map((key) => [keyId(key), key]));
    this.#anchored = trust.anchor === undefined;
  }

  next(checkpoint: ShownCheckpoint): void {
    const own = ownFault(checkpoint) ?? this.#signatureFault(checkpoint);
    this.#fault ??= own ?? chainFault(this.#before, checkpoint) ?? this.#anchorFault(checkpoint);
    if (!own) this.#accept(checkpoint);
    this.#anchored ||= statementHash(checkpoint.statement) === this.#trust.anchor;
    this.#before = checkpoint;
    this.#count += 1;
  }

  end(): CheckpointReport {
    const before = this.#before;
    if (!this.#trusted && this.#unsigned) {
      this.#fault ??= this.#unsigned;
      this.#vouched.clear();
      this.#credit.clear();
      this.#cuts.clear();
    }
    this.#fault ??= this.#missingAnchors();
    return {
      intact: this.#fault === undefined,
      count: this.#count,
      signaturesChecked: this.#keys !== undefined,
      ...(before && { last: { number: before.number, at: before.at, hash: statementHash(before.statement) } }),
      ...(this.#fault && { fault: this.#fault }),
      ...(this.#dropped && { dropped: { ...this.#dropped, ...sizeOf(this.#cuts) } }),
      vouched: this.#vouched,
      credit: this.#credit,
      cuts: this.#cuts,
    };
  }

  #accept({ number, heads, credit, cut, introduces, key: signer }: ShownCheckpoint): void {
    this.#handOver(signer, number);
    for (const head of shown(heads)) vouch(this.#vouched, head);
    for (const head of shown(credit ?? [])) {
      const known = this.#credit.get(head.organization);
      if (known) known.push(head);
      else this.#credit.set(head.organization, [head]);
    }
    for (const strand of shown(cut?.strands ?? [])) this.#cuts.set(strand.strand, strand);
    if (cut) this.#dropped = { before: cut.before, number };
    const key = introduces === undefined ? undefined : publicKeyOf(introduces);
    if (!key) return;
    this.#retired.delete(keyId(key));
    if (keyId(key) !== signer) this.#introducedBy.set(keyId(key), signer);
    if (this.#trusted) this.#keys?.set(keyId(key), key);
    else this.#olderKeys.add(keyId(key));
  }

  /** The first checkpoint that an introduced key signs is the end of the one that introduced it. */
  #handOver(signer: string, number: number): void {
    const before = this.#introducedBy.get(signer);
    if (before === undefined) return;
    this.#introducedBy.delete(signer);
    this.#retired.set(before, number);
  }

  #signatureFault({ number, statement, key, signature, publicKey }: ShownCheckpoint): CheckpointFault | undefined {
    const edited = (detail: string): CheckpointFault => ({ number, kind: 'edited', detail });
    const kept = publicKey === undefined ? undefined : this.#kept(publicKey);
    if (publicKey !== undefined && kept?.id !== key)
      return edited('the public key stored with it is not the key that it names');
    const handedOver = this.#retired.get(key);
    if (handedOver !== undefined) {
      const detail = `it names the key ${key}, which was replaced by the key of checkpoint ${handedOver}`;
      return { number, kind: 'unsigned', detail };
    }
    if (!this.#keys) return undefined;
    const trusted = this.#keys.get(key);
    if (!trusted) {
      const detail = `it names the key ${key}, which is not trusted: no trusted key introduces it`;
      const fault = { number, kind: 'unsigned', detail } as const;
      if (this.#trusted || (this.#unsigned && !this.#olderKeys.has(key))) return fault;
      this.#unsigned ??= fault;
      this.#olderKeys.add(key);
      // The key is not trusted yet, but a signature that does not match it shows a change.
      if (!kept || fits(statement, kept.key, signature)) return undefined;
      return edited('its signature does not match its statement');
    }
    if (!fits(statement, trusted, signature)) return edited('its signature does not match its statement');
    if (!this.#trusted && this.#unsigned && !this.#olderKeys.has(key)) this.#fault ??= this.#unsigned;
    this.#trusted = true;
    return undefined;
  }

  /** Most checkpoints come with the same key. */
  #kept(spki: string): { readonly id: string; readonly key: KeyObject } | undefined {
    if (this.#lastKept?.spki === spki) return this.#lastKept;
    const key = publicKeyOf(spki);
    this.#lastKept = key && { spki, id: keyId(key), key };
    return this.#lastKept;
  }

  #anchorFault({ number, statement }: ShownCheckpoint): CheckpointFault | undefined {
    const anchored = this.#trust.anchored?.get(number);
    if (!anchored) return undefined;
    this.#anchoredSeen += 1;
    if (anchored.every((each) => each === statement)) return undefined;
    return { number, kind: 'edited', detail: 'the anchor has a different statement with this number' };
  }

  #missingAnchors(): CheckpointFault | undefined {
    const number = this.#before?.number ?? 0;
    const numbers = [...(this.#trust.anchored?.keys() ?? [])];
    const last = numbers.reduce((most, each) => Math.max(most, each), 0);
    if (last > number)
      return { number, kind: 'removed', detail: `checkpoint ${last} was anchored, but the last one here is ${number}` };
    if (numbers.length > this.#anchoredSeen)
      return { number, kind: 'removed', detail: 'anchored checkpoints are missing' };
    if (this.#anchored) return undefined;
    return { number, kind: 'removed', detail: `no checkpoint has the hash ${this.#trust.anchor}` };
  }
}

/** The fault of a checkpoint by itself, apart from its signature. */
function ownFault(checkpoint: ShownCheckpoint): CheckpointFault | undefined {
  const { number, heads, root, cut, introduces } = checkpoint;
  const edited = (detail: string): CheckpointFault => ({ number, kind: 'edited', detail });
  if (headsRoot(heads) !== root && agreesAtAGlance({ ...checkpoint, heads }))
    return edited('its heads do not match its root');
  if (!agreesAtAGlance(checkpoint))
    return edited('its statement does not match its number, heads, credit and cut, or is not in canonical form');
  if (introduces !== undefined && !publicKeyOf(introduces))
    return edited('the key that it introduces is not an Ed25519 key');
  const wrong = cut && cutFault(cut);
  return wrong === undefined ? undefined : edited(wrong);
}

function agreesAtAGlance(checkpoint: ShownCheckpoint): boolean {
  try {
    return statementOf(checkpoint) === checkpoint.statement;
  } catch {
    return false; // not a valid time
  }
}

function fits(statement: string, key: KeyObject, signature: string): boolean {
  return verifySignature(null, Buffer.from(statement), key, Buffer.from(signature, 'hex'));
}

/** The fault between a checkpoint and the one before it. */
function chainFault(before: ShownCheckpoint | undefined, checkpoint: ShownCheckpoint): CheckpointFault | undefined {
  const { number } = checkpoint;
  const expected = (before?.number ?? 0) + 1;
  if (number > expected) {
    const missing =
      number - 1 === expected ? `checkpoint ${expected} is` : `checkpoints ${expected} to ${number - 1} are`;
    return { number, kind: 'removed', detail: `${missing} missing before it` };
  }
  const named = before ? statementHash(before.statement) : NO_CHECKPOINT;
  if (number === expected && checkpoint.previous === named) return undefined;
  const detail = before
    ? `it does not follow from checkpoint ${before.number}`
    : 'it names a checkpoint before it, but is the first one';
  return { number, kind: 'replaced', detail };
}

function vouch(vouched: Map<string, StrandHead[]>, head: StrandHead): void {
  const heads = vouched.get(head.strand);
  if (!heads) {
    vouched.set(head.strand, [head]);
    return;
  }
  if (head.sequence <= heads.at(-1)!.sequence) return;
  heads.push(head);
  if (heads.length <= MAX_HEADS) return;
  const kept = heads.filter((_, index) => index % 2 === 1 || index === heads.length - 1);
  vouched.set(head.strand, kept);
}

function shown<T extends object>(leaves: readonly Leaf<T>[]): readonly T[] {
  return leaves.filter((leaf): leaf is T => typeof leaf !== 'string');
}

function sizeOf(cuts: ReadonlyMap<string, StrandCut>): Pick<Dropped, 'rows' | 'strands'> {
  const rows = [...cuts.values()].map(
    ({ sequence, withheld }) => sequence + withheld.reduce((sum, [from, to]) => sum + to - from + 1, 0),
  );
  return { rows: rows.reduce((sum, each) => sum + each, 0), strands: cuts.size };
}
