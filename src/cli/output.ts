/** Where a command writes: one call a line. */
export interface Output {
  /** What was asked for. */
  readonly out: (line: string) => void;
  /** What is said beside it, to people. */
  readonly err: (line: string) => void;
}
