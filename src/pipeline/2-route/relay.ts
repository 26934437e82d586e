import { GatewayError } from '#errors/gateway-error.ts';
import { StreamRestorer } from '#inspect/restore.ts';
import type { TagTable } from '#inspect/tags.ts';
import type { Call } from '#pipeline/call.ts';
import { UpstreamFault } from '#ports/provider.ts';
import type { Entry } from '#seal/entry.ts';
import type { FrameFacts, StreamReader } from '#wire/codec.ts';
import { AmbiguousJson } from '#wire/scan.ts';
import { SseDecoder, SseEventTooLarge, writeEvent, type SseEvent } from '#wire/sse.ts';

/** Events of a stream in which tags are restored. // spec 6.1.6 */
const MAX_TOKENIZED_EVENT = 4 * 1024 * 1024;
const MAX_EVENT = 64 * 1024 * 1024;
const CHARACTERS_PER_TOKEN = 4;

/**
 * One provider stream on its way to a client of the same family: events pass as they came, with tags restored, usage
 * read for metering, and the usage frame kept back when the client did not ask for it.
 */
export class StreamRelay {
  /** An event of the answer itself came: the call is being answered, and a failure can be a status no more. */
  begun = false;
  readonly #call: Call;
  readonly #entry: Entry;
  readonly #slug: string;
  readonly #decoder: SseDecoder;
  readonly #reader: StreamReader;
  readonly #restorer: StreamRestorer | undefined;
  #outputLength = 0;
  #done = false;
  #usageSent = false;

  constructor(call: Call, tags: TagTable, entry: Entry, slug: string) {
    this.#call = call;
    this.#entry = entry;
    this.#slug = slug;
    const tokenized = tags.size > 0;
    this.#decoder = new SseDecoder(tokenized ? MAX_TOKENIZED_EVENT : MAX_EVENT);
    this.#reader = call.codec.streamReader();
    if (tokenized) this.#restorer = new StreamRestorer(call.codec, tags, call.ask.jsonAnswer);
  }

  /** What to send for these bytes. Throws when the provider reports a failure or sends no stream of this family. */
  consume(bytes: Uint8Array): string {
    return this.#guarded(() => this.#decoder.push(bytes).reduce((text, event) => text + this.#relay(event), ''));
  }

  /** What to send when the provider has ended the stream. Throws when the answer was not complete. */
  end(): string {
    return this.#guarded(() => {
      const text = this.#decoder.end().reduce((sent, event) => sent + this.#relay(event), '');
      if (!this.#reader.finished) throw new UpstreamFault('reset', 'the stream ended before the answer was complete');
      return this.#done ? text : text + this.#close(this.#call.codec.streamEnd);
    });
  }

  #relay(event: SseEvent): string {
    const facts = this.#reader.read(event);
    if (facts.kind === 'error') throw this.#reported(facts);
    if (event.data !== undefined) this.begun = true;
    this.#observe(facts);
    if (facts.kind === 'done') return this.#close(event.raw);
    if (facts.kind === 'usage' && !this.#call.ask.includeUsage) return '';
    if (facts.usage && this.#call.ask.includeUsage) this.#usageSent = true;
    return this.#restorer ? this.#restorer.restore(event, facts) : event.raw;
  }

  /** Text still held back, the usage frame if it was asked for and the provider sent none, then the end. */
  #close(end: string): string {
    this.#done = true;
    const held = this.#restorer?.end() ?? '';
    if (!this.#call.ask.includeUsage || this.#usageSent) return held + end;
    const { codec, ask } = this.#call;
    const billed = this.#entry.usage ?? this.#entry.seen;
    const like = { id: this.#entry.providerResponseId ?? '', model: ask.model.slice(ask.model.indexOf('/') + 1) };
    const frame = codec.usageFrame(like, billed);
    return held + (frame ? writeEvent(JSON.stringify(frame)) : '') + end;
  }

  #observe(facts: FrameFacts): void {
    if (facts.id !== undefined) this.#entry.providerResponseId ??= facts.id;
    if (facts.usage) this.#entry.usage = facts.usage;
    if (facts.outputLength === 0) return;
    this.#outputLength += facts.outputLength;
    this.#entry.seen = { ...this.#entry.seen, output: Math.ceil(this.#outputLength / CHARACTERS_PER_TOKEN) };
  }

  #reported(facts: FrameFacts): GatewayError {
    const message = facts.error ?? 'The provider reported an error.';
    const attempts = this.#entry.attempts;
    return new GatewayError('upstream_error', `${this.#slug}: ${message}`, { report: { cause: 'reported', attempts } });
  }

  #guarded(action: () => string): string {
    try {
      return action();
    } catch (thrown) {
      if (thrown instanceof SseEventTooLarge) throw new UpstreamFault('protocol', thrown.message);
      if (thrown instanceof SyntaxError || thrown instanceof AmbiguousJson) {
        throw new UpstreamFault('protocol', 'a stream event is not JSON', { cause: thrown });
      }
      throw thrown;
    }
  }
}
