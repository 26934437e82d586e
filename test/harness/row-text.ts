import { canonicalRow } from '#/seal/row-text.ts';
import type { AuditRow } from '#/seal/row.ts';

/** The canonical text of a row that has its position already. */
export function rowText(row: AuditRow): string {
  return canonicalRow(row, row);
}
