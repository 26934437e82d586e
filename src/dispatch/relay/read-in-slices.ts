import { setImmediate as nextSlice } from 'node:timers/promises';

/** As many bytes as are read of a stream without a look at the clock: hundreds of the smallest events. */
const SLICE_BYTES = 16 * 1024;
/** How long reading one stream may keep all other calls waiting. */
const SLICE_MS = 10;

/** A stream in pieces of which none takes long to read. Where it is time, others run between two of them. */
export async function* inSlices(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  for await (const chunk of chunks) {
    let began = performance.now();
    for (let at = 0; at < chunk.length; at += SLICE_BYTES) {
      if (at > 0 && performance.now() - began > SLICE_MS) {
        await nextSlice();
        began = performance.now();
      }
      yield chunk.length <= SLICE_BYTES ? chunk : chunk.subarray(at, at + SLICE_BYTES);
    }
  }
}
