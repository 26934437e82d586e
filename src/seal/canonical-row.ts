import { canonicalJson, keepsOrder } from '#/wire/document/canonical-json.ts';
import { orderedRow } from './ordered-row.ts';
import type { RowPosition, UnplacedRow } from './row.ts';

/**
 * RFC 8785 text of a row at its position, which is stored and hashed. Lone surrogates, which RFC 8785 cannot represent, become
 * U+FFFD. Throws RangeError on a number that JSON cannot hold.
 */
export function canonicalRow(row: UnplacedRow, position: RowPosition): string {
  const copy = orderedRow(row, position);
  for (const name in row.dlp.findings) if (!keepsOrder(name)) return canonicalJson({ ...copy, dlp: row.dlp });
  const text = JSON.stringify(copy);
  // `\ud…` is how lone surrogates are written; an escaped backslash before "ud" takes the slow way in vain.
  return text.includes('\\ud') ? canonicalJson(copy) : text;
}
