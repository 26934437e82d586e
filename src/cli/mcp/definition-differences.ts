import { showHidden } from '#/values/hidden-characters.ts';

/** A place in a definition where two differ; absent: it is not there. The texts are JSON, on one line. */
export interface Difference {
  readonly path: string;
  readonly before?: string;
  readonly after?: string;
}

/** Deeper values are compared as a whole. */
const MOST_DEPTH = 40;
const PLAIN = /^[A-Za-z_$][\w$-]*$/;

/** Where two definitions differ, in alphabetical order. Hidden characters are shown. */
export function definitionDifferences(before: unknown, after: unknown): readonly Difference[] {
  const found: Difference[] = [];
  compare(before, after, '', 0, found);
  return found;
}

function compare(before: unknown, after: unknown, path: string, depth: number, found: Difference[]): void {
  const [one, other] = [membersOf(before), membersOf(after)];
  const isPair = one !== undefined && other !== undefined && Array.isArray(before) === Array.isArray(after);
  const isAlone = (one !== undefined && after === undefined) || (other !== undefined && before === undefined);
  if (depth < MOST_DEPTH && (isPair || isAlone)) {
    const names = new Set([...(one?.keys() ?? []), ...(other?.keys() ?? [])]);
    for (const name of [...names].toSorted(inOrder))
      compare(one?.get(name), other?.get(name), stepTo(path, name), depth + 1, found);
    return;
  }
  const [left, right] = [textOf(before), textOf(after)];
  if (left === right) return;
  found.push({ path, ...(left !== undefined && { before: left }), ...(right !== undefined && { after: right }) });
}

/** The members of an object or a list; undefined of anything else, and of an empty one. */
function membersOf(value: unknown): ReadonlyMap<string | number, unknown> | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const members = Array.isArray(value) ? [...value.entries()] : Object.entries(value);
  return members.length === 0 ? undefined : new Map<string | number, unknown>(members);
}

function inOrder(a: string | number, b: string | number): number {
  return a < b ? -1 : Number(a > b);
}

function stepTo(path: string, name: string | number): string {
  if (typeof name === 'number') return `${path}[${name}]`;
  if (!PLAIN.test(name)) return `${path}[${showHidden(JSON.stringify(name))}]`;
  return path === '' ? name : `${path}.${name}`;
}

function textOf(value: unknown): string | undefined {
  return value === undefined ? undefined : showHidden(JSON.stringify(value));
}
