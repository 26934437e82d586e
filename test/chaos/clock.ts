import { readFileSync } from 'node:fs';

// Preloaded into a gateway process (`node --import`): lets a test set its wall clock. On SIGUSR2 it is put wrong by as
// many milliseconds as the file CHAOS_CLOCK says. Timers and `performance.now` go on as they do when an administrator,
// or a time server, sets a machine's clock.

const { now } = Date;
let wrongBy = 0;

const RealDate = Date;
class ShiftedDate extends RealDate {
  constructor(...given: unknown[]) {
    if (given.length === 0) super(now() + wrongBy);
    else super(...(given as [number]));
  }
  static override now(): number {
    return now() + wrongBy;
  }
}
globalThis.Date = ShiftedDate as DateConstructor;

process.on('SIGUSR2', () => {
  wrongBy = Number(readFileSync(process.env['CHAOS_CLOCK'] ?? '', 'utf8'));
});
