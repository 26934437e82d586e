import type { Restoration } from '#/inspect/restore/restoration.ts';
import { FrameRestorer } from '#/inspect/restore/restore-frames.ts';
import type { Call } from '#/call/call.ts';
import type { StreamReader } from '#/wire/answer/frame.ts';
import { readDocument, render, type Edit, type WireDocument } from '#/wire/document/document.ts';
import type { JsonObject } from '#/wire/document/json.ts';
import { writeEvent, type SseEvent } from '#/wire/answer/sse.ts';
import { hidesCacheCounts } from './display.ts';
import type { Candidate } from '#/call/target.ts';
import type { AnswerMeter } from './answer-meter.ts';
import { Relay } from './relay.ts';

/**
 * A stream for a client of the provider's own family: events pass as they came, with tags restored, usage read for
 * metering, and the usage frame kept back when the client did not ask for it.
 */
export class VerbatimRelay extends Relay {
  readonly #codec: Call['codec'];
  readonly #model: string;
  readonly #includeUsage: boolean;
  readonly #reader: StreamReader;
  readonly #restorer: FrameRestorer | undefined;
  readonly #hideCache: boolean;
  #usageSent = false;

  constructor(
    { codec, ask }: Pick<Call, 'codec' | 'ask'>,
    restoration: Restoration | undefined,
    meter: AnswerMeter,
    { provider }: Candidate,
  ) {
    super(meter, provider.config, restoration !== undefined);
    this.#codec = codec;
    this.#model = ask.model;
    this.#includeUsage = ask.includeUsage;
    this.#reader = codec.streamReader(ask.answers);
    this.#hideCache = hidesCacheCounts(provider.config);
    if (restoration) this.#restorer = new FrameRestorer(codec, restoration, ask.jsonAnswer);
  }

  protected override get complete(): boolean {
    return this.#reader.finished;
  }

  protected override relay(event: SseEvent): string {
    const facts = this.#reader.read(event);
    if (facts.kind === 'error') throw this.reported(facts.error, facts.errorKind);
    if (event.data !== undefined) this.begun = true;
    const isBelieved = this.observe(facts.id, facts.usage, facts.body ? this.#codec.outputBytes(facts.body) : 0);
    const includeUsage = this.#includeUsage;
    if (facts.kind === 'usage' && !(includeUsage && isBelieved)) return '';
    if (facts.usage && isBelieved && includeUsage) this.#usageSent = true;
    const flat = facts.deviates && facts.body ? this.#flat(event, facts.body) : event;
    const counted = isBelieved ? flat : this.#withOurCount(flat);
    const shown = facts.usage && this.#hideCache ? this.#withoutCacheCounts(counted) : counted;
    const text = this.#restorer ? this.#restorer.restore(shown, facts) : shown.raw;
    return facts.kind === 'done' ? this.#finish(text) : text;
  }

  protected override close(): string {
    return this.#reader.finished ? this.#finish(this.#codec.streamEnd) : '';
  }

  protected override held(): string {
    return this.#restorer?.end() ?? '';
  }

  /** Text still held back, the usage frame if it was asked for and the provider sent none, then the end. */
  #finish(end: string): string {
    this.done = true;
    const held = this.held();
    if (!this.#includeUsage || this.#usageSent) return held + end;
    const billed = this.meter.usage ?? this.meter.seen;
    const like = { id: this.meter.providerResponseId ?? '', model: this.#model.slice(this.#model.indexOf('/') + 1) };
    const frame = this.#codec.usageFrame(like, billed);
    return held + (frame ? writeEvent(JSON.stringify(frame)) : '') + end;
  }

  #flat(event: SseEvent, body: JsonObject): SseEvent {
    const flat = this.#codec.flatAnswer?.(body);
    if (!flat) return event;
    const data = JSON.stringify(flat);
    return { event: event.event, data, raw: writeEvent(data, event.event) };
  }

  #withoutCacheCounts(event: SseEvent): SseEvent {
    return this.#edited(event, (frame) => this.#codec.hideCacheCounts(frame));
  }

  /** A usage that can't be true gives way to the one that is billed. // spec 6.1.2 */
  #withOurCount(event: SseEvent): SseEvent {
    return this.#edited(event, (frame) => this.#codec.tellUsage?.(frame, this.meter.seen) ?? []);
  }

  #edited(event: SseEvent, editsOf: (frame: WireDocument) => readonly Edit[]): SseEvent {
    const frame = readDocument(this.#codec.family, event.data!, { lenient: true });
    const edits = editsOf(frame);
    if (edits.length === 0) return event;
    const data = render(frame.text, edits);
    return { event: event.event, data, raw: writeEvent(data, event.event) };
  }
}
