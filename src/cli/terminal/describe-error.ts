/** PostgreSQL's error codes and what they mean here. */
const POSTGRES: Readonly<Record<string, string>> = {
  '42P01': 'this database holds no audit ledger',
  '28P01': 'the database refuses this user or password',
  '55P03': 'another process is using the ledger: try again later',
  '3D000': 'this database does not exist',
};

/** One line for people, without a stack. */
export function describeError(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { code } = error as NodeJS.ErrnoException;
  // Connecting tries every address of a host: the first failure speaks for all.
  if (error instanceof AggregateError && error.errors.length > 0) return describeError(error.errors[0]);
  if (code === 'ECONNREFUSED' || code === 'ENOTFOUND' || code === 'ETIMEDOUT') {
    return `the database cannot be reached (${error.message})`;
  }
  if (code === '42501') return `this database user lacks the permission (${error.message})`;
  return (
    (code !== undefined && POSTGRES[code]) ||
    error.message.replace(/(?<!\s)\s*\n\s*/g, ' ').replace(/\.$/, '') ||
    error.name
  );
}
