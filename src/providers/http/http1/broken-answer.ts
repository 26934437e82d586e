/** An answer that is not HTTP/1.1, or that two readers could read differently. The code names the fault. */
export class BrokenAnswer extends Error {
  override readonly name = 'BrokenAnswer';
  readonly code: string;

  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}

/** A connection that ended before the answer did, or a head that is longer than any is read. */
export class CutOff extends Error {
  override readonly name = 'CutOff';
  readonly code: string;

  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}
