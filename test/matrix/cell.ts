import type { Case } from './cases.ts';
import type { ExitFamily } from './exits/read-asked.ts';
import type { Kind } from './kinds/kind.ts';
import type { Surface } from './surfaces/surface.ts';
import type { Body } from './vocabulary.ts';

/** One combination of the matrix. */
export interface Cell {
  readonly name: string;
  readonly surface: Surface;
  readonly stream: boolean;
  readonly kind: Kind;
  /** Its last text of the user holds `mark`. */
  readonly one: Case;
  readonly mark: string;
}

/** The provider is asked in the surface's own family. */
export function isNative({ kind, surface }: Pick<Cell, 'kind' | 'surface'>): boolean {
  return kind.native.includes(surface.family);
}

/** The family that the provider is asked in. */
export function familyOf(cell: Cell): ExitFamily {
  return isNative(cell) ? cell.surface.family : cell.kind.exit;
}

interface Refusal {
  readonly why: string;
  readonly status: number;
  readonly code: string;
  /** What the client is told. */
  readonly message: RegExp;
}

/** Why a cell cannot be served, and the status that says so; undefined for all that can. */
export function refusalOf(cell: Pick<Cell, 'kind' | 'surface' | 'one'>): Refusal | undefined {
  const { kind, one } = cell;
  if (kind.refused !== undefined) {
    const message = /^The provider cannot be used through this endpoint\.$/;
    return { why: kind.refused, status: 404, code: 'model_not_found', message };
  }
  const pieces = one.turns.flatMap(({ items }) => items);
  // There is no document engine here: what it does with files is tested in test/documents.
  if (!kind.documents && pieces.some((item) => 'document' in item)) {
    const why = 'the model takes no files';
    return kind.images
      ? { why, status: 503, code: 'pdf_renderer_unavailable', message: /as images of its pages/ }
      : { why, status: 503, code: 'document_engine_unavailable', message: /runs without the inference engine/ };
  }
  // In its own family a request goes as it was written; what is wrong with it the vendor says itself.
  if (isNative(cell)) return undefined;
  if (!kind.images && pieces.some((item) => 'image' in item)) {
    return { why: 'the model cannot see', status: 400, code: 'invalid_request', message: /does not take images/ };
  }
  return undefined;
}

/** How hard to think in the words that this cell's provider is asked in; undefined where it cannot be told. */
export function effortOf(cell: Cell): Body | undefined {
  const { kind } = cell;
  const told = isNative(cell) ? kind.nativeEffort : kind.effort;
  if (told === undefined || Object.keys(told).length === 0) return undefined;
  const { reasoning_effort: effort } = told;
  return familyOf(cell) === 'responses' && effort !== undefined ? { effort } : told;
}

/** An unproven thought is taken back by whom it was written for, and never by Claude. // spec 4.5.4 */
export function keepsThoughts(cell: Cell): boolean {
  const { surface, kind } = cell;
  if (!isNative(cell) || surface.family === 'messages') return false;
  return surface.family === 'responses' || kind.takesThoughts === true;
}

/** The stop string that the provider gets. */
export function stopOf({ kind, surface, one }: Cell): string | undefined {
  return kind.stops && surface.stops ? one.stop : undefined;
}
