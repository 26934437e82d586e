import type { Call, Tool, Turn } from './vocabulary.ts';

/** How an answer comes to its end, or does not. */
export type Ending =
  | 'stop'
  | 'calls'
  | 'stop-sequence'
  | 'refusal'
  | 'length'
  /** The provider reports an error: in the stream after its first words, else as its answer. */
  | 'error'
  /** The provider's answer breaks off. */
  | 'truncated'
  /** The client leaves: after the first words of a stream, else before there is an answer. */
  | 'hang-up';

/** One conversation, in no format's words, and what the stand-in answers. */
export interface Case {
  readonly name: string;
  readonly system?: string;
  /** The last text of the user gets the cell's mark. */
  readonly turns: readonly Turn[];
  readonly tools?: readonly Tool[];
  readonly effort?: 'high';
  readonly schema?: Readonly<Record<string, unknown>>;
  readonly stop?: string;
  readonly ceiling: number;
  readonly answer: {
    readonly text?: string;
    readonly reasoning?: string;
    readonly calls?: readonly Call[];
  };
  readonly ending: Ending;
}

const CEILING = 800;
const ANSWER = { text: 'Paris is the capital of France, and has been for centuries.' };

const WEATHER: Tool = {
  name: 'get_weather',
  description: 'The weather in a city.',
  schema: {
    type: 'object',
    properties: { city: { type: 'string' }, days: { type: 'integer' } },
    required: ['city', 'days'],
    additionalProperties: false,
  },
};
const CLOCK: Tool = {
  name: 'get_time',
  description: 'The time in a zone.',
  schema: {
    type: 'object',
    properties: { zone: { type: 'string' } },
    required: ['zone'],
    additionalProperties: false,
  },
};

/** The smallest picture there is. */
const PNG =
  'image/png;iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const PDF = `application/pdf;${Buffer.from(
  '%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n2 0 obj<</Type/Pages/Kids[]/Count 0>>endobj\ntrailer<</Root 1 0 R>>\n%%EOF\n',
).toString('base64')}`;

const FAILURE = 'no station answers';

const user = (text: string): Turn => ({ role: 'user', items: [{ text }] });
const SEEK = user('What is the capital of France?');

export const CASES: readonly Case[] = [
  { name: 'text', turns: [SEEK], ceiling: CEILING, answer: ANSWER, ending: 'stop' },
  {
    name: 'multi-turn',
    system: 'Answer in one sentence.',
    turns: [
      user('Name a river.'),
      { role: 'assistant', items: [{ thought: 'One in France will do.' }, { text: 'The Seine.' }] },
      user('Which capital does it cross?'),
    ],
    ceiling: CEILING,
    answer: ANSWER,
    ending: 'stop',
  },
  {
    name: 'parallel tools',
    turns: [user('Weather and time in Oslo?')],
    tools: [WEATHER, CLOCK],
    ceiling: CEILING,
    answer: {
      calls: [
        { id: 'call_w1', name: 'get_weather', input: { city: 'Oslo', days: 2 } },
        { id: 'call_t2', name: 'get_time', input: { zone: 'Europe/Oslo' } },
      ],
    },
    ending: 'calls',
  },
  {
    name: 'tool error',
    turns: [
      user('Weather in Oslo?'),
      {
        role: 'assistant',
        items: [{ call: { id: 'call_h1', name: 'get_weather', input: { city: 'Oslo', days: 1 } } }],
      },
      {
        role: 'user',
        items: [{ result: { id: 'call_h1', text: FAILURE, failed: true } }, { text: 'Try to go on without it.' }],
      },
    ],
    tools: [WEATHER],
    ceiling: CEILING,
    answer: { text: 'I could not find out.' },
    ending: 'stop',
  },
  {
    name: 'image',
    turns: [{ role: 'user', items: [{ text: 'What is in the picture?' }, { image: PNG }] }],
    ceiling: CEILING,
    answer: { text: 'One pixel.' },
    ending: 'stop',
  },
  {
    name: 'document',
    turns: [{ role: 'user', items: [{ text: 'What does the file say?' }, { document: PDF }] }],
    ceiling: CEILING,
    answer: { text: 'Nothing.' },
    ending: 'stop',
  },
  {
    name: 'reasoning',
    turns: [SEEK],
    effort: 'high',
    ceiling: 8000,
    answer: { ...ANSWER, reasoning: 'A well-known city; it lies on the Seine.' },
    ending: 'stop',
  },
  {
    name: 'json schema',
    system: 'You know capitals.',
    turns: [SEEK],
    schema: {
      type: 'object',
      properties: { capital: { type: 'string' } },
      required: ['capital'],
      additionalProperties: false,
    },
    ceiling: CEILING,
    answer: { text: '{"capital":"Paris"}' },
    ending: 'stop',
  },
  {
    name: 'stop sequence',
    turns: [SEEK],
    stop: 'THE-END',
    ceiling: CEILING,
    answer: ANSWER,
    ending: 'stop-sequence',
  },
  { name: 'refusal', turns: [SEEK], ceiling: CEILING, answer: { text: 'I will not say that.' }, ending: 'refusal' },
  { name: 'max tokens', turns: [SEEK], ceiling: 20, answer: { text: 'Paris is the' }, ending: 'length' },
  { name: 'mid-stream error', turns: [SEEK], ceiling: CEILING, answer: ANSWER, ending: 'error' },
  { name: 'truncated stream', turns: [SEEK], ceiling: CEILING, answer: ANSWER, ending: 'truncated' },
  { name: 'cut client', turns: [SEEK], ceiling: CEILING, answer: ANSWER, ending: 'hang-up' },
];

/** A word of letters only, so that no detector takes it for a number. */
export function markOf(cell: number): string {
  const letters = String(cell)
    .padStart(5, '0')
    .replaceAll(/\d/g, (digit) => 'bcdfghjkmn'[Number(digit)]!);
  return `mark${letters}`;
}

export const MARK = /\bmark[bcdfghjkmn]{5}\b/;

/** The conversation with a mark at the end of the user's last text. */
export function marked(one: Case, mark: string): Case {
  const turns = one.turns.map((turn, index) => {
    if (index < one.turns.length - 1) return turn;
    const last = turn.items.findLastIndex((item) => 'text' in item);
    return {
      ...turn,
      items: turn.items.map((item, at) => (at === last && 'text' in item ? { text: `${item.text} ${mark}` } : item)),
    };
  });
  return { ...one, turns };
}
