import { readFileSync } from 'node:fs';
import type { QueryConfig } from 'pg';

/** A prepared statement without its values. */
export interface Statement {
  readonly name: string;
  readonly text: string;
}

/** The SQL that the adapter runs while it serves: one file each. */
export const STATEMENTS = {
  append: statement('append'),
  droppedCalls: statement('dropped-calls'),
  totals: statement('totals'),
  rows: statement('rows'),
  scan: statement('scan'),
  superseded: statement('superseded'),
  repeatedCalls: statement('repeated-calls'),
  find: statement('find'),
  ping: statement('ping'),
  heads: statement('heads'),
  lastCheckpoint: statement('last-checkpoint'),
  saveCheckpoint: statement('save-checkpoint'),
  saveCut: statement('save-cut'),
  checkpoints: statement('checkpoints'),
  withheld: statement('withheld'),
  strandsOf: statement('strands-of'),
  shown: statement('shown'),
  coveringHead: statement('covering-head'),
  linkBefore: statement('link-before'),
  retentionPlan: statement('retention-plan'),
  carriedSums: statement('carried-sums'),
  withholdRows: statement('withhold-rows'),
  addPartitions: statement('add-partitions'),
  foldSpend: statement('fold-spend'),
  spendDifferences: statement('spend-differences'),
  usage: statement('usage'),
  usagePending: statement('usage-pending'),
  usageDifferences: statement('usage-differences'),
  foldUsage: statement('fold-usage'),
  expireUsage: statement('expire-usage'),
  backfillUsage: statement('backfill-usage'),
  driftSuspects: statement('drift-suspects'),
  putContent: statement('put-content'),
  findContent: statement('find-content'),
  eraseContent: statement('erase-content'),
  expireContent: statement('expire-content'),
  recordObjects: statement('record-objects'),
  findObjects: statement('find-objects'),
  listObjects: statement('list-objects'),
  forgetObject: statement('forget-object'),
  expireObjects: statement('expire-objects'),
  readPins: statement('read-pins'),
  changePins: statement('change-pins'),
  pinnedServers: statement('pinned-servers'),
  pinnedDefinitions: statement('pinned-definitions'),
  askApproval: statement('ask-approval'),
  useApproval: statement('use-approval'),
  decideApproval: statement('decide-approval'),
  listApprovals: statement('list-approvals'),
  expireApprovals: statement('expire-approvals'),
  jobsKept: statement('jobs-kept'),
  waitingJobs: statement('waiting-jobs'),
  enterJob: statement('enter-job'),
  queueJob: statement('queue-job'),
  findJob: statement('find-job'),
  cancelJob: statement('cancel-job'),
  takeJob: statement('take-job'),
  keepJob: statement('keep-job'),
  endJob: statement('end-job'),
  requeueJob: statement('requeue-job'),
  expireJobs: statement('expire-jobs'),
  leftoverFiles: statement('leftover-files'),
  clearFile: statement('clear-file'),
  forgetJobs: statement('forget-jobs'),
  putFile: statement('put-file'),
  getFile: statement('get-file'),
  removeFile: statement('remove-file'),
  lockCredit: statement('lock-credit'),
  addCredit: statement('add-credit'),
  findCredit: statement('find-credit'),
  creditEntries: statement('credit-entries'),
  creditHeads: statement('credit-heads'),
  creditChain: statement('credit-chain'),
  creditStandings: statement('credit-standings'),
} as const;

/** A query for node-postgres; `query_timeout`: milliseconds. */
export type TimedQuery = QueryConfig & { readonly query_timeout?: number };

/** A query for node-postgres. `timeoutMs` bounds the wait for its result; a timeout closes the connection too. */
export function query({ name, text }: Statement, values: readonly unknown[] = [], timeoutMs?: number): TimedQuery {
  return { name, text, values: [...values], ...(timeoutMs === undefined ? undefined : { query_timeout: timeoutMs }) };
}

function statement(file: string): Statement {
  return { name: `gw_${file}`, text: readFileSync(new URL(`./statements/${file}.sql`, import.meta.url), 'utf8') };
}
