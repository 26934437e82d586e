import type { KeyObject } from 'node:crypto';
import type { Checkpoint, StrandHead } from '#/ports/checkpoints.ts';
import type { CoveredRow } from '#/ports/evidence.ts';
import { genesis, link, linkOfHash } from '../chain.ts';
import { headLeaf, keyId, publicKeyOf, statementHash } from '../checkpoints/checkpoint.ts';
import { auditPath, rootOfPath } from '../checkpoints/merkle.ts';
import { parseRowText } from '../row-text.ts';
import { verify as verifySignature } from 'node:crypto';

/** A signed statement as it is handed on. */
export interface SignedStatement {
  readonly statement: string;
  readonly key: string;
  /** SPKI, DER, as hex. */
  readonly public_key?: string;
  readonly signature: string;
}

/** Proof that the row of a call is in the ledger, for readers without the ledger. See README.md in this folder. */
export interface Proof {
  readonly proof: 1;
  readonly call_id: string;
  readonly row: string;
  /** The link of the row before. */
  readonly before: string;
  /** SHA-256 (hex) of the rows after it, up to the head. */
  readonly after: readonly string[];
  readonly head: StrandHead;
  /** From the head's leaf to the root: RFC 6962, section 2.1.1. */
  readonly path: { readonly index: number; readonly size: number; readonly hashes: readonly string[] };
  readonly checkpoint: SignedStatement;
  /** Checkpoints after it, each of which names the one before. */
  readonly chain: readonly SignedStatement[];
}

/** What a proof shows, or why it shows nothing. */
export interface ProofReport {
  readonly intact: boolean;
  /** The first check that fails. */
  readonly fault?: string;
  readonly callId: string;
  readonly strand?: string;
  readonly sequence?: number;
  /** The checkpoint that covers the row, and the last one of the chain. */
  readonly checkpoint?: { readonly number: number; readonly at: string };
  readonly last?: { readonly number: number; readonly hash: string };
  readonly signaturesChecked: boolean;
}

/** The proof of a row that a checkpoint covers. `chain`: the checkpoints that come after that one, without gaps. */
export function makeProof(
  { row, before }: CoveredRow,
  { head, checkpoint, after }: NonNullable<CoveredRow['covered']>,
  chain: readonly Checkpoint[],
): Proof {
  const leaves = checkpoint.heads.map(headLeaf);
  const index = checkpoint.heads.findIndex(({ strand }) => strand === head.strand);
  return {
    proof: 1,
    call_id: row.callId,
    row: row.row,
    before: row.sequence === 1 ? genesis(row.strand) : before,
    after,
    head,
    path: { index, size: leaves.length, hashes: auditPath(leaves, index).map((hash) => hash.toString('hex')) },
    checkpoint: signedStatement(checkpoint),
    chain: chain.map(signedStatement),
  };
}

/** The members of a checkpoint that its signature is about. */
export function signedStatement({
  statement,
  key,
  publicKey,
  signature,
}: Pick<Checkpoint, 'statement' | 'key' | 'publicKey' | 'signature'>): SignedStatement {
  return { statement, key, ...(publicKey !== undefined && { public_key: publicKey }), signature };
}

/** Checks a proof, step by step from the row to the last statement. Without keys, signatures only fit what they came with. */
export function verifyProof(proof: Proof, keys: readonly KeyObject[] | undefined): ProofReport {
  const trusted = keys && new Map(keys.map((key) => [keyId(key), key]));
  // A file may say anything.
  const callId: unknown = proof.call_id;
  const base = { callId: typeof callId === 'string' ? callId : '', signaturesChecked: trusted !== undefined };
  try {
    return { ...base, intact: true, ...checked(proof, trusted) };
  } catch (error) {
    const fault = error instanceof ProofFault ? error.message : 'it is not a proof in the form that gwctl writes';
    return { ...base, intact: false, fault };
  }
}

class ProofFault extends Error {}

function must(holds: boolean, otherwise: string): asserts holds {
  if (!holds) throw new ProofFault(otherwise);
}

function checked(
  { call_id, row, before, after, head, path, checkpoint, chain }: Proof,
  trusted: ReadonlyMap<string, KeyObject> | undefined,
): Pick<ProofReport, 'strand' | 'sequence' | 'checkpoint' | 'last'> {
  const facts = parseRowText(row);
  must(facts?.canonical === true, 'the row is not an audit row in canonical form');
  must(facts.callId === call_id, 'the row belongs to another call');
  must(facts.strand === head.strand, 'the row and the head belong to different strands');
  must(after.length === head.sequence - facts.sequence, 'the hashes do not lead from the row to the head');
  must(facts.sequence !== 1 || before === genesis(facts.strand), 'the row is not the first of the strand');
  const reached = after.reduce((at, hash) => linkOfHash(at, bytes(hash)), link(before, row));
  must(reached === head.link, 'the row and the hashes after it do not lead to the link of the head');
  const { index, size, hashes } = path;
  const root = rootOfPath(headLeaf(head), index, size, hashes.map(bytes));
  const statement = statementIn(checkpoint);
  must(
    root !== undefined && Buffer.from(root).toString('hex') === statement.root,
    'the path does not lead to the root',
  );
  must(statement.heads === size, 'the statement covers a different number of heads');
  const last = followed(checkpoint, chain, trusted);
  return {
    strand: facts.strand,
    sequence: facts.sequence,
    checkpoint: { number: statement.number, at: statement.at },
    last: { number: statementIn(last).number, hash: statementHash(last.statement) },
  };
}

/** Walks the chain, checking each signature; the last statement of it. At least one has to be signed by a trusted key. */
function followed(
  first: SignedStatement,
  chain: readonly SignedStatement[],
  trusted: ReadonlyMap<string, KeyObject> | undefined,
): SignedStatement {
  const keys = new Map(trusted);
  let last = first;
  let vouched = trusted === undefined;
  const introducedBy = new Map<string, string>();
  const retired = new Set<string>();
  for (const [index, each] of [first, ...chain].entries()) {
    const { number, previous, introduces } = statementIn(each);
    if (index > 0)
      must(previous === statementHash(last.statement), `checkpoint ${number} names a different checkpoint before it`);
    const own = publicKeyOf(each.public_key ?? '');
    must(
      each.public_key === undefined || (own && keyId(own)) === each.key,
      `checkpoint ${number} names a different key`,
    );
    must(!retired.has(each.key), `the key that signed checkpoint ${number} had been replaced before`);
    const key = keys.get(each.key);
    const signer = key ?? own;
    if (signer) {
      const genuine = verifySignature(null, Buffer.from(each.statement), signer, Buffer.from(each.signature, 'hex'));
      must(genuine, `the signature of checkpoint ${number} does not match its statement`);
    }
    must(key !== undefined || !vouched || trusted === undefined, `no trusted key signed checkpoint ${number}`);
    vouched ||= key !== undefined;
    const before = introducedBy.get(each.key);
    if (before !== undefined) retired.add(before);
    const introduced = publicKeyOf(introduces ?? '');
    if (vouched && introduced) {
      keys.set(keyId(introduced), introduced);
      retired.delete(keyId(introduced));
      if (keyId(introduced) !== each.key) introducedBy.set(keyId(introduced), each.key);
    }
    last = each;
  }
  must(vouched, `no trusted key signed checkpoint ${statementIn(first).number} or a later one`);
  return last;
}

interface StatementMembers {
  readonly number: number;
  readonly at: string;
  readonly root: string;
  readonly heads: number;
  readonly previous: string;
  readonly introduces?: string;
}

function statementIn({ statement }: SignedStatement): StatementMembers {
  return JSON.parse(statement) as StatementMembers;
}

function bytes(hex: string): Buffer {
  const all = Buffer.from(hex, 'hex');
  must(all.length === 32 && all.toString('hex') === hex, 'a hash is 64 hexadecimal digits');
  return all;
}
