/** Names that only one gateway sets first, so that work is done once. Stored with the counters, and lost with them. */
export interface Marks {
  /** Sets a name for that time, unless it is set already. True: it is the caller's to do. */
  claim(organization: string, name: string, ms: number): Promise<boolean>;
  /** Sets a name for that time, whoever had it: the work is done. */
  keep(organization: string, name: string, ms: number): Promise<void>;
}
