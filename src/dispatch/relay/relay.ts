import type { ProviderConfig } from '#/config/snapshot.ts';
import { UpstreamFault } from '#/ports/provider.ts';
import { refuseCostlyJson } from '#/wire/answer/answer-bounds.ts';
import { estimatedTokens, inputTokens, NO_USAGE, type Usage } from '#/wire/answer/usage.ts';
import { SseDecoder, type SseEvent } from '#/wire/answer/sse.ts';
import { withoutCredentials } from '../upstream/without-credentials.ts';
import { ReportedFailure } from '../upstream/upstream-error.ts';
import { answerFault } from './answer-fault.ts';
import type { AnswerMeter } from './answer-meter.ts';

/** Events of a stream in which tags are restored. // spec 6.1.6 */
const MAX_TOKENIZED_EVENT = 4 * 1024 * 1024;
const MAX_EVENT = 64 * 1024 * 1024;

/** One provider stream on its way to a client: events read, metered and written, in whichever mode. */
export abstract class Relay {
  /** An event of the answer itself came: the call is being answered, and a failure can be a status no more. */
  begun = false;
  /** The failure of the stream, thrown after earlier parts were sent. */
  failure: Error | undefined;
  /** The end was sent: everything after it is ignored. */
  protected done = false;
  protected readonly meter: AnswerMeter;
  readonly #provider: ProviderConfig;
  readonly #decoder: SseDecoder;
  #outputBytes = 0;
  /** The latest reported usage: it counts once the stream ends. */
  #told: Usage | undefined;
  #isBelieved = true;

  constructor(meter: AnswerMeter, provider: ProviderConfig, tokenized: boolean) {
    this.meter = meter;
    this.#provider = provider;
    this.#decoder = new SseDecoder(tokenized ? MAX_TOKENIZED_EVENT : MAX_EVENT);
  }

  /** Whether the stream has said that its answer is complete. */
  protected abstract get complete(): boolean;
  /** What to send for one event of the provider's. */
  protected abstract relay(event: SseEvent): string;
  /** What to send when the bytes have ended; only then `complete` is final. */
  protected abstract close(): string;
  /** Text still held back, of a stream that broke. */
  protected abstract held(): string;

  /** The end was sent: the provider's stream does not have to be read further. */
  get over(): boolean {
    return this.done;
  }

  /** The answer is complete and only its usage is missing. */
  get awaitsUsage(): boolean {
    return this.complete && !this.done && this.meter.usage === undefined;
  }

  /** What to send for these bytes. Sets `failure` when the provider reports one or sends no stream of this family. */
  consume(bytes: Uint8Array): string {
    return this.#relayAll(() => this.#decoder.push(bytes));
  }

  /** What to send when the provider has ended the stream. Sets `failure` when the answer was not complete. */
  end(): string {
    const text = this.#relayAll(() => this.#decoder.end());
    if (this.failure !== undefined || this.done) return text;
    const rest = this.#guarded(() => this.close());
    if (this.failure !== undefined || this.done) return text + rest;
    this.failure = new UpstreamFault('reset', 'the stream ended before the answer was complete');
    return text + rest + this.#rest();
  }

  /**
   * Meters an event: usage so far, and bytes of output in case no usage is reported. False: it reported an implausible
   * usage.
   */
  protected observe(id: string | undefined, usage: Usage | undefined, outputBytes: number): boolean {
    if (id !== undefined) this.meter.identify(id);
    this.#outputBytes += outputBytes;
    const { complete } = this;
    this.#told = usage ?? this.#told;
    if (this.#told && (usage || complete)) {
      const seen = { bytes: this.#outputBytes, says: this.#outputBytes > 0, whole: complete };
      this.#isBelieved = this.meter.tell(this.#told, seen);
    }
    const isBelieved = usage === undefined || this.#isBelieved;
    if (outputBytes > 0 || !isBelieved) this.#count();
    return isBelieved;
  }

  /** Adds our own count to the believed usage of the provider. */
  #count(): void {
    const { meter } = this;
    const known = (this.#isBelieved ? this.#told : undefined) ?? NO_USAGE;
    const input = inputTokens(known) > 0 ? known : meter.seen;
    meter.seen = { ...input, output: Math.max(known.output, estimatedTokens(this.#outputBytes)), reasoning: 0 };
  }

  /** A failure that the provider tells in the stream. */
  protected reported(message: string | undefined, kind: string | undefined): ReportedFailure {
    // Under a managed account an error may speak of the account, which is not the client's.
    const { keyOwnership, credentials } = this.#provider;
    const isTold = keyOwnership === 'organization' && message !== undefined;
    const said = isTold ? withoutCredentials(message, credentials) : undefined;
    return new ReportedFailure(said, kind);
  }

  #relayAll(decode: () => readonly SseEvent[]): string {
    let text = '';
    return this.#guarded(
      () => {
        for (const event of decode()) {
          if (this.done) break;
          if (event.data !== undefined) refuseCostlyJson(event.data);
          text += this.relay(event);
        }
        return text;
      },
      () => text,
    );
  }

  /** Text still held back, of a stream that broke: as much of it as is within bounds. */
  #rest(): string {
    try {
      return this.held();
    } catch {
      return '';
    }
  }

  #guarded(work: () => string, soFar: () => string = () => ''): string {
    try {
      return work();
    } catch (thrown) {
      this.failure = answerFault(thrown);
      return soFar() + this.#rest();
    }
  }
}
