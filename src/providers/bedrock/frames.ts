import { UpstreamFault } from '#/ports/provider.ts';

/** Lengths and checksums that every frame has: 12 bytes before its headers, 4 at its end. */
const LEAST_FRAME = 16;
/** The largest frame that AWS makes is 16 MiB of payload with 128 KiB of headers. */
const MOST_FRAME = 17 * 1024 * 1024;
const LENGTH_BYTES = 4;

/**
 * Cuts a byte stream into whole event-stream frames, whatever way it was split. Does not look into a frame beyond its
 * length: the codec checks the checksums.
 */
export class FrameCutter {
  #rest: Uint8Array[] = [];
  #size = 0;
  /** Length of the frame that `#rest` begins with; 0 while unknown. */
  #wanted = 0;

  /** The frames completed by these bytes. Throws `UpstreamFault` at a length no frame has. */
  push(bytes: Uint8Array): Uint8Array[] {
    this.#rest.push(bytes);
    this.#size += bytes.length;
    const frames: Uint8Array[] = [];
    for (;;) {
      if (this.#wanted === 0) {
        if (this.#size < LENGTH_BYTES) break;
        this.#wanted = frameLength(this.#joined());
      }
      if (this.#size < this.#wanted) break;
      const whole = this.#joined();
      frames.push(whole.subarray(0, this.#wanted));
      this.#rest = whole.length === this.#wanted ? [] : [whole.subarray(this.#wanted)];
      this.#size -= this.#wanted;
      this.#wanted = 0;
    }
    return frames;
  }

  /** Whether the bytes so far end in the middle of a frame. */
  get cut(): boolean {
    return this.#size > 0;
  }

  #joined(): Uint8Array {
    const [only] = this.#rest;
    if (this.#rest.length === 1 && only) return only;
    const whole = Buffer.concat(this.#rest, this.#size);
    this.#rest = [whole];
    return whole;
  }
}

function frameLength(bytes: Uint8Array): number {
  const length = new DataView(bytes.buffer, bytes.byteOffset, LENGTH_BYTES).getUint32(0);
  if (length < LEAST_FRAME || length > MOST_FRAME) {
    throw new UpstreamFault('protocol', 'the provider sent an event-stream frame of an impossible length');
  }
  return length;
}
