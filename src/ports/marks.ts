/** Names that one gateway of all sets first, so that something is done once. Kept beside the counters, and lost with them. */
export interface Marks {
  /** Sets a name for that time, unless it is set already. True: it is the caller's to do. */
  claim(organization: string, name: string, ms: number): Promise<boolean>;
  /** Sets a name for that time, whoever had it: it is done. */
  keep(organization: string, name: string, ms: number): Promise<void>;
}
