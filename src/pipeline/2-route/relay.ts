import { asGatewayError, GatewayError } from '#errors/gateway-error.ts';
import type { ProviderConfig } from '#config/snapshot.ts';
import { StreamRestorer } from '#inspect/restore.ts';
import type { TagTable } from '#inspect/tags.ts';
import type { Call } from '#pipeline/call.ts';
import { UpstreamFault } from '#ports/provider.ts';
import type { Entry } from '#seal/entry.ts';
import type { FrameFacts, StreamReader } from '#wire/codec.ts';
import { NotAJsonObject } from '#wire/document.ts';
import { AmbiguousJson, TooManyValues } from '#wire/scan.ts';
import { estimatedTokens, type Usage } from '#wire/usage.ts';
import { SseDecoder, SseEventTooLarge, writeEvent, type SseEvent } from '#wire/sse.ts';

/** Events of a stream in which tags are restored. // spec 6.1.6 */
const MAX_TOKENIZED_EVENT = 4 * 1024 * 1024;
const MAX_EVENT = 64 * 1024 * 1024;

/**
 * One provider stream on its way to a client of the same family: events pass as they came, with tags restored, usage
 * read for metering, and the usage frame kept back when the client did not ask for it.
 */
export class StreamRelay {
  /** An event of the answer itself came: the call is being answered, and a failure can be a status no more. */
  begun = false;
  /** What broke the stream, to be thrown after what came before it was sent. */
  failure: Error | undefined;
  readonly #call: Call;
  readonly #entry: Entry;
  readonly #provider: ProviderConfig;
  readonly #decoder: SseDecoder;
  readonly #reader: StreamReader;
  readonly #restorer: StreamRestorer | undefined;
  #outputBytes = 0;
  /** Usage told before the stream was over: it counts once nothing more comes. */
  #interim: Usage | undefined;
  /** The end was sent: whatever comes after it is nobody's. */
  #done = false;
  #usageSent = false;

  constructor(call: Call, tags: TagTable, entry: Entry, provider: ProviderConfig) {
    this.#call = call;
    this.#entry = entry;
    this.#provider = provider;
    const tokenized = tags.size > 0;
    this.#decoder = new SseDecoder(tokenized ? MAX_TOKENIZED_EVENT : MAX_EVENT);
    this.#reader = call.codec.streamReader();
    if (tokenized) this.#restorer = new StreamRestorer(call.codec, tags, call.ask.jsonAnswer);
  }

  /** Nothing more is to be sent: the provider need not be read on. */
  get over(): boolean {
    return this.#done;
  }

  /** The answer is complete and only its usage is missing. */
  get awaitsUsage(): boolean {
    return this.#reader.finished && !this.#done && this.#entry.usage === undefined;
  }

  /** What to send for these bytes. Sets `failure` when the provider reports one or sends no stream of this family. */
  consume(bytes: Uint8Array): string {
    return this.#relayAll(() => this.#decoder.push(bytes));
  }

  /** What to send when the provider has ended the stream. Sets `failure` when the answer was not complete. */
  end(): string {
    const text = this.#relayAll(() => this.#decoder.end());
    if (this.failure !== undefined || this.#done) return text;
    if (this.#reader.finished) return text + this.#close(this.#call.codec.streamEnd);
    this.failure = new UpstreamFault('reset', 'the stream ended before the answer was complete');
    return text + this.#held();
  }

  #relayAll(decode: () => readonly SseEvent[]): string {
    let text = '';
    try {
      for (const event of decode()) if (!this.#done) text += this.#relay(event);
      return text;
    } catch (thrown) {
      this.failure = asFault(thrown);
      return text + this.#held();
    }
  }

  #held(): string {
    return this.#restorer?.end() ?? '';
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
    const held = this.#held();
    if (!this.#call.ask.includeUsage || this.#usageSent) return held + end;
    const { codec, ask } = this.#call;
    const billed = this.#entry.usage ?? this.#entry.seen;
    const like = { id: this.#entry.providerResponseId ?? '', model: ask.model.slice(ask.model.indexOf('/') + 1) };
    const frame = codec.usageFrame(like, billed);
    return held + (frame ? writeEvent(JSON.stringify(frame)) : '') + end;
  }

  #observe(facts: FrameFacts): void {
    if (facts.id !== undefined) this.#entry.providerResponseId ??= facts.id;
    this.#interim = facts.usage ?? this.#interim;
    if (this.#reader.finished && this.#interim) this.#entry.usage = this.#interim;
    if (facts.outputBytes === 0) return;
    this.#outputBytes += facts.outputBytes;
    this.#entry.seen = { ...this.#entry.seen, output: estimatedTokens(this.#outputBytes) };
  }

  #reported(facts: FrameFacts): GatewayError {
    // Under a managed account an error may speak of the account, which is not the client's.
    const said = this.#provider.keyOwnership === 'organization' ? facts.error : undefined;
    const { attempts } = this.#entry;
    return new GatewayError('upstream_error', said ?? 'The provider reported an error.', {
      report: { cause: 'reported', attempts },
    });
  }
}

function asFault(thrown: unknown): Error {
  if (thrown instanceof SseEventTooLarge) return new UpstreamFault('protocol', thrown.message);
  if (
    thrown instanceof SyntaxError ||
    thrown instanceof AmbiguousJson ||
    thrown instanceof NotAJsonObject ||
    thrown instanceof TooManyValues
  ) {
    return new UpstreamFault('protocol', 'a stream event is not JSON', { cause: thrown });
  }
  return asGatewayError(thrown);
}
