/** Work that others may be given a turn in the midst of: wherever it yields. What it returns is the same whenever they do. */
export type Steps<T> = Generator<undefined, T, undefined>;

/** Does all of it at once. */
export function finish<T>(steps: Steps<T>): T {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}
