import { EventStreamCodec } from '@smithy/core/event-streams';

/** One event of a stream: JSON, or a word such as `[DONE]`. */
export interface Frame {
  /** Name of the event; of an event stream, its `:event-type`. */
  readonly event?: string;
  /** An event stream's exception instead of an event. */
  readonly isException?: boolean;
  readonly data: unknown;
}

/** How a provider frames its streams; `chunks`: event-stream frames that hold events of another protocol in base64. */
export type Framing = 'sse' | 'event-stream' | 'chunks';

const codec = new EventStreamCodec(
  (bytes) => (typeof bytes === 'string' ? bytes : Buffer.from(bytes).toString('utf8')),
  (text) => Buffer.from(text, 'utf8'),
);

/** The media type of a framing. */
export function mediaType(framing: Framing): string {
  return framing === 'sse' ? 'text/event-stream' : 'application/vnd.amazon.eventstream';
}

/** Reads a whole stream of server-sent events, or of event-stream frames with bare JSON in them. */
export function readFrames(bytes: Buffer, framing: Framing): Frame[] {
  return framing === 'sse' ? readSse(bytes.toString('utf8')) : readEventStream(bytes);
}

function readSse(stream: string): Frame[] {
  return stream.split('\n\n').flatMap((block): Frame[] => {
    const lines = block.split('\n');
    const event = lines.find((line) => line.startsWith('event: '))?.slice('event: '.length);
    const data = lines.find((line) => line.startsWith('data: '))?.slice('data: '.length);
    if (data === undefined) return [];
    const value: unknown = data.startsWith('{') ? JSON.parse(data) : data;
    return [{ ...(event !== undefined && { event }), data: value }];
  });
}

function readEventStream(bytes: Buffer): Frame[] {
  const frames: Frame[] = [];
  for (let start = 0; start < bytes.length;) {
    const length = bytes.readUInt32BE(start);
    const { headers, body } = codec.decode(bytes.subarray(start, start + length));
    const data: unknown = JSON.parse(Buffer.from(body).toString('utf8'));
    frames.push({ event: String(headers[':event-type']?.value), data });
    start += length;
  }
  return frames;
}

/** One frame as its provider sends it. */
export function writeFrame({ event, data, isException }: Frame, framing: Framing): Buffer {
  const json = typeof data === 'string' ? data : JSON.stringify(data);
  if (framing === 'sse') return Buffer.from(`${event === undefined ? '' : `event: ${event}\n`}data: ${json}\n\n`);
  const isChunk = framing === 'chunks' && isException !== true;
  const body = isChunk ? JSON.stringify({ bytes: Buffer.from(json).toString('base64') }) : json;
  const header = (value: string) => ({ type: 'string' as const, value });
  return Buffer.from(
    codec.encode({
      headers: {
        [isException ? ':exception-type' : ':event-type']: header(isChunk ? 'chunk' : (event ?? '')),
        ':content-type': header('application/json'),
        ':message-type': header(isException ? 'exception' : 'event'),
      },
      body: Buffer.from(body),
    }),
  );
}
