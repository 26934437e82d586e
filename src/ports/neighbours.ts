/** The gateway processes of one installation. A message reaches those that run now, or is lost. */
export interface Neighbours {
  /** What others call this process: letters, digits and dashes. */
  readonly name: string;
  /** Sends a short message to one process, or to all others. Rejects where it surely was not sent. */
  send(message: string, to?: string): Promise<void>;
  /** Takes what others send to this process. */
  hear(take: (message: string) => void): void;
  close(): void;
}
