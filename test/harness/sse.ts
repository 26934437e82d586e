/** Something a stream of server-sent events said. */
export type SseMessage =
  | { readonly type: 'event'; readonly event: string; readonly data: string; readonly id?: string }
  | { readonly type: 'comment'; readonly text: string };

/**
 * Reads a whole stream of server-sent events and refuses what a client could trip over: bytes that are not UTF-8, fields
 * the format does not know, an event without data, a last event that no blank line closes. For tests only. Events and
 * comments come out in order; an event without a name is a `message`.
 */
export function parseSse(bytes: Uint8Array): SseMessage[] {
  const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  const lines = text.split(/\r\n|\r|\n/);
  const messages: SseMessage[] = [];
  let pending = emptyEvent();
  const rest = lines.pop();
  if (rest !== '') throw new SyntaxError(`the last line has no end: ${rest}`);
  for (const line of lines) {
    if (line.startsWith(':')) {
      messages.push({ type: 'comment', text: line.slice(1).replace(/^ /, '') });
    } else if (line !== '') {
      readField(line, pending);
    } else if (pending.fields > 0) {
      messages.push(finishEvent(pending));
      pending = emptyEvent();
    }
  }
  if (pending.fields > 0) throw new SyntaxError('the last event is not closed by a blank line');
  return messages;
}

/** The data of every event, comments left out. */
export function sseData(bytes: Uint8Array): string[] {
  return parseSse(bytes).flatMap((message) => (message.type === 'event' ? [message.data] : []));
}

interface PendingEvent {
  fields: number;
  event: string | undefined;
  id: string | undefined;
  readonly data: string[];
}

function emptyEvent(): PendingEvent {
  return { fields: 0, event: undefined, id: undefined, data: [] };
}

function readField(line: string, pending: PendingEvent): void {
  const colon = line.indexOf(':');
  const name = colon < 0 ? line : line.slice(0, colon);
  const value = colon < 0 ? '' : line.slice(colon + 1).replace(/^ /, '');
  pending.fields += 1;
  if (name === 'data') pending.data.push(value);
  else if (name === 'event' && pending.event === undefined) pending.event = value;
  else if (name === 'id' && pending.id === undefined) pending.id = value;
  else if (name !== 'retry') throw new SyntaxError(`unexpected line: ${line}`);
}

function finishEvent({ event, id, data }: PendingEvent): SseMessage {
  if (data.length === 0) throw new SyntaxError(`an event without data: ${event ?? ''}`);
  return { type: 'event', event: event ?? 'message', data: data.join('\n'), ...(id === undefined ? {} : { id }) };
}
