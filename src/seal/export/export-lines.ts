import { createHash } from 'node:crypto';
import type { Checkpoint } from '#/ports/checkpoints.ts';
import type { Evidence, EvidenceParts, ShownRow } from '#/ports/evidence.ts';
import { carriedLeaf, creditLeaf, cutLeaf, headLeaf } from '../checkpoints/checkpoint.ts';
import type { CheckpointLine, ExportCounts, ExportLine, HeaderLine } from './export-format.ts';
import { signedStatement } from './proof.ts';
import { readRowText } from '../row-text.ts';

/** Hashes on one line of an export. */
const RUN = 500;

/**
 * The lines of an organization's export, each with its line feed: its rows in full, of others the hashes that lead from
 * one row to the next. Constant memory. `at`: milliseconds since the epoch.
 */
export async function* exportLines(
  evidence: Pick<Evidence, 'checkpoints'> & Pick<EvidenceParts, 'strandsOf' | 'strand'>,
  organization: string,
  at: number,
): AsyncGenerator<string, ExportCounts> {
  const digest = createHash('sha256');
  const counts = { checkpoints: 0, strands: 0, rows: 0, withheld: 0 };
  const write = (line: ExportLine): string => {
    const text = `${JSON.stringify(line)}\n`;
    digest.update(text);
    return text;
  };
  const strands = new Set(await evidence.strandsOf(organization));
  yield write({ export: 1, organization, at: new Date(at).toISOString() } satisfies HeaderLine);
  for await (const checkpoint of evidence.checkpoints()) {
    counts.checkpoints += 1;
    yield write(checkpointLine(checkpoint, strands, organization));
  }
  for (const strand of strands) {
    counts.strands += 1;
    yield write({ strand });
    for await (const line of strandLines(evidence.strand(strand, organization), organization)) {
      if ('row' in line) counts.rows += 1;
      else counts.withheld += line.count;
      yield write(line);
    }
  }
  yield write({ end: { ...counts, sha256: digest.copy().digest('hex') } });
  return counts;
}

function checkpointLine(checkpoint: Checkpoint, strands: ReadonlySet<string>, organization: string): CheckpointLine {
  const { heads, cut, credit } = checkpoint;
  return {
    checkpoint: signedStatement(checkpoint),
    heads: heads.map((head) => (strands.has(head.strand) ? head : headLeaf(head).toString('hex'))),
    ...(cut && {
      cuts: cut.strands.map((each) => (strands.has(each.strand) ? each : cutLeaf(each).toString('hex'))),
      carried: cut.carried.map((sum) => (sum.organization === organization ? sum : carriedLeaf(sum).toString('hex'))),
    }),
    ...(credit && {
      credit: credit.map((head) => (head.organization === organization ? head : creditLeaf(head).toString('hex'))),
    }),
  };
}

type BodyLine = Extract<ExportLine, { readonly link: string }>;

async function* strandLines(rows: AsyncIterable<ShownRow>, organization: string): AsyncGenerator<BodyLine> {
  let run: ShownRow[] = [];
  const flush = function* (): Generator<BodyLine> {
    const [first] = run;
    const last = run.at(-1);
    if (!first || !last) return;
    const withheld = Buffer.from(run.map(({ hash }) => hash).join(''), 'hex').toString('base64');
    yield { withheld, from: first.sequence, count: run.length, link: last.link };
    run = [];
  };
  for await (const each of rows) {
    const { row, link, superseded } = each;
    // The text of the row decides whose it is, so a changed column never shows an organization rows of others.
    if (row !== undefined && readRowText(row)?.organization === organization) {
      yield* flush();
      yield { row, link, ...(superseded && { superseded }) };
      continue;
    }
    const before = run.at(-1);
    if (run.length === RUN || (before && before.sequence + 1 !== each.sequence)) yield* flush();
    run.push(each);
  }
  yield* flush();
}
