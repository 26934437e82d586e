import { METRIC_GROUPS } from '../../tools/reference/metrics.ts';

/** The metrics of every program, by the file that declares them. */
export const LISTED_GROUPS = Object.values(METRIC_GROUPS).flatMap((groups) => Object.values(groups));
