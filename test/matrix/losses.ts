import { effortOf, familyOf, isNative, type Cell } from './cell.ts';

/** What a cell's audit row must say was dropped, sorted. */
export function lossesOf(cell: Cell): readonly string[] {
  const { kind, surface, one } = cell;
  const native = isNative(cell);
  const family = familyOf(cell);
  const losses: string[] = [];
  if (one.stop !== undefined && surface.stops && !kind.stops) losses.push('stop');
  if (one.effort && !effortOf(cell))
    losses.push(native && family === 'responses' ? 'reasoning.effort' : 'reasoning_effort');
  if (one.effort && kind.uncapped) losses.push('max_tokens');
  if (one.schema && kind.json !== 'schema') losses.push('response_format');
  const hasFile = one.turns.some(({ items }) => items.some((item) => 'document' in item));
  if (hasFile && family === 'gemini') losses.push('file.filename');
  return losses.sort();
}
