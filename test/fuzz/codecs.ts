import { UPSTREAM_CODECS } from '#/route/plan.ts';
import { chatCodec } from '#/wire/chat/codec.ts';
import { BadRequestShape, type Codec, type ClientCodec, type StreamDecoder } from '#/wire/hub/codec.ts';
import { completionsCodec } from '#/wire/completions/codec.ts';
import { NotAJsonObject, readDocument, render, setString, type HubFamily } from '#/wire/document/document.ts';
import { decisionsCodec } from '#/wire/decisions/codec.ts';
import { embeddingsCodec } from '#/wire/embeddings/codec.ts';
import { isObject } from '#/wire/document/json.ts';
import { messagesCodec } from '#/wire/messages/codec.ts';
import { responsesCodec } from '#/wire/responses/codec.ts';
import { AmbiguousJson, TooManyValues } from '#/wire/document/scan.ts';
import { SseDecoder, SseEventTooLarge } from '#/wire/answer/sse.ts';
import { systemOneCodec } from '#/wire/systemone/codec.ts';
import { UNKNOWN_MODEL } from '#/wire/hub/traits.ts';
import { CASES } from '../matrix/cases.ts';
import { writeFrame } from '../matrix/stand-in/framing.ts';
import { chat } from '../matrix/surfaces/chat.ts';
import { messages } from '../matrix/surfaces/messages.ts';
import { responses } from '../matrix/surfaces/responses.ts';
import { readCorpora } from './answers.ts';
import { law, type PureTarget } from './pure-target.ts';

const ENDPOINTS: readonly ClientCodec[] = [chatCodec, messagesCodec, responsesCodec];
const OTHERS: readonly Codec[] = [completionsCodec, embeddingsCodec, systemOneCodec, decisionsCodec];
const FAMILIES = Object.keys(UPSTREAM_CODECS) as readonly HubFamily[];

/** What a codec may throw at a request of a stranger: everything else is a fault. */
const REFUSALS = [BadRequestShape, NotAJsonObject, AmbiguousJson, TooManyValues, SyntaxError];

function refusing(work: () => void): void {
  try {
    work();
  } catch (thrown) {
    if (!REFUSALS.some((refusal) => thrown instanceof refusal)) throw thrown;
  }
}

/** Requests of every surface: read, inspected, translated for every family. The first byte chooses the surface. */
export const requestCodecs: PureTarget = {
  name: 'request-codecs',
  async corpus() {
    return [chat, messages, responses].flatMap((surface, at) =>
      CASES.map((one) => tagged(at, JSON.stringify(surface.ask(one, 'p/m', true)))),
    );
  },
  run(data) {
    const all = [...ENDPOINTS, ...OTHERS];
    const codec = all[(data[0] ?? 0) % all.length] ?? chatCodec;
    const text = data.subarray(2).toString('utf8');
    refusing(() => {
      const document = readDocument(codec.family, text);
      law(render(text, []) === text, 'no edits change the text');
      const { leaves } = codec.contents(document);
      for (const { node, text: said, kind } of leaves) {
        if (kind === 'text' && node.kind === 'string') law(node.value === said, 'a leaf is not its node');
      }
      const edits = leaves.filter(({ node }) => node.kind === 'string').map(({ node }) => setString(node, 'x'));
      JSON.parse(render(text, [...new Map(edits.map((edit) => [edit.start, edit])).values()]));
      codec.ask(document);
      const door = ENDPOINTS.find((one) => one === codec);
      if (!door) return;
      const request = door.decodeRequest(document, () => {});
      for (const family of FAMILIES) {
        refusing(() => void JSON.stringify(UPSTREAM_CODECS[family].encodeRequest(request, UNKNOWN_MODEL, () => {})));
      }
    });
  },
};

/** Answers and streams of every family: the same events wherever the bytes are cut. The first byte chooses the family. */
export const answerCodecs: PureTarget = {
  name: 'answer-codecs',
  async corpus() {
    const corpora = readCorpora();
    return FAMILIES.flatMap((family, at) => {
      const { bodies = [], streams = [] } = corpora.get(family) ?? {};
      const framed = streams.map((frames) => frames.slice(0, 40).map((data) => writeFrame({ data }, 'sse').toString()));
      const texts = [...bodies.map((body) => JSON.stringify(body)), ...framed.map((pieces) => pieces.join(''))];
      return texts.filter((text) => text.length < 20_000).map((text) => tagged(at, text));
    });
  },
  run(data) {
    const family = FAMILIES[(data[0] ?? 0) % FAMILIES.length] ?? 'chat';
    const bytes = data.subarray(2);
    const exit = UPSTREAM_CODECS[family];
    refusing(() => {
      const body: unknown = JSON.parse(bytes.toString('utf8'));
      if (isObject(body)) exit.decodeAnswer(body);
    });
    const whole = eventsOf(exit.streamDecoder(), [bytes]);
    const cut = Math.floor(((data[1] ?? 0) / 256) * bytes.length);
    const parted = eventsOf(exit.streamDecoder(), [bytes.subarray(0, cut), bytes.subarray(cut)]);
    law(whole === parted, `cut at ${cut} the stream says something else`);
  },
};

function tagged(tag: number, text: string): Buffer {
  return Buffer.concat([Buffer.from([tag, 128]), Buffer.from(text)]);
}

function eventsOf(reader: StreamDecoder, pieces: readonly Buffer[]): string {
  const decoder = new SseDecoder(1024 * 1024);
  const said: unknown[] = [];
  try {
    for (const piece of pieces) for (const event of decoder.push(piece)) said.push(...reader.decode(event));
    for (const event of decoder.end()) said.push(...reader.decode(event));
    said.push(...reader.end());
  } catch (thrown) {
    if (!(thrown instanceof SyntaxError) && !(thrown instanceof SseEventTooLarge)) throw thrown;
    said.push('broken');
  }
  return JSON.stringify([said, reader.finished]);
}
