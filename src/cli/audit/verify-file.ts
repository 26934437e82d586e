import { createReadStream } from 'node:fs';
import type { Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { verifyProof, type Proof, type ProofReport } from '#/seal/export/proof.ts';
import type { CheckpointTrust } from '#/seal/verify/checkpoint-check.ts';
import { verifyExport } from '#/seal/verify/export-check.ts';
import { describe, isIntact, type Findings } from './report.ts';
import type { Output } from '../terminal/output.ts';
import { UsageError } from '../terminal/usage-error.ts';

/** Longest line that is read: heads of a thousand gateways come to a tenth of it. */
const MAX_LINE = 64 * 1024 * 1024;

/** Verifies an export or a proof, with nothing but the file. Returns the exit status: 0 intact, 1 changed. */
export async function verifyFile(file: string, trust: CheckpointTrust, json: boolean, output: Output): Promise<number> {
  const lines = linesOf(openFile(file));
  const first = await lines.next();
  const text = first.done ? '' : first.value;
  if (isProof(text)) return reportProof(verifyProof(JSON.parse(text) as Proof, trust.publicKeys), json, output);
  if (!text.startsWith('{"export":')) throw new UsageError(`${file} is neither an export nor a proof written by gwctl`);
  const all = async function* (): AsyncGenerator<string> {
    yield text;
    yield* lines;
  };
  const { organization, at, file: wrong, rows, checkpoints } = await verifyExport(all(), trust);
  const findings: Findings = { rows, checkpoints, sums: [], file: wrong };
  const intact = isIntact(findings);
  if (json) {
    const { vouched: _, cuts: __, credit: ___, ...report } = checkpoints;
    output.out(JSON.stringify({ organization, at, ...rows, intact, checkpoints: report, file: wrong }, undefined, 2));
  } else {
    output.out(`export of ${organization}, made at ${at}`);
    for (const line of describe(findings)) output.out(line);
  }
  return intact ? 0 : 1;
}

function isProof(text: string): boolean {
  try {
    return (JSON.parse(text) as { proof?: unknown }).proof === 1;
  } catch {
    return false;
  }
}

function reportProof(report: ProofReport, json: boolean, { out }: Output): number {
  const { intact, fault, callId, strand, sequence, checkpoint, last } = report;
  if (json) out(JSON.stringify(report, undefined, 2));
  else if (!intact) out(`BROKEN: the proof of call ${callId} does not hold\n  ${fault}`);
  else {
    out(`intact: call ${callId} is row ${sequence} of strand ${strand}, under checkpoint ${checkpoint?.number}`);
    const signatures = report.signaturesChecked ? 'signatures checked' : 'signatures not checked (give --public-key)';
    out(`signed ${checkpoint?.at}, ${signatures}; checkpoint ${last?.number} has the hash ${last?.hash}`);
  }
  return intact ? 0 : 1;
}

function openFile(file: string): Readable {
  const source = createReadStream(file);
  if (!file.endsWith('.gz')) return source;
  const plain = createGunzip();
  source.on('error', (error) => plain.destroy(error));
  return source.pipe(plain);
}

/** The lines of a text, without their line feeds. Throws RangeError for one that is too long. */
async function* linesOf(source: Readable): AsyncGenerator<string, undefined> {
  let rest: Buffer[] = [];
  let size = 0;
  for await (const chunk of source as AsyncIterable<Buffer>) {
    let from = 0;
    for (let at; (at = chunk.indexOf(10, from)) !== -1; from = at + 1) {
      yield decode(Buffer.concat([...rest, chunk.subarray(from, at)]));
      rest = [];
      size = 0;
    }
    rest.push(chunk.subarray(from));
    size += chunk.length - from;
    if (size > MAX_LINE) throw new RangeError(`a line is longer than ${MAX_LINE} bytes`);
  }
  if (size > 0) yield decode(Buffer.concat(rest));
}

/** Bytes that are no UTF-8 become a text that is no JSON. */
function decode(bytes: Buffer): string {
  const text = bytes.toString('utf8');
  return Buffer.byteLength(text) === bytes.length && Buffer.from(text).equals(bytes) ? text : '';
}
