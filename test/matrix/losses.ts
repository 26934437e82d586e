import { effortOf, familyOf, isNative, keepsThoughts, type Cell } from './cell.ts';

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
  const hasThought = one.turns.some(({ items }) => items.some((item) => 'thought' in item));
  // In the messages surface a thought without a signature is taken out before anything else, whoever is asked.
  if (hasThought && surface.family === 'messages') losses.push('thinking');
  else if (hasThought && !keepsThoughts(cell)) {
    if (!native) losses.push('thinking');
    else if (family === 'chat') losses.push('messages[].reasoning_content');
  }
  return losses.sort();
}
