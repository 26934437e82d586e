/** One event of a stream: `data` as JSON (or as it is, when text), a comment line, or bytes as they are. */
export type Frame =
  | { readonly data: unknown; readonly event?: string }
  | { readonly comment: string }
  | { readonly raw: string | Uint8Array };

/** The event that closes a chat stream. */
export const DONE: Frame = { data: '[DONE]' };

/** One event whose data is `bytes` bytes long. */
export function hugeFrame(bytes: number): Frame {
  return { data: 'x'.repeat(bytes) };
}

/** The bytes of each frame. */
export function encodeFrames(frames: readonly Frame[], eol: '\n' | '\r\n' | '\r' = '\n'): Buffer[] {
  return frames.map((frame) => {
    if ('raw' in frame) return Buffer.from(frame.raw);
    if ('comment' in frame) return Buffer.from(`: ${frame.comment}${eol}${eol}`);
    const data = typeof frame.data === 'string' ? frame.data : JSON.stringify(frame.data);
    const lines = data.split('\n').map((line) => `data: ${line}${eol}`);
    return Buffer.from(`${frame.event === undefined ? '' : `event: ${frame.event}${eol}`}${lines.join('')}${eol}`);
  });
}

/** The bytes of a stream as the writes that send it: one a frame, or cut where `splitAt` says. */
export function splitBytes(frames: readonly Buffer[], splitAt: readonly number[] | 'every-byte' | undefined): Buffer[] {
  if (splitAt === undefined) return [...frames];
  const whole = Buffer.concat(frames);
  const positions = splitAt === 'every-byte' ? Array.from(whole.keys()) : splitAt.toSorted((a, b) => a - b);
  const at = [0, ...positions.filter((position) => position > 0 && position < whole.length), whole.length];
  return at.slice(1).map((end, index) => whole.subarray(at[index], end));
}
