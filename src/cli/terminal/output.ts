/** Where a command writes: one call a line. */
export interface Output {
  /** The result. */
  readonly out: (line: string) => void;
  /** Remarks to people, apart from the result. */
  readonly err: (line: string) => void;
}
