/** A model's name without its version, and the version: `claude-sonnet-5-5` is `claude-sonnet` and 5, 5. */
interface Versioned {
  readonly line: string;
  readonly version: readonly number[];
}

const DATE = /[-@](?:20\d{6}|20\d{2}-\d{2}-\d{2})$/;

function versionOf(model: string): Versioned {
  const name = model
    .slice(model.lastIndexOf('/') + 1)
    .toLowerCase()
    .replace(DATE, '');
  const parts = name.split(/[-.]/);
  const isNumber = (part: string): boolean => /^\d{1,2}$/.test(part);
  return {
    line: parts.filter((part) => !isNumber(part)).join('-'),
    version: parts.filter(isNumber).map(Number),
  };
}

/** Those of the models that are of the same line and older, the newest first. */
export function olderModels(model: string, models: readonly string[]): readonly string[] {
  const { line, version } = versionOf(model);
  if (version.length === 0) return [];
  return models
    .map((id) => ({ id, ...versionOf(id) }))
    .filter((one) => one.line === line && one.version.length > 0 && compare(one.version, version) < 0)
    .toSorted((a, b) => compare(b.version, a.version))
    .map(({ id }) => id);
}

/** A missing part sorts before 0. */
function compare(a: readonly number[], b: readonly number[]): number {
  for (let at = 0; at < Math.max(a.length, b.length); at++) {
    const difference = (a[at] ?? -1) - (b[at] ?? -1);
    if (difference !== 0) return difference;
  }
  return 0;
}
