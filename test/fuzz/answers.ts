import { decodeAnswer } from '../../src/cli/decode/decode-answer.ts';
import type { Random } from '../harness/random.ts';
import { allRecordings, recordedText } from '../harness/recordings.ts';
import type { ExitFamily } from '../matrix/exits/read-asked.ts';
import { mediaType, writeFrame, type Framing } from '../matrix/stand-in/framing.ts';
import { mutateBytes, mutateJson, type Json } from './mutate.ts';
import type { Asked, Reply } from './provider.ts';

/** Answers of one family: bodies, and streams as lists of payloads. */
interface Corpus {
  readonly bodies: readonly Json[];
  readonly streams: readonly (readonly Json[])[];
}

const USAGE = { prompt_tokens: 5, completion_tokens: 3, total_tokens: 8 };

/** The least answer of each family; recordings come beside it where there are any. */
const LEAST: Readonly<Record<ExitFamily, Corpus>> = {
  chat: {
    bodies: [
      {
        id: 'c1',
        object: 'chat.completion',
        model: 'm',
        choices: [{ index: 0, message: { role: 'assistant', content: 'Hello «EMAIL_1».' }, finish_reason: 'stop' }],
        usage: USAGE,
      },
    ],
    streams: [
      [
        {
          id: 'c1',
          object: 'chat.completion.chunk',
          choices: [{ index: 0, delta: { role: 'assistant', content: 'Hi «EM' } }],
        },
        {
          id: 'c1',
          object: 'chat.completion.chunk',
          choices: [{ index: 0, delta: { content: 'AIL_1».' }, finish_reason: 'stop' }],
        },
        { id: 'c1', object: 'chat.completion.chunk', choices: [], usage: USAGE },
        '[DONE]',
      ],
    ],
  },
  messages: {
    bodies: [
      {
        id: 'msg_1',
        type: 'message',
        role: 'assistant',
        model: 'm',
        content: [{ type: 'text', text: 'Hello «EMAIL_1».' }],
        stop_reason: 'end_turn',
        stop_sequence: null,
        usage: { input_tokens: 5, output_tokens: 3 },
      },
    ],
    streams: [
      [
        {
          type: 'message_start',
          message: {
            id: 'msg_1',
            type: 'message',
            role: 'assistant',
            model: 'm',
            content: [],
            usage: { input_tokens: 5, output_tokens: 1 },
          },
        },
        { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
        { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Hi «EMAIL_1».' } },
        { type: 'content_block_stop', index: 0 },
        { type: 'message_delta', delta: { stop_reason: 'end_turn', stop_sequence: null }, usage: { output_tokens: 3 } },
        { type: 'message_stop' },
      ],
    ],
  },
  responses: {
    bodies: [
      {
        id: 'resp_1',
        object: 'response',
        status: 'completed',
        model: 'm',
        output: [
          {
            type: 'message',
            id: 'i1',
            role: 'assistant',
            status: 'completed',
            content: [{ type: 'output_text', text: 'Hello.', annotations: [] }],
          },
        ],
        usage: { input_tokens: 5, output_tokens: 3, total_tokens: 8 },
      },
    ],
    streams: [],
  },
  gemini: {
    bodies: [
      {
        candidates: [
          { content: { role: 'model', parts: [{ text: 'Hello «EMAIL_1».' }] }, finishReason: 'STOP', index: 0 },
        ],
        usageMetadata: { promptTokenCount: 5, candidatesTokenCount: 3, totalTokenCount: 8 },
      },
    ],
    streams: [],
  },
  converse: {
    bodies: [
      {
        output: { message: { role: 'assistant', content: [{ text: 'Hello «EMAIL_1».' }] } },
        stopReason: 'end_turn',
        usage: { inputTokens: 5, outputTokens: 3, totalTokens: 8 },
      },
    ],
    streams: [
      [
        { messageStart: { role: 'assistant' } },
        { contentBlockDelta: { contentBlockIndex: 0, delta: { text: 'Hello.' } } },
        { contentBlockStop: { contentBlockIndex: 0 } },
        { messageStop: { stopReason: 'end_turn' } },
        { metadata: { usage: { inputTokens: 5, outputTokens: 3, totalTokens: 8 } } },
      ],
    ],
  },
};

/** Answers of every family: the least ones, and what real providers gave where recordings are at hand. */
export function readCorpora(): ReadonlyMap<string, Corpus> {
  const corpora = new Map<string, { bodies: Json[]; streams: (readonly Json[])[] }>(
    Object.entries(LEAST).map(([family, { bodies, streams }]) => [
      family,
      { bodies: [...bodies], streams: [...streams] },
    ]),
  );
  for (const name of allRecordings()) {
    if (name.endsWith('.sse')) continue;
    const text = recordedText(name);
    const isBody = name.endsWith('.json');
    const family = decodeAnswer(text, isBody ? 'body' : 'payloads')?.family;
    const corpus = family && corpora.get(family);
    if (!corpus) continue;
    if (isBody) corpus.bodies.push(JSON.parse(text) as Json);
    else corpus.streams.push(text.split('\n').flatMap((line) => (line.trim() === '' ? [] : [payloadOf(line)])));
  }
  return corpora;
}

function payloadOf(line: string): Json {
  return line.startsWith('{') ? (JSON.parse(line) as Json) : line;
}

/** A well-formed answer of the family that was asked. */
export function plainReply({ family, stream, kind }: Asked, corpora: ReadonlyMap<string, Corpus>): Reply {
  const corpus = corpora.get(family);
  const [first] = corpus?.streams ?? [];
  return stream && first ? streamed(first, kind.framing) : buffered(corpus?.bodies[0] ?? {});
}

/** An answer changed at random: other values, frames lost, repeated and in another order, broken bytes, early ends. */
export function changedReply(asked: Asked, corpora: ReadonlyMap<string, Corpus>, random: Random): Reply {
  const { family, stream, kind } = asked;
  const corpus = corpora.get(family) ?? { bodies: [], streams: [] };
  if (random.chance(0.05)) return failure(random);
  const streams = corpus.streams;
  if (!(stream && streams.length > 0) || random.chance(0.03)) {
    const body = corpus.bodies[random.whole(0, Math.max(0, corpus.bodies.length - 1))] ?? {};
    return broken(buffered(random.chance(0.8) ? mutateJson(body, random) : body), random);
  }
  const frames = [...(streams[random.whole(0, streams.length - 1)] ?? [])].slice(0, 400);
  return broken(streamed(changedFrames(frames, random), kind.framing), random);
}

function changedFrames(frames: readonly Json[], random: Random): readonly Json[] {
  const changed = [...frames];
  for (let left = random.whole(1, 4); left > 0 && changed.length > 0; left -= 1) {
    const at = random.whole(0, changed.length - 1);
    const frame = changed[at] ?? null;
    const kind = random.whole(0, 4);
    if (kind <= 1) changed[at] = mutateJson(frame, random);
    else if (kind === 2) changed.splice(at, 1);
    else if (kind === 3) changed.splice(random.whole(0, changed.length), 0, ...repeatedFrame(frame, random));
    else changed.splice(random.whole(0, changed.length - 1), 0, ...changed.splice(at, 1));
  }
  return changed;
}

function repeatedFrame(frame: Json, random: Random): readonly Json[] {
  return Array.from({ length: random.pick([1, 2, 50]) }, () => frame);
}

function buffered(body: Json): Reply {
  return { status: 200, headers: { 'content-type': 'application/json' }, pieces: [Buffer.from(JSON.stringify(body))] };
}

function streamed(frames: readonly Json[], framing: Framing): Reply {
  const pieces = frames.map((frame) => writeFrame(frameOf(frame, framing), framing));
  return { status: 200, headers: { 'content-type': mediaType(framing) }, pieces };
}

function frameOf(frame: Json, framing: Framing): { readonly event?: string; readonly data: unknown } {
  if (typeof frame !== 'object' || frame === null || Array.isArray(frame)) return { data: frame };
  if (framing === 'event-stream') {
    const [event = '', data = {}] = Object.entries(frame)[0] ?? [];
    return { event, data };
  }
  const { type } = frame as { readonly type?: Json };
  return { ...(typeof type === 'string' && /^\w+(\.\w+)*$/.test(type) && { event: type }), data: frame };
}

/** In a tenth of the cases bytes are changed, headers are odd, or the connection ends early. */
function broken(reply: Reply, random: Random): Reply {
  if (!random.chance(0.1)) return reply;
  const kind = random.whole(0, 3);
  if (kind === 0) return { ...reply, pieces: [mutateBytes(Buffer.concat(reply.pieces), random)] };
  if (kind === 1) return { ...reply, cut: true, pieces: reply.pieces.slice(0, random.whole(0, reply.pieces.length)) };
  if (kind === 2) return { ...reply, headers: { 'content-type': random.pick(['text/html', 'application/json', '']) } };
  return { ...reply, status: random.pick([201, 204, 206, 302, 304]), headers: { ...reply.headers, location: '/' } };
}

function failure(random: Random): Reply {
  const status = random.pick([400, 401, 403, 404, 408, 409, 413, 422, 429, 500, 503, 529]);
  const body = random.pick([
    '{"error":{"message":"no","type":"x","code":1}}',
    '{"error":"plain"}',
    '<html><body>Bad gateway</body></html>',
    '',
    '{"error":{"message":{"deep":[]}}}',
    `{"type":"error","error":{"type":"overloaded_error","message":"${'x'.repeat(5_000)}"}}`,
  ]);
  return { status, headers: { 'content-type': 'application/json' }, pieces: [Buffer.from(body)] };
}
