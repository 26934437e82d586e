import { ELSEWHERE, MEASURED } from './elsewhere.ts';
import { HASHES } from './hashes.ts';
import { MISSING } from './missing.ts';
import { NO_PROMISE } from './no-promise.ts';
import { testsBySentence, type NamedTest } from './titles.ts';

/** What becomes of a sentence. */
type State = 'tested' | 'elsewhere' | 'measured' | 'no promise' | 'does not hold' | 'nobody has looked';

/** A row of the table. */
export interface Row {
  readonly id: string;
  readonly hash: string;
  readonly state: State;
  readonly tests: readonly NamedTest[];
  /** Why it is no promise, or what is missing. */
  readonly note: string | undefined;
}

/** A row for each sentence that is known by its hash. */
export function table(): readonly Row[] {
  const here = testsBySentence();
  const sections = Object.entries(HASHES).toSorted(([a], [b]) => a.localeCompare(b, 'en', { numeric: true }));
  return sections.flatMap(([section, hashes]) =>
    hashes.split(/\s+/).map((hash, index) => rowOf(`${section}/${index + 1}`, hash, here)),
  );
}

function rowOf(id: string, hash: string, here: ReturnType<typeof testsBySentence>): Row {
  const own = here.get(id) ?? [];
  const others = ELSEWHERE[id] ?? [];
  const tests = [...own, ...others];
  const missing = MISSING[id];
  const reason = NO_PROMISE[id];
  if (missing !== undefined) return { id, hash, state: 'does not hold', tests, note: missing };
  if (own.length > 0) return { id, hash, state: 'tested', tests, note: undefined };
  if (others.length > 0) return { id, hash, state: 'elsewhere', tests, note: undefined };
  const measured = MEASURED[id];
  if (measured) return { id, hash, state: 'measured', tests, note: `${measured.says} (\`${measured.file}\`)` };
  return { id, hash, state: reason === undefined ? 'nobody has looked' : 'no promise', tests, note: reason };
}
