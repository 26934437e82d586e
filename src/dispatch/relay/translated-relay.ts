import type { Restoration } from '#/inspect/restore/restoration.ts';
import { EventRestorer } from '#/inspect/restore/restore-events.ts';
import type { Call } from '#/call/call.ts';
import type { StreamEvent } from '#/wire/hub/canonical.ts';
import type { AnswerContext, StreamDecoder, StreamEncoder } from '#/wire/hub/codec.ts';
import { refuseManyParts } from '#/wire/answer/answer-bounds.ts';
import type { SseEvent } from '#/wire/answer/sse.ts';
import type { Usage } from '#/wire/answer/usage.ts';
import { hidesCacheCounts, shownUsage } from './display.ts';
import type { Candidate, Translation } from '#/call/target.ts';
import type { AnswerMeter } from './answer-meter.ts';
import { Relay } from './relay.ts';

/** A stream for a client of another family: events are read into the hub and written in the client's own words. */
export class TranslatedRelay extends Relay {
  readonly #decoder: StreamDecoder;
  readonly #encoder: StreamEncoder;
  readonly #restorer: EventRestorer | undefined;
  readonly #hideCache: boolean;
  #parts = 0;

  constructor(
    { ask }: Pick<Call, 'ask'>,
    restoration: Restoration | undefined,
    meter: AnswerMeter,
    { provider, model }: Candidate,
    { client, upstream }: Translation,
    context: AnswerContext,
  ) {
    super(meter, provider.config, restoration !== undefined);
    this.#decoder = upstream.streamDecoder();
    this.#encoder = client.streamEncoder(context);
    this.#hideCache = hidesCacheCounts(provider.config);
    // Only in this family does the client get the signature, and must send both back as they came. // spec 4.5.4
    const signed = client.family === 'messages' && provider.traits(model).claude;
    if (restoration) this.#restorer = new EventRestorer(restoration, ask.jsonAnswer, signed);
  }

  protected override get complete(): boolean {
    return this.#decoder.finished;
  }

  protected override relay(event: SseEvent): string {
    let text = '';
    for (const one of this.#decoder.decode(event)) text += this.#pass(one);
    return text;
  }

  protected override close(): string {
    let text = '';
    for (const one of this.#decoder.end()) text += this.#pass(one);
    return this.#decoder.finished ? text + this.#finish() : text;
  }

  protected override held(): string {
    return (this.#restorer?.flush() ?? []).map((event) => this.#encoder.encode(event)).join('');
  }

  #pass(event: StreamEvent): string {
    if (this.done) return '';
    if (event.type === 'error') throw this.reported(event.message, event.code);
    if (event.type === 'warning') return '';
    if (event.type === 'end') return this.#finish();
    this.begun = true;
    if (event.type === 'part-start') refuseManyParts(++this.#parts);
    const id = event.type === 'start' ? event.id : undefined;
    if (this.observe(id, 'usage' in event ? event.usage : undefined, outputBytes(event))) return this.#write(event);
    // An implausible usage is not passed on: our own count follows at the end. // spec 6.1.2
    return event.type === 'start' ? this.#write({ type: 'start', ...(id !== undefined && { id }) }) : '';
  }

  /** The final usage, then the end: whatever the provider said last, in the client's family it comes in this order. */
  #finish(): string {
    this.observe(undefined, undefined, 0);
    this.done = true;
    const usage = this.meter.usage ?? this.meter.seen;
    return this.#write({ type: 'usage', usage }) + this.#write({ type: 'end' });
  }

  #write(event: StreamEvent): string {
    const shown = 'usage' in event && event.usage ? { ...event, usage: this.#shown(event.usage) } : event;
    if (!this.#restorer) return this.#encoder.encode(shown);
    let text = '';
    for (const restored of this.#restorer.restore(shown)) text += this.#encoder.encode(restored);
    return text;
  }

  #shown(usage: Usage): Usage {
    return this.#hideCache ? shownUsage(usage) : usage;
  }
}

function outputBytes(event: StreamEvent): number {
  if (event.type === 'part-delta') return Buffer.byteLength(event.text);
  if (event.type !== 'part-start') return 0;
  const { part } = event;
  if ('text' in part) return Buffer.byteLength(part.text);
  return part.type === 'tool-call' ? Buffer.byteLength(part.name + part.argumentsJson) : 0;
}
