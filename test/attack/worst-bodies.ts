/** Bodies of chat completions that cost a gateway most, each in a way of its own. */
export interface WorstBody {
  readonly name: string;
  readonly text: string;
  /** The caller goes away meanwhile. */
  readonly leavesAfterMs?: number;
}

const MIB = 1024 * 1024;
const MODEL = 'upstream/m';
const said = (content: unknown, more: object = {}): string =>
  JSON.stringify({ model: MODEL, messages: [{ role: 'user', content }], ...more });
const listed = (list: string): string =>
  `{"model":"${MODEL}","messages":[{"role":"user","content":"x"}],"list":${list}}`;
const times = <T>(length: number, make: (index: number) => T): T[] => Array.from({ length }, (_, index) => make(index));
const part = (text: string): object => ({ type: 'text', text });
const called = (args: string): string =>
  JSON.stringify({
    model: MODEL,
    messages: [
      { role: 'user', content: 'x' },
      {
        role: 'assistant',
        content: null,
        tool_calls: [{ id: 'c1', type: 'function', function: { name: 'f', arguments: args } }],
      },
      { role: 'tool', tool_call_id: 'c1', content: 'ok' },
    ],
  });

/** Just within the bounds of what is read, where there is one. */
export const WORST: readonly WorstBody[] = [
  { name: 'accents without an end', text: said(`a${'\u0300'.repeat(30_000)}`, { gw: { remove: ['x'] } }) },
  { name: 'numbers in brackets, and a hang-up', text: said('(1)'.repeat(4 * MIB)), leavesAfterMs: 700 },
  { name: 'a body of quotes', text: said('"'.repeat(2 * MIB)) },
  { name: 'prose with terms', text: said('Ada spoke of numbers. '.repeat(60_000), { gw: { remove: ['Ada'] } }) },
  { name: 'more answers than were asked for', text: said('mail ada@example.com', { n: 2, stream: true }) },
  { name: 'a body of tiny values', text: listed(`[${times(249_000, () => '0').join(',')}]`) },
  {
    name: 'many members',
    text: listed(
      `[${Array(3)
        .fill(`{${times(20_000, (at) => `"m${at}":1`).join(',')}}`)
        .join(',')}]`,
    ),
  },
  {
    name: 'many members that look like ids',
    text: listed(
      `[${Array(3)
        .fill(`{${times(20_000, (at) => `"x${at}_id":"a"`).join(',')}}`)
        .join(',')}]`,
    ),
  },
  { name: 'many small texts', text: said(times(29_000, (at) => part(`ab ${at}`))) },
  {
    name: 'many messages',
    text: JSON.stringify({ model: MODEL, messages: times(29_000, (at) => ({ role: 'user', content: `hello ${at}` })) }),
  },
  { name: 'lists in lists', text: listed(`[${times(590, () => '['.repeat(250) + ']'.repeat(250)).join(',')}]`) },
  { name: 'a list in a list without an end', text: listed('['.repeat(2 * MIB) + ']'.repeat(2 * MIB)) },
  { name: 'addresses, each another', text: said(times(100_000, (at) => `a${at}@b.io`).join(' ')) },
  { name: 'texts that go on in each other', text: said(times(29_000, () => part('sk-1234567@'))) },
  { name: 'text in tags', text: said('«EMAIL_1» '.repeat(249_000)) },
  {
    name: 'thousands of tools',
    text: said('x', {
      tools: times(5000, (at) => ({
        type: 'function',
        function: { name: `tool_${at}`, description: 'does', parameters: { type: 'object' } },
      })),
    }),
  },
  { name: 'arguments of many values', text: called(`[${times(149_000, () => '1').join(',')}]`) },
  { name: 'a string of escapes', text: listed(`"${'\\u0041'.repeat(5 * MIB)}"`) },
  { name: 'a long text', text: said('word '.repeat(6 * MIB)) },
  { name: 'a long text beyond ASCII', text: said('wört '.repeat(5 * MIB)) },
  { name: 'blanks', text: `{${' '.repeat(30 * MIB)}${said('x').slice(1)}` },
];
