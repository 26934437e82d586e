/** What the supervisor asks a process, by number. */
export interface Question {
  readonly asked: number;
}

/** What a process says of itself: its state when it is asked, and once that it listens. */
export type Told =
  | { readonly answers: number; readonly notReady: string | null; readonly metrics: string }
  | { readonly listens: string };
