/** The command line says something that cannot be done; `message` tells what. Ends with status 2 and a hint at --help. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}
