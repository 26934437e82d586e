import { AnswerOutOfBounds } from '#/wire/answer/answer-bounds.ts';
import type { FrameFacts } from '#/wire/answer/frame.ts';
import type { Called, Codec, Delta } from '#/wire/hub/codec.ts';
import { readDocument, render, setString, type Edit, type WireDocument } from '#/wire/document/document.ts';
import type { JsonObject } from '#/wire/document/json.ts';
import type { JsonNode } from '#/wire/document/scan.ts';
import { writeEvent, type SseEvent } from '#/wire/answer/sse.ts';
import { CallRestorer, restoreCall } from './restore-call.ts';
import type { Restoration } from './restoration.ts';
import { mayHoldTag } from '../tags.ts';
import { TextRestorer } from './restore-text.ts';

/** Whether a channel begins with one of these prefixes, which are empty or end with a slash. */
function isWithin(channel: string, prefixes: ReadonlySet<string>): boolean {
  if (prefixes.size === 0) return false;
  for (let end = 0; ;) {
    if (prefixes.has(channel.slice(0, end))) return true;
    end = channel.indexOf('/', end) + 1;
    if (end === 0) return false;
  }
}

/** Most texts of one stream that may hold something back at once: twice as many as there may be answers. */
const MOST_HOLDING = 256;
/** Most texts of one stream that are followed; tags of others stay. */
const MOST_CHANNELS = 4096;
/** Characters of frames without tags that are read only once a tag comes. */
const MOST_BEHIND = 64 * 1024;

type Channel = TextRestorer | CallRestorer;

/** Puts originals back in a streamed answer, frame by frame, each text of the stream on its own. */
export class FrameRestorer {
  readonly #codec: Codec;
  readonly #restoration: Restoration;
  readonly #jsonAnswer: boolean;
  readonly #channels = new Map<string, Channel>();
  /** Those of them that hold something back. */
  readonly #holding = new Set<string>();
  /** Which tools the calls of the stream are of. */
  readonly #tools = new Map<string, string>();
  /** Frames that were passed on unread. */
  #behind: string[] = [];
  #behindLength = 0;
  /** The last frame with content: what a frame for held-back text is modelled on. */
  #last: JsonObject = {};

  constructor(codec: Codec, restoration: Restoration, jsonAnswer: boolean) {
    this.#codec = codec;
    this.#restoration = restoration;
    this.#jsonAnswer = jsonAnswer;
  }

  /** The text to send for an event: its own bytes where nothing is restored. Throws `AnswerOutOfBounds`. */
  restore(event: SseEvent, facts: FrameFacts): string {
    if (event.data === undefined || facts.kind === 'other') return event.raw;
    // The end is a bare mark in some families, in others an event that repeats the answer.
    const isMark = facts.kind === 'done' && !/^\s*\{/.test(event.data);
    if (isMark || facts.kind === 'error') return this.end() + event.raw;
    if (this.#holding.size === 0 && !mayHoldTag(event.data)) {
      this.#leaveBehind(event.data);
      return event.raw;
    }
    this.#catchUp();
    const frame = this.#read(event.data);
    this.#last = frame.body;
    const ended = new Set(this.#codec.ends(frame.body));
    const isLast = facts.kind === 'done';
    const ends = (channel: string): boolean => isLast || isWithin(channel, ended);
    const edits: Edit[] = [];
    const seen = new Set<string>();
    const calls = new Map<JsonNode, Called>();
    for (const delta of this.#codec.deltas(frame, this.#jsonAnswer)) {
      seen.add(delta.channel);
      if (delta.called) {
        calls.set(delta.called.told, { ...delta.called, tool: this.#toolOf(delta) });
        continue;
      }
      const text = this.#push(delta, ends(delta.channel));
      if (text !== delta.node.value) edits.push(setString(delta.node, text));
    }
    for (const called of calls.values()) {
      for (const edit of restoreCall(called, this.#restoration)) edits.push(edit);
    }
    const late = isLast || ended.size > 0 ? this.#flush((channel) => !seen.has(channel) && ends(channel)) : '';
    return late + (edits.length === 0 ? event.raw : writeEvent(render(event.data, edits), event.event));
  }

  /** Frames for whatever is still held back: the stream is over. Throws `AnswerOutOfBounds`. */
  end(): string {
    return this.#flush(() => true);
  }

  #read(data: string): WireDocument {
    const frame = readDocument(this.#codec.family, data, { lenient: true });
    for (const { call, tool } of this.#codec.calls?.(frame.body) ?? []) {
      if (this.#tools.size < MOST_CHANNELS) this.#tools.set(call, tool);
    }
    return frame;
  }

  #toolOf({ called, call }: Delta): string {
    return called?.tool || this.#tools.get(call ?? '') || '';
  }

  #leaveBehind(data: string): void {
    this.#behind.push(data);
    this.#behindLength += data.length;
    if (this.#behindLength > MOST_BEHIND) this.#catchUp();
  }

  /** Reads what was passed on unread: what comes next may be part of an address that began there. */
  #catchUp(): void {
    if (this.#behind.length === 0) return;
    for (const data of this.#behind) {
      const frame = this.#read(data);
      const ended = new Set(this.#codec.ends(frame.body));
      for (const delta of this.#codec.deltas(frame, this.#jsonAnswer)) {
        if (delta.called) continue;
        if (isWithin(delta.channel, ended)) this.#channels.delete(delta.channel);
        else this.#channel(delta)?.follow(delta.node.value);
      }
    }
    this.#behind = [];
    this.#behindLength = 0;
  }

  #channel({ channel, kind, call }: Delta): Channel | undefined {
    let restorer = this.#channels.get(channel);
    if (restorer || this.#channels.size >= MOST_CHANNELS) return restorer;
    const tool = (): string => this.#tools.get(call ?? '') ?? '';
    restorer =
      call === undefined
        ? new TextRestorer(this.#restoration, kind)
        : new CallRestorer(this.#restoration, tool, 'input');
    this.#channels.set(channel, restorer);
    return restorer;
  }

  #push(delta: Delta, ends: boolean): string {
    const { channel, node } = delta;
    const restorer = this.#channel(delta);
    if (!restorer) {
      this.#restoration.withheld ||= node.value.includes('«');
      return node.value;
    }
    const text = restorer.push(node.value) + (ends ? restorer.flush() : '');
    if (ends) this.#channels.delete(channel);
    if (!restorer.holding) this.#holding.delete(channel);
    else if (this.#holding.add(channel).size > MOST_HOLDING) {
      throw new AnswerOutOfBounds(`more than ${MOST_HOLDING} texts of the stream end inside a tag`);
    }
    return text;
  }

  #flush(which: (channel: string) => boolean): string {
    let frames = '';
    for (const channel of this.#holding) {
      if (!which(channel)) continue;
      this.#holding.delete(channel);
      const held = this.#channels.get(channel)?.flush() ?? '';
      this.#channels.delete(channel);
      const frame = this.#codec.deltaFrame(this.#last, channel, held);
      frames += writeEvent(JSON.stringify(frame), this.#codec.eventName?.(frame));
    }
    return frames;
  }
}
