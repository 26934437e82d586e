/** A job's way: taken up from `queued`, ended as one of the last four. `expired`: its result is gone. // design 11 */
export type JobState = 'queued' | 'running' | 'succeeded' | 'failed' | 'cancelled' | 'expired';

/** A job as it is handed in. */
export interface NewJob {
  /** UUIDv7: also the id of the call that its audit row and its debit are by. */
  readonly id: string;
  readonly organization: string;
  readonly workload: string;
  readonly key: string;
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
  /** The encrypted instructions. */
  readonly order: Uint8Array;
  /** That its document takes in the store. */
  readonly inputBytes: number;
}

/** How much may be kept. */
export interface JobBounds {
  /** Jobs of one organization that are not done. */
  readonly waiting: number;
  /** Bytes of all documents and results. */
  readonly storedBytes: number;
}

/**
 * Progress of a job. `waiting`: not started. In `reading` it is read and searched, in `rewriting` written again; if
 * pages were recognized, the result is read once more, `checking`. `done`: there was a result. A failed job keeps
 * its last phase.
 */
export interface JobProgress {
  readonly phase: 'waiting' | 'reading' | 'rewriting' | 'checking' | 'done';
  /** Undefined until it is known. */
  readonly pages: number | undefined;
  /** Of this phase. */
  readonly pagesDone: number;
}

/** A job as those who handed it in may see it. */
export interface Job {
  readonly id: string;
  readonly organization: string;
  readonly workload: string;
  readonly state: JobState;
  /** It was asked to end, and has not yet. */
  readonly cancelling: boolean;
  readonly progress: JobProgress;
  readonly error: JobError | undefined;
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
  /** Milliseconds since the epoch; of a result that is there. */
  readonly expiresAt: number | undefined;
  /** What the result is, encrypted. */
  readonly outcome: Uint8Array | undefined;
}

/** Why a job failed: a code of the error catalogue and a sentence for the client. */
interface JobError {
  readonly code: string;
  readonly message: string;
}

/** What those who hand in jobs ask of the store. */
export interface JobBook {
  /** Records a job whose document is about to be stored; no process takes it yet. */
  enter(job: NewJob, bounds: JobBounds): Promise<'entered' | 'too_many' | 'no_room'>;
  /** Its document is stored: it may be taken up. */
  queue(id: string): Promise<void>;
  find(id: string): Promise<Job | undefined>;
  /**
   * Ends a job that waits, asks one that runs to end, and gives up the result of one that succeeded; any other stays as it
   * is. Resolves with the job as it is then.
   */
  cancel(id: string): Promise<Job | undefined>;
  /** How many jobs wait, of all organizations. */
  waiting(): Promise<number>;
}

/** A job that a process works on. */
export interface TakenJob extends Omit<NewJob, 'inputBytes'> {
  /** Id of this lease: the process with the newest one has the job. */
  readonly lease: string;
  /** How often it was taken up, this time included, where that tells of it. */
  readonly takes: number;
  /** It was cancelled: only sealing remains. */
  readonly cancelled: boolean;
}

/** New facts about a running job. */
export interface JobNews {
  readonly progress?: JobProgress;
  /** Its result is stored, of as many bytes. */
  readonly result?: { readonly outcome: Uint8Array; readonly bytes: number };
}

/** How a process releases a job. */
export type JobEnd =
  | { readonly state: 'succeeded'; readonly keptMs: number }
  | { readonly state: 'failed'; readonly error: JobError }
  | { readonly state: 'cancelled' }
  /** To be taken up again; `counted`: this time may have been the job's own fault. */
  | { readonly state: 'queued'; readonly inMs: number; readonly counted: boolean };

/** What those who work on jobs ask of the store. */
export interface JobQueue {
  /**
   * Takes a job that waits, or whose process has not renewed its lease in time; from the organization with the fewest
   * running jobs. A job of a lost process counts as taken at least `leftTakes` times: it may have caused
   * the loss. Undefined: no job waits.
   */
  take(lease: string, leaseMs: number, leftTakes: number): Promise<TakenJob | undefined>;
  /** Renews the lease. `cancelled`: end the job. `lost`: another process has it. */
  keep(job: TakenJob, leaseMs: number, news: JobNews): Promise<'kept' | 'cancelled' | 'lost'>;
  /** False if another process has it: then nothing changed. */
  end(job: TakenJob, end: JobEnd): Promise<boolean>;
  /** Lets results expire and deletes old jobs; resolves with a bounded number of files that are no longer needed. */
  leftovers(): Promise<readonly JobFile[]>;
  /** These files were removed. */
  cleared(files: readonly JobFile[]): Promise<void>;
}

/** A file of a job. */
export interface JobFile {
  readonly job: string;
  readonly part: 'input' | 'result';
}

/** Where the files of jobs are; whatever is stored was encrypted before. */
export interface JobFiles {
  /** Stores a file, in the place of one that is there. */
  put(file: JobFile, encrypted: Uint8Array): Promise<void>;
  get(file: JobFile): Promise<Buffer | undefined>;
  /** Removes it if it is there. */
  remove(file: JobFile): Promise<void>;
}
