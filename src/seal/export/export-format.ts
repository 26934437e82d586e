import type { CarriedSum, CreditHead, StrandCut, StrandHead } from '#/ports/checkpoints.ts';
import type { Leaf } from '../checkpoints/checkpoint.ts';
import type { SignedStatement } from './proof.ts';

/** The first line of an export. See README.md in this folder. */
export interface HeaderLine {
  readonly export: 1;
  readonly organization: string;
  /** RFC 3339. */
  readonly at: string;
}

/** A checkpoint; of the strands that are left out, leaf hashes. */
export interface CheckpointLine {
  readonly checkpoint: SignedStatement;
  readonly heads: readonly Leaf<StrandHead>[];
  readonly cuts?: readonly Leaf<StrandCut>[];
  readonly carried?: readonly Leaf<CarriedSum>[];
  readonly credit?: readonly Leaf<CreditHead>[];
}

/** The rows of this strand follow. */
interface StrandLine {
  readonly strand: string;
}

/** A row of the organization. */
export interface RowLine {
  readonly row: string;
  readonly link: string;
  readonly superseded?: true;
}

/** Rows of others, or dropped ones: `count` SHA-256, 32 bytes each, base64. */
export interface WithheldLine {
  readonly withheld: string;
  readonly from: number;
  readonly count: number;
  /** The link of the last one. */
  readonly link: string;
}

/** The last line: without it, the file was cut off. */
export interface EndLine {
  readonly end: ExportCounts & {
    /** SHA-256 (hex) of all bytes before this line. */
    readonly sha256: string;
  };
}

export interface ExportCounts {
  readonly checkpoints: number;
  readonly strands: number;
  readonly rows: number;
  readonly withheld: number;
}

export type ExportLine = HeaderLine | CheckpointLine | StrandLine | RowLine | WithheldLine | EndLine;
