import type { PassthroughCall } from '#/call/passthrough-call.ts';
import { MOST_TOKENS_PER_IMAGE, TOKENS_PER_IMAGE, type Believable } from '#/meter/plausible-usage.ts';
import type { AnswerTally } from '../answer-tally.ts';
import { refuseCostlyJson } from '#/wire/answer/answer-bounds.ts';
import { isObject, type Json, type JsonObject } from '#/wire/document/json.ts';
import {
  estimatedTokens,
  isTold,
  mediaBuckets,
  NO_USAGE,
  toldCount,
  tokenCount,
  type Usage,
} from '#/wire/answer/usage.ts';
import { readImageUsage } from '#/wire/images/usage.ts';

/** What of a passthrough call's body says how much it asks for. */
export interface SentBody {
  /** Bytes of its text. */
  readonly textLength: number;
  /** Pictures that were asked for, at most. */
  readonly images: number;
  /** Seconds of video that were asked for. */
  readonly seconds: number | undefined;
  /** It carries files. */
  readonly isForm: boolean;
  /** Bytes of its files, at most. */
  readonly fileLength?: number;
  /** Output tokens that were asked for at most. */
  readonly outputTokens?: number | undefined;
  /** What a form says is known when all of it was sent. */
  readonly sayingAll?: (() => Pick<SentBody, 'textLength' | 'images' | 'seconds'>) | undefined;
}

/** What an answer of unknown kind may have where its request does not say. */
export const MAX_OUTPUT_TOKENS = 16_384;

/** Bytes of a second of sound as it is mostly sent: 128 kbit/s, or 24,000 samples where nothing is compressed. */
const BYTES_PER_SECOND = 16_000;
const RAW_BYTES_PER_SECOND = 48_000;
const RAW_SOUND = /\b(?:wav|wave|x-wav|pcm|l16)\b/i;
/** What vendors count a second of sound as. */
const TOKENS_PER_SECOND = 17;
/** The most pictures that one request takes. */
const MOST_PICTURES_SENT = 16;
/** Speech is sent in as little as a thirty-second part of the usual bytes. */
const FEWEST_BYTES_SHARE = 32;
/** Vendors bill recordings of no length as if they had some. */
const SHORTEST_BILLED_SECONDS = 60;
/** The longest video that is made of a request that names no length. */
const MOST_VIDEO_SECONDS = 60;
/** Usage stands at the end of a stream, in one of its last lines. */
const MOST_LINES = 64;
/** The shortest video there is to ask for. */
const LEAST_VIDEO_SECONDS = 4;

/** Meters the answer of a passthrough call: by what it says of itself, and by our own count where it says nothing. */
export class PassedAnswer {
  readonly #call: PassthroughCall;
  readonly #sent: SentBody;
  readonly #tally: AnswerTally;
  readonly #bytesPerSecond: number;
  /** Seconds of sound in the request. */
  #heard = 0;
  #bytes = 0;

  constructor(call: PassthroughCall, sent: SentBody, tally: AnswerTally, contentType = '') {
    this.#call = call;
    this.#sent = sent;
    this.#tally = tally;
    this.#bytesPerSecond = RAW_SOUND.test(contentType) ? RAW_BYTES_PER_SECOND : BYTES_PER_SECOND;
  }

  /** The provider has begun to answer. `sentBytes`: of the request's body, its files included. */
  begin(sentBytes: number): void {
    const { isForm, textLength } = this.#sent;
    if (isForm) this.#heard = Math.ceil(Math.max(0, sentBytes - textLength) / BYTES_PER_SECOND);
    this.add(0);
  }

  /** So many more bytes of it came. */
  add(bytes: number): void {
    this.#bytes += bytes;
    const { surface, quantities } = this.#call;
    if (quantities.length === 0) return;
    const { seen, seconds } = this.#sound();
    this.#tally.seen = seen;
    if (surface === 'audio') this.#tally.units = { seconds };
    else if (surface === 'passthrough') return;
    else if (surface === 'videos') this.#tally.units = { seconds: this.#sent.seconds ?? LEAST_VIDEO_SECONDS };
    else this.#tally.units = { images: this.#sent.images };
  }

  /** Reads a whole JSON answer. False: it is no object. */
  read(text: string): boolean {
    let body: unknown;
    try {
      refuseCostlyJson(text);
      body = JSON.parse(text);
    } catch {
      return false;
    }
    if (!isObject(body)) return false;
    const { surface } = this.#call;
    if (surface === 'passthrough') {
      this.#tell(body, true);
      return true;
    }
    const { usage, data } = body;
    const isHeard = surface === 'audio' && this.#sent.isForm;
    const told = surface === 'images' ? readImageUsage(usage) : readUsage(usage, isHeard);
    const seconds = secondsOf(body);
    this.#tally.believable = this.#believable();
    // The bytes of pictures bound nothing: what they may count for is known.
    const bytes = surface === 'images' ? 0 : text.length * 3;
    if (told) this.#tally.tell(told, { bytes, says: false, whole: true });
    this.#tally.tellUnits({
      ...(seconds !== undefined && { seconds }),
      ...(Array.isArray(data) && { images: data.length }),
    });
    return true;
  }

  /** Reads the end of a stream of events for the usage that it tells. */
  readEvents(end: string): void {
    const lines = end.split(/\r\n?|\n/).slice(-MOST_LINES);
    for (const line of lines.toReversed()) {
      if (!line.startsWith('data:') || !line.includes('"usage"')) continue;
      try {
        const text = line.slice('data:'.length);
        refuseCostlyJson(text);
        const body: unknown = JSON.parse(text);
        if (isObject(body) && this.#tell(body, false)) return;
      } catch {
        // Another line may be whole.
      }
    }
  }

  /** What an answer of a path without a surface says that it used; false: it says nothing. */
  #tell(body: JsonObject, whole: boolean): boolean {
    if (!this.#call.quantities.includes('tokens')) return false;
    const holders = whole ? [body] : [body, body['response'], body['message']];
    const told = holders.map((one) => (isObject(one) ? readAnyUsage(one['usage']) : undefined)).find(Boolean);
    this.#tally.believable = this.#believable();
    if (told) this.#tally.tell(told, { bytes: this.#bytes, says: false, whole: true });
    return told !== undefined;
  }

  /** Bytes bound tokens, and so does what a picture can be at most; a recording has no fewer bytes than speech needs. */
  #believable(): Believable {
    const { textLength, images, seconds, isForm, fileLength = 0, outputTokens = MAX_OUTPUT_TOKENS } = this.#sent;
    if (this.#call.surface === 'passthrough') {
      return { inputTokens: textLength + fileLength, unseenOutput: outputTokens, readsText: false, units: {} };
    }
    const pictures = Math.max(1, images) * MOST_TOKENS_PER_IMAGE;
    return {
      inputTokens: textLength + this.#heard * BYTES_PER_SECOND + MOST_PICTURES_SENT * MOST_TOKENS_PER_IMAGE,
      unseenOutput: pictures,
      readsText: false,
      units: {
        images,
        seconds: isForm ? SHORTEST_BILLED_SECONDS + this.#heard * FEWEST_BYTES_SHARE : (seconds ?? MOST_VIDEO_SECONDS),
      },
    };
  }

  /** Our own count: text by its bytes, sound by its length, pictures by what one mostly takes. */
  #sound(): { readonly seen: Usage; readonly seconds: number } {
    const { isForm, textLength, images } = this.#sent;
    const { surface, quantities } = this.#call;
    if (surface === 'passthrough') {
      const read = { input: estimatedTokens(textLength), output: estimatedTokens(this.#bytes) };
      return { seen: quantities.includes('tokens') ? { ...NO_USAGE, ...read } : NO_USAGE, seconds: 0 };
    }
    const seen = { ...NO_USAGE, input: estimatedTokens(textLength) };
    if (surface === 'images') {
      return { seen: { ...seen, outputImage: images * TOKENS_PER_IMAGE }, seconds: 0 };
    }
    if (surface !== 'audio') return { seen, seconds: 0 };
    if (isForm) {
      const media = mediaBuckets({ inputAudio: this.#heard * TOKENS_PER_SECOND });
      return { seen: { ...seen, ...media, output: estimatedTokens(this.#bytes) }, seconds: this.#heard };
    }
    const spoken = Math.ceil(this.#bytes / this.#bytesPerSecond);
    const media = mediaBuckets({ outputAudio: spoken * TOKENS_PER_SECOND });
    return { seen: { ...seen, ...media }, seconds: spoken };
  }
}

/** Usage as `{input_tokens, output_tokens}`. Input of a transcription without details counts as audio. */
function readUsage(usage: Json | undefined, isHeard: boolean): Usage | undefined {
  if (!isObject(usage)) return undefined;
  const { input_tokens: input, output_tokens: output } = usage;
  if (!isTold(input) || !isTold(output)) return undefined;
  if (!isHeard) return { ...NO_USAGE, input: toldCount(input), output: toldCount(output) };
  const details = usage['input_token_details'] ?? usage['input_tokens_details'];
  const text = isObject(details) ? Math.min(tokenCount(details['text_tokens']), toldCount(input)) : 0;
  const media = mediaBuckets({ inputAudio: toldCount(input) - text });
  return { ...NO_USAGE, input: text, output: toldCount(output), ...media };
}

/** Usage in the words of any vendor: a path without a surface has no family. */
function readAnyUsage(usage: Json | undefined): Usage | undefined {
  if (!isObject(usage)) return undefined;
  const { prompt_tokens: prompt, completion_tokens: completion, total_tokens: total } = usage;
  const input = prompt ?? usage['input_tokens'] ?? total;
  const output = completion ?? usage['output_tokens'] ?? 0;
  if (!isTold(input) || !isTold(output)) return undefined;
  return { ...NO_USAGE, input: toldCount(input), output: toldCount(output) };
}

/** How long the recording or the video is: vendors tell it as a number, or as the text of one. */
function secondsOf({ usage, duration, seconds }: JsonObject): number | undefined {
  const told = isObject(usage) && usage['type'] === 'duration' ? usage['seconds'] : (duration ?? seconds);
  const number = typeof told === 'string' && /^\d{1,6}(?:\.\d{1,6})?$/.test(told) ? Number(told) : told;
  return typeof number === 'number' && number >= 0 ? tokenCount(Math.ceil(number)) : undefined;
}
