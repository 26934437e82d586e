import { setImmediate as nextTurn } from 'node:timers/promises';

/** As many bytes as are read of a stream without a look at the clock: hundreds of the smallest events. */
const SLICE = 16 * 1024;
/** How long reading one stream may keep all other calls waiting. */
const TURN_MS = 10;

/** A stream in pieces of which none takes long to read. Between two of them others have their turn, where it is time. */
export async function* inTurns(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  for await (const chunk of chunks) {
    let began = performance.now();
    for (let at = 0; at < chunk.length; at += SLICE) {
      if (at > 0 && performance.now() - began > TURN_MS) {
        await nextTurn();
        began = performance.now();
      }
      yield chunk.length <= SLICE ? chunk : chunk.subarray(at, at + SLICE);
    }
  }
}
