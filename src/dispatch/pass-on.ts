import type { Emit } from '#/call/call.ts';
import { UpstreamFault } from '#/ports/provider.ts';
import { explain, type Coming, type Streaming } from './dispatch.ts';
import { headWith, PLAIN_HEAD } from './losses.ts';
import { dataIn, recordMade } from './kept/made-objects.ts';
import { readBuffered, type Reading } from './relay/buffered.ts';
import { inSlices } from './relay/read-in-slices.ts';
import type { Relay } from './relay/relay.ts';
import { outcomeOfFault } from './upstream/upstream-error.ts';

/**
 * Relays an answer, restoring tags; all other bytes stay as they came. The result is in its tally, also when this rejects.
 */
export async function passOn(coming: Coming, emit: Emit): Promise<void> {
  const { signal, from, permit, fair, tally, recalled, recorded, retain, reading } = coming;
  try {
    const isHeard = await ('relay' in reading ? streamed(coming, reading, emit) : buffered(coming, reading, emit));
    if (!isHeard || signal.aborted) return;
    tally.isServed = true;
    permit?.end('served');
    if (recorded) recalled.keep(from, recorded);
  } catch (thrown) {
    permit?.end(signal.aborted ? 'unknown' : outcomeOfFault(thrown, fair));
    throw explain(thrown, signal, tally);
  } finally {
    permit?.end('unknown');
    if ('upstream' in reading) reading.upstream.release();
    retain?.(recorded?.bytes);
  }
}

/** Whether the answer was taken to its end. */
async function buffered({ incoming, made, tally }: Coming, reading: Reading, emit: Emit): Promise<boolean> {
  const text = await readBuffered(reading, incoming, tally);
  if (made?.pattern.test(text)) await recordMade(made, [text]);
  const told = emit(tally.losses.length === 0 ? PLAIN_HEAD : headWith(tally.losses));
  if (!(told instanceof Promise ? await told : told)) return false;
  return emit({ kind: 'body', text });
}

/** Whether the answer was taken to its end. */
async function streamed(
  { signal, incoming, permit, made, tally }: Coming,
  { relay, restoration, upstream }: Streaming,
  emit: Emit,
): Promise<boolean> {
  const chunks = inSlices(incoming.chunks());
  let head = false;
  /** Nothing more is to be read. */
  let over = false;
  try {
    while (!over) {
      const next = await chunks.next();
      over = next.done === true;
      const text = next.done ? relay.end() : relay.consume(next.value);
      if (!head && relay.begun) {
        head = true;
        permit?.answering();
        if (restoration?.withheld) tally.lose('restore');
        if (!(await emit(tally.losses.length === 0 ? PLAIN_HEAD : headWith(tally.losses)))) return false;
      }
      if (head && text !== '' && !signal.aborted) {
        if (made?.pattern.test(text)) await recordMade(made, dataIn(text, made.pattern));
        if (!(await emit({ kind: 'body', text }))) return false;
      }
      if (relay.failure !== undefined) throw relay.failure;
      over ||= relay.over;
    }
    if (!head) throw new UpstreamFault('reset', 'the stream ended before its answer began');
    return true;
  } finally {
    if (!over && !relay.failure && upstream.draining) await drain(chunks, relay);
    incoming.close();
    if (restoration?.withheld) tally.lose('restore');
  }
}

/** Reads on for the usage of a stream after its client left. */
async function drain(chunks: AsyncIterator<Uint8Array>, relay: Relay): Promise<void> {
  try {
    for (let next = await chunks.next(); !next.done && !relay.failure; next = await chunks.next()) {
      relay.consume(next.value);
      if (relay.over) return;
    }
  } catch {
    // Out of time, or the provider failed too: the usage seen so far is billed.
  }
}
