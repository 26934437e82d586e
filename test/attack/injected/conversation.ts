import { createDetectionPool } from '#/inspect/search/detection-pool.ts';
import { Conversation } from '#/inspect/restore/conversation.ts';
import { inspect } from '#/inspect/inspect.ts';
import { Restoration } from '#/inspect/restore/restoration.ts';
import { EventRestorer } from '#/inspect/restore/restore-events.ts';
import { restoreAnswer } from '#/inspect/restore/restore-answer.ts';
import { FrameRestorer } from '#/inspect/restore/restore-frames.ts';
import type { RestorePolicy } from '#/config/snapshot.ts';
import type { StreamEvent } from '#/wire/hub/canonical.ts';
import { chatCodec } from '#/wire/chat/codec.ts';
import type { Codec } from '#/wire/hub/codec.ts';
import { completionsCodec } from '#/wire/completions/codec.ts';
import { readDocument } from '#/wire/document/document.ts';
import { messagesCodec } from '#/wire/messages/codec.ts';
import { responsesCodec } from '#/wire/responses/codec.ts';
import { SseDecoder } from '#/wire/answer/sse.ts';
import { ANSWERS, pieceOf, STREAMS, type Filled } from './answers.ts';

/** One call of a tool and what it returned. */
export interface Step {
  readonly tool: string;
  readonly result: string;
}

/** What the model says: a text, or a call of a tool. Values of the conversation stand in it as `{0}`, `{1}`. */
export type Said = { readonly text: string } | { readonly tool: string; readonly told: object | string };

/** A conversation with an agent, and the answer that comes next. */
export interface Scene {
  readonly name: string;
  readonly user: string;
  readonly system?: string;
  readonly steps: readonly Step[];
  /** Personal data of the conversation, as it stands there. */
  readonly values: readonly string[];
  readonly says: Said;
  readonly policy?: RestorePolicy;
}

export const SURFACES = ['chat', 'messages', 'responses', 'completions'] as const;
export const LANES = ['buffered', 'streamed', 'translated'] as const;
export type Surface = (typeof SURFACES)[number];
export type Lane = (typeof LANES)[number];

const CODECS: Readonly<Record<Surface, Codec>> = {
  chat: chatCodec,
  messages: messagesCodec,
  responses: responsesCodec,
  completions: completionsCodec,
};
const detection = createDetectionPool({});

/** A surface without tools says a scene's texts alone. */
export function canSay(surface: Surface, { says }: Scene): boolean {
  return surface !== 'completions' || 'text' in says;
}

/** What the client has of the answer: its text, or what the tool is told; and whether tags were kept from it. */
export async function play(
  scene: Scene,
  surface: Surface,
  lane: Lane,
  cut: (length: number) => number,
): Promise<{ readonly got: string; readonly withheld: boolean }> {
  const codec = CODECS[surface];
  const document = readDocument(codec.family, JSON.stringify(REQUESTS[surface](scene)));
  const policy = { mode: 'tokenize', documents: 'off', customTerms: [] } as const;
  const { tags } = await inspect(document, codec, policy, [], detection);
  const originals = Object.entries(tags.originals);
  const fill = (text: string): string =>
    text.replace(/\{(\d)\}/g, (_, index: string) => {
      const value = scene.values[Number(index)]!;
      const found = originals.find(([, original]) => original === value);
      if (!found) throw new Error(`${scene.name}: ${value} has no tag`);
      return found[0];
    });
  const said: Filled =
    'text' in scene.says
      ? { text: fill(scene.says.text) }
      : {
          tool: scene.says.tool,
          told: typeof scene.says.told === 'string' ? fill(scene.says.told) : fill(JSON.stringify(scene.says.told)),
        };
  const conversation = new Conversation(
    () => document,
    () => codec.speakers?.(document) ?? [],
  );
  const restoration = new Restoration(tags, conversation, scene.policy);
  const got =
    lane === 'buffered'
      ? buffered(codec, surface, said, restoration)
      : lane === 'streamed'
        ? streamed(codec, surface, said, restoration, cut)
        : translated(said, restoration, cut);
  return { got, withheld: restoration.withheld };
}

const REQUESTS: Readonly<Record<Surface, (scene: Scene) => object>> = {
  chat: ({ user, system, steps }) => ({
    model: 'p/m',
    messages: [
      ...(system === undefined ? [] : [{ role: 'system', content: system }]),
      { role: 'user', content: user },
      ...steps.flatMap(({ tool, result }, at) => [
        {
          role: 'assistant',
          tool_calls: [{ id: `call_${at}`, type: 'function', function: { name: tool, arguments: '{}' } }],
        },
        { role: 'tool', tool_call_id: `call_${at}`, content: result },
      ]),
    ],
  }),
  messages: ({ user, system, steps }) => ({
    model: 'p/m',
    max_tokens: 100,
    ...(system === undefined ? {} : { system }),
    messages: [
      { role: 'user', content: user },
      ...steps.flatMap(({ tool, result }, at) => [
        { role: 'assistant', content: [{ type: 'tool_use', id: `call_${at}`, name: tool, input: {} }] },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: `call_${at}`, content: result }] },
      ]),
    ],
  }),
  responses: ({ user, system, steps }) => ({
    model: 'p/m',
    ...(system === undefined ? {} : { instructions: system }),
    input: [
      { role: 'user', content: user },
      ...steps.flatMap(({ tool, result }, at) => [
        { type: 'function_call', call_id: `call_${at}`, name: tool, arguments: '{}' },
        { type: 'function_call_output', call_id: `call_${at}`, output: result },
      ]),
    ],
  }),
  completions: ({ user, system, steps }) => ({
    model: 'p/m',
    // Nobody can tell in one text who says what: what names the attacker is left out.
    prompt: [system ?? '', user, ...steps.map(({ result }) => result.replace(/at https:\S+ |collector@\S+/g, ''))].join(
      '\n',
    ),
  }),
};

function buffered(codec: Codec, surface: Surface, said: Filled, restoration: Restoration): string {
  const restored = restoreAnswer(JSON.stringify(ANSWERS[surface](said)), codec, restoration, false);
  return restored;
}

function streamed(
  codec: Codec,
  surface: Surface,
  said: Filled,
  restoration: Restoration,
  cut: (length: number) => number,
): string {
  const pieces = inPieces('text' in said ? said.text : said.told, cut);
  const stream = STREAMS[surface](said, pieces);
  const reader = codec.streamReader(1);
  const restorer = new FrameRestorer(codec, restoration, false);
  const events = new SseDecoder(1 << 22).push(Buffer.from(stream));
  const out = events.map((event) => restorer.restore(event, reader.read(event))).join('') + restorer.end();
  return new SseDecoder(1 << 22)
    .push(Buffer.from(out))
    .map(({ data }) => pieceOf(data ?? ''))
    .join('');
}

function inPieces(text: string, cut: (length: number) => number): readonly string[] {
  const pieces: string[] = [];
  for (let at = 0; at < text.length;) {
    const length = 1 + cut(Math.min(12, text.length - at));
    pieces.push(text.slice(at, at + length));
    at += length;
  }
  return pieces;
}

function translated(said: Filled, restoration: Restoration, cut: (length: number) => number): string {
  const restorer = new EventRestorer(restoration, false);
  const events: StreamEvent[] = [
    {
      type: 'part-start',
      index: 0,
      part:
        'text' in said
          ? { type: 'text', text: '' }
          : { type: 'tool-call', id: 'c', name: said.tool, argumentsJson: '' },
    },
    ...inPieces('text' in said ? said.text : said.told, cut).map((text): StreamEvent => ({
      type: 'part-delta',
      index: 0,
      text,
    })),
    { type: 'part-end', index: 0 },
  ];
  return events
    .flatMap((one) => restorer.restore(one))
    .map((one) => (one.type === 'part-delta' ? one.text : ''))
    .join('');
}
