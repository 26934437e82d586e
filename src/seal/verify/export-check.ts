import { createHash } from 'node:crypto';
import type { SealedRow } from '#/ports/ledger.ts';
import type { ShownCheckpoint } from '../checkpoints/checkpoint.ts';
import type {
  CheckpointLine,
  EndLine,
  ExportLine,
  HeaderLine,
  RowLine,
  WithheldLine,
} from '../export/export-format.ts';
import type { SignedStatement } from '../export/proof.ts';
import { readRowText } from '../row-text.ts';
import { CheckpointCheck, type CheckpointReport, type CheckpointTrust } from './checkpoint-check.ts';
import type { VerifyReport } from './report.ts';
import { LedgerCheck } from './ledger-check.ts';

const LINK = /^[0-9a-f]{64}$/;
/** Bytes as an export writes them: other spellings of the same bytes are changes, too. */
const HEX = /^(?:[0-9a-f]{2})+$/;
const CHECKPOINT_MEMBERS = new Set(['checkpoint', 'heads', 'cuts', 'carried', 'credit']);
const STATEMENT_MEMBERS = new Set(['statement', 'key', 'public_key', 'signature']);

/** What an export shows. */
export interface ExportReport {
  readonly intact: boolean;
  readonly organization: string;
  /** RFC 3339: when it was made, as the file claims. */
  readonly at: string;
  readonly rows: VerifyReport;
  readonly checkpoints: CheckpointReport;
  /** The first bad line of the file, and its fault. */
  readonly file?: { readonly line: number; readonly detail: string };
}

/**
 * Verifies the lines of an export, each given without its line feed. Memory grows with the calls of the organization
 * (22 to 43 bytes each), not with the file.
 */
export async function verifyExport(lines: AsyncIterable<string>, trust: CheckpointTrust): Promise<ExportReport> {
  const check = new ExportCheck(trust);
  for await (const line of lines) check.line(line);
  return check.end();
}

class ExportCheck {
  readonly #trust: CheckpointTrust;
  readonly #digest = createHash('sha256');
  readonly #counts = { checkpoints: 0, strands: 0, rows: 0, withheld: 0 };
  #header: HeaderLine = { export: 1, organization: '', at: '' };
  #checkpoints: CheckpointCheck | undefined;
  #checked: CheckpointReport | undefined;
  #ledger: LedgerCheck | undefined;
  #strand: string | undefined;
  /** The row before, held back until the next one: that one shows how it was changed. */
  #waiting: SealedRow | undefined;
  #ended = false;
  #number = 0;
  #fault: ExportReport['file'];

  constructor(trust: CheckpointTrust) {
    this.#trust = trust;
  }

  line(text: string): void {
    this.#number += 1;
    try {
      this.#read(JSON.parse(text) as ExportLine, text);
    } catch (error) {
      this.#wrong(error instanceof RangeError ? error.message : 'it is not a line of an export');
    }
    this.#digest.update(text).update('\n');
  }

  end(): ExportReport {
    if (!this.#ended) this.#wrong('the file ends early: its last line is missing');
    this.#flush(undefined);
    const checkpoints = this.#checked ?? (this.#checkpoints ?? new CheckpointCheck(this.#trust)).end();
    const rows = (this.#ledger ?? new LedgerCheck(checkpoints)).end();
    return {
      intact: rows.intact && checkpoints.intact && this.#fault === undefined,
      organization: this.#header.organization,
      at: this.#header.at,
      rows,
      checkpoints,
      ...(this.#fault && { file: this.#fault }),
    };
  }

  #read(line: ExportLine, text: string): void {
    if (JSON.stringify(line) !== text) throw new RangeError('it is not in the form that gwctl writes');
    if (this.#ended) throw new RangeError('there are lines after the last one');
    if (this.#number === 1) return this.#begin(line);
    if ('checkpoint' in line) return this.#checkpoint(line);
    if ('strand' in line) return this.#beginStrand(line.strand);
    if ('row' in line) return this.#row(line);
    if ('withheld' in line) return this.#run(line);
    if ('end' in line) return this.#end(line);
    throw new RangeError('it is not a line of an export');
  }

  #begin(line: ExportLine): void {
    if (!('export' in line) || line.export !== 1) throw new RangeError('it is not an export of version 1');
    this.#header = line;
  }

  #checkpoint(line: CheckpointLine): void {
    if (this.#checked) throw new RangeError('checkpoints come before the strands');
    const checkpoint = shownCheckpoint(line);
    this.#checkpoints ??= new CheckpointCheck(this.#trust);
    this.#checkpoints.next(checkpoint);
    this.#counts.checkpoints += 1;
  }

  #beginStrand(strand: string): void {
    this.#flush(undefined);
    this.#checked ??= (this.#checkpoints ?? new CheckpointCheck(this.#trust)).end();
    this.#ledger ??= new LedgerCheck(this.#checked);
    this.#strand = strand;
    this.#counts.strands += 1;
  }

  #row({ row: text, link, superseded }: RowLine): void {
    const facts = readRowText(text);
    if (!facts || this.#strand === undefined || !LINK.test(link)) throw new RangeError('it has no audit row');
    if (facts.organization !== this.#header.organization)
      throw new RangeError('its row belongs to another organization');
    const { callId, organization, workload } = facts;
    const row = {
      strand: this.#strand,
      sequence: facts.sequence,
      callId,
      at: Date.parse(facts.at),
      organization,
      workload,
      cost: BigInt(facts.cost),
      row: text,
      link,
      ...(superseded && { superseded }),
    };
    this.#flush(row);
    this.#waiting = row;
    this.#counts.rows += 1;
  }

  #run({ withheld, from, count, link }: WithheldLine): void {
    const bytes = Buffer.from(withheld, 'base64');
    if (
      this.#strand === undefined ||
      bytes.length !== count * 32 ||
      !LINK.test(link) ||
      bytes.toString('base64') !== withheld
    )
      throw new RangeError('it does not have the hashes that it announces');
    this.#flush(undefined);
    const hashes = Array.from({ length: count }, (_, index) => bytes.subarray(index * 32, index * 32 + 32));
    this.#ledger?.run(this.#strand, from, hashes, link);
    this.#counts.withheld += count;
  }

  #end({ end: { sha256, ...counts } }: EndLine): void {
    this.#ended = true;
    this.#flush(undefined);
    if (JSON.stringify(counts) !== JSON.stringify(this.#counts))
      throw new RangeError('its counts of lines are wrong: lines were removed or added');
    if (sha256 !== this.#digest.copy().digest('hex'))
      throw new RangeError('its digest does not match the lines before it: they were changed');
  }

  #flush(next: SealedRow | undefined): void {
    if (this.#waiting) this.#ledger?.place([this.#waiting], next && [next]);
    this.#waiting = undefined;
  }

  #wrong(detail: string): void {
    this.#fault ??= { line: this.#number, detail };
  }
}

/** Every field is checked: an unchecked one could be changed unnoticed. */
function signedStatement(checkpoint: SignedStatement): SignedStatement {
  const { public_key: publicKey, signature } = checkpoint;
  if (!Object.keys(checkpoint).every((name) => STATEMENT_MEMBERS.has(name)))
    throw new RangeError('its checkpoint has unknown fields');
  if (!HEX.test(signature) || (publicKey !== undefined && !HEX.test(publicKey)))
    throw new RangeError('its checkpoint is not in the form that gwctl writes');
  return checkpoint;
}

function shownCheckpoint(line: CheckpointLine): ShownCheckpoint {
  const { checkpoint, heads, cuts, carried, credit } = line;
  if (!Object.keys(line).every((name) => CHECKPOINT_MEMBERS.has(name)))
    throw new RangeError('its checkpoint has unknown fields');
  const leaves = [heads, cuts ?? [], carried ?? [], credit ?? []].flat();
  if (leaves.some((leaf) => typeof leaf === 'string' && !LINK.test(leaf)))
    throw new RangeError('its checkpoint is not in the form that gwctl writes');
  const { statement, key, public_key: publicKey, signature } = signedStatement(checkpoint);
  const said = JSON.parse(statement) as {
    readonly number: number;
    readonly at: string;
    readonly root: string;
    readonly previous: string;
    readonly introduces?: string;
    readonly cut?: { readonly before: string };
    readonly credit?: object;
  };
  const { number, at, root, previous, introduces, cut } = said;
  return {
    number,
    at: Date.parse(at),
    root,
    previous,
    heads,
    ...(cut && { cut: { before: cut.before, strands: cuts ?? [], carried: carried ?? [] } }),
    ...(said.credit && { credit: credit ?? [] }),
    ...(introduces !== undefined && { introduces }),
    statement,
    key,
    ...(publicKey !== undefined && { publicKey }),
    signature,
  };
}
