import { describe, expect, test } from 'vitest';
import type { DlpMode } from '#/config/snapshot.ts';
import { chatCodec } from '#/wire/chat/codec.ts';
import { messagesCodec } from '#/wire/messages/codec.ts';
import { readDocument, render } from '#/wire/document/document.ts';
import { createDetectors } from '../detectors/list.ts';
import { createDetectionPool } from '../search/detection-pool.ts';
import { inspect } from '../inspect.ts';
import { finish } from '#/wire/document/steps.ts';
import { boundariesOf } from './text-boundaries.ts';
import { restorationOf } from '../../../test/harness/restoration.ts';
import { restoreText } from '../restore/restore-text.ts';

const detection = createDetectionPool({});
/** Kinds that are recognized without context, however they are split. */
const ANYWHERE = new Set<string>([
  'EMAIL',
  'IBAN',
  'CREDIT_CARD',
  'PHONE',
  'NATIONAL_ID',
  'TAX_ID',
  'BANK_ACCOUNT',
  'SECRET',
]);

async function run(body: object, mode: DlpMode = 'tokenize', family: 'chat' | 'messages' = 'chat') {
  const codec = family === 'chat' ? chatCodec : messagesCodec;
  const document = readDocument(family, JSON.stringify({ model: 'p/m', ...body }));
  const policy = { mode, documents: 'off', customTerms: [] } as const;
  const inspection = await inspect(document, codec, policy, [], detection);
  return { text: render(document.text, inspection.edits), inspection };
}

const parts = (...texts: readonly string[]): object => ({
  messages: [{ role: 'user', content: texts.map((text) => ({ type: 'text', text })) }],
});
const turns = (...texts: readonly string[]): object => ({
  messages: texts.map((content, at) => ({ role: at % 2 === 0 ? 'user' : 'assistant', content })),
});

const results = (texts: readonly string[]): object => ({
  messages: texts.map((content, at) => ({ role: 'tool', tool_call_id: `call_${at}`, content })),
});

const PARTED: readonly (readonly [kind: string, left: string, right: string])[] = [
  ['EMAIL', 'ada.lovelace@', 'corp.de'],
  ['EMAIL', 'ada.lovelace', '@corp.de'],
  ['EMAIL', 'ada.lovelace@corp', '.de'],
  ['EMAIL', 'ada.lovelace@corp.', 'de'],
  ['EMAIL', 'ada.lovelace%40', 'corp.de'],
  ['IBAN', 'DE89 3704 0044', '0532 0130 00'],
  ['IBAN', 'DE8937040044', '0532013000'],
  ['IBAN', 'DE89', '370400440532013000'],
  ['CREDIT_CARD', '4111 1111', '1111 1111'],
  ['CREDIT_CARD', '41111111', '11111111'],
  ['PHONE', '+49 30', '901820'],
];

describe.each(PARTED)('%s in two: %j and %j', (kind, left, right) => {
  const texts = [`Please remember ${left}`, `${right} and go on.`] as const;
  test.each([
    ['parts of a message', parts(...texts)],
    ['messages', turns(...texts)],
    [
      'a prompt and a prefill',
      { messages: [...(turns(texts[0]) as { messages: object[] }).messages, { role: 'assistant', content: texts[1] }] },
    ],
    [
      'a system prompt and a message',
      {
        messages: [
          { role: 'system', content: texts[0] },
          { role: 'user', content: texts[1] },
        ],
      },
    ],
    ['an answer and what follows', turns('Hello.', texts[0], texts[1])],
    [
      'results of tools',
      { messages: texts.map((content, at) => ({ role: 'tool', tool_call_id: `call_${at}`, content })) },
    ],
  ])('neither half of it leaves in %s, and both come back', async (_, body) => {
    const { text, inspection } = await run(body);
    expect(text).not.toContain(left);
    expect(text).not.toContain(`${right} and`);
    const tags = Object.keys(inspection.tags.originals);
    expect(tags.map((tag) => inspection.tags.originals[tag])).toEqual([left, right]);
    expect(restoreText(text, restorationOf(inspection.tags), 'json')).toBe(JSON.stringify({ model: 'p/m', ...body }));
    expect(inspection.facts.findings).toEqual({ [kind]: 2 });
    await expect(run(body, 'block')).rejects.toThrow(kind);
    expect((await run(body, 'mask')).text).toContain(`Please remember [${kind}]`);
    expect((await run(body, 'allow_log')).inspection.edits).toEqual([]);
  });
});

test('blocks of a system prompt and the first message are boundaries', async () => {
  const body = {
    max_tokens: 9,
    system: [{ type: 'text', text: 'Remember ada@' }],
    messages: [{ role: 'user', content: [{ type: 'text', text: 'corp.de, please' }] }],
  };
  expect((await run(body, 'tokenize', 'messages')).text).not.toMatch(/ada@|corp/);
});

test('what is parted in many is found', async () => {
  const { text } = await run(parts(...'Remember: ada.lovelace@corp.de'.split(/(?<=[.@ae])/)));
  expect(text).not.toMatch(/ada|lovelace|corp/);
  const { text: card } = await run(parts('Card', ...'4111111111111111'.split(/(?<=^(?:..)+)/), 'thanks'));
  expect(card).not.toContain('"11"');
});

test.each([' ', '\n\n', '\u200b', ' \u00ad\ufeff'])('a part of nothing but %j parts no address', async (nothing) => {
  const { text } = await run(parts('Remember ada@', nothing, 'corp.de'));
  expect(text).not.toMatch(/ada|corp/);
});

test.each([
  ['mail ada@', '\u200bcorp.de'],
  ['mail ada@\u2060', '\u00adcorp.de'],
  ['mail **ada@**', '**corp.de** ok'],
  ['mail `ada@', '`corp.de'],
  ['mail "ada@"', '"corp.de"'],
  ['mail (ada@', '<corp.de>'],
  ['mail - ada@', '- corp.de'],
  ['1. ada@', '2. corp.de'],
  ['mail ada@...', '... corp.de'],
  ['mail ada@ …', '… corp.de'],
  ['mail ada@,', 'corp.de'],
  ['ada [at]', 'corp.de'],
  ['ada', '[at] corp.de'],
  ['mail ada@', `${' '.repeat(120)}corp.de`],
  [`mail ada@${' '.repeat(120)}`, 'corp.de'],
  ['card 4111 1111', '\u200b1111 1111 ok'],
  ['card 4111 1111 -', '- 1111 1111 ok'],
  ['card **4111 1111**', '**1111 1111**'],
  ['card 4111 1111,', '1111 1111'],
  ['card 4111', ' - ', '1111', '**', '1111 1111'],
])('signs that readers pass by part nothing: %j and %j', async (...texts) => {
  const body = parts(...texts);
  const { text, inspection } = await run(body);
  expect(inspection.tags.size).toBeGreaterThan(0);
  expect(text).not.toMatch(/ada|corp|1111/);
  expect(restoreText(text, restorationOf(inspection.tags), 'json')).toBe(JSON.stringify({ model: 'p/m', ...body }));
});

test.each(['1@', '-', '@-'])('many short texts are looked over at the cost of their length: %j', (short) => {
  const text = JSON.stringify({ model: 'p/m', ...parts('1@', '2', ...Array.from({ length: 5_000 }, () => short)) });
  const document = readDocument('chat', text);
  const boundaries = finish(boundariesOf(chatCodec.contents(document).leaves, text));
  const pieces = boundaries.reduce((sum, boundary) => sum + boundary.pieces.length, 0);
  expect(boundaries.length).toBeGreaterThan(0);
  expect(pieces).toBeLessThan(8 * 5_000);
});

test.each([
  [0, turns('You are a careful assistant.', 'Write to ada@corp.de about it.')],
  [0, turns('Ask for 4111 1111 and then wait for us', 'and call +49 30 901820')],
  [1, turns('Write to ada', '@corp.de about it.')],
  [1, turns('Please write to ada', 'lovelace [at] corp [dot] de about it')],
  [2, turns('The account is DE89 3704', '0044 0532 0130 00 and nothing else')],
])('only what may reach over a boundary is looked over: %d in %j', (count, body) => {
  const text = JSON.stringify({ model: 'p/m', ...body });
  const { leaves } = chatCodec.contents(readDocument('chat', text));
  expect(finish(boundariesOf(leaves, text))).toHaveLength(count);
});

test.each([
  ['a whole address at the end', parts('Write to ada@corp.de', 'Thanks a lot')],
  ['a whole address at the beginning', parts('Write to', 'ada@corp.de today')],
  ['a stop behind an address', parts('Write to ada@corp.de.', 'then go on')],
])('what stands whole on one side of a boundary has no other half: %s', async (_, body) => {
  const { inspection } = await run(body);
  expect(inspection.facts.findings).toEqual({ EMAIL: 1 });
  expect(inspection.tags.originals).toEqual({ '«EMAIL_1»': 'ada@corp.de' });
});

test.each([
  parts('In 2024', '2025 was better', '2026 will be, 12'),
  turns('It costs 1,234.56', '7890 units at 10:30', '5 more'),
  parts('@', 'mention', 'ada', '.py'),
])('no boundary makes something of nothing: %j', async (body) => {
  expect((await run(body)).inspection.facts.findings).toEqual({});
});

const calls = (value: unknown): object => ({
  messages: [
    { role: 'user', content: 'Go on.' },
    {
      role: 'assistant',
      tool_calls: [{ id: 'call_1', type: 'function', function: { name: 'f', arguments: JSON.stringify(value) } }],
    },
    { role: 'tool', tool_call_id: 'call_1', content: 'Done.' },
  ],
});

test.each([
  parts('The password is ready', '2024 report attached'),
  parts('The password is ready', '2024-10-11 report, 2025-10-11'),
  turns('the username is required', '2 items are missing'),
  turns('Reset the password today', '3rd reminder'),
  turns('Ask the user', 'v2 is out'),
  turns('Please enter your password', 'Fix section 2a'),
  turns('Here is the login page', 'OAuth2 flow'),
  turns('Is that the password', 'login.ts:42 says so'),
  calls({ year: ['2024', '2025', '4111', '1111', '1111', '1111'] }),
  calls({ name: 'hello', handle: '@ada', site: 'ada.dev' }),
  calls({ phone: '+49', count: '30', id: '901820' }),
  calls({ password: 'required', version: '2' }),
])('no joint makes a login, a password or a number of nothing: %j', async (body) => {
  expect((await run(body)).inspection.facts.findings).toEqual({});
});

test.each([
  ['thanks.', 'ada@corp.de'],
  ['Please mail me.', 'ada@corp.de'],
  ['See the list', 'ada@corp.de'],
])('a text before an address is no part of it: %j and %j', async (left, right) => {
  const { inspection } = await run(turns(left, right));
  expect(inspection.facts.findings).toEqual({ EMAIL: 1 });
});

test.each([
  ['The password is Hunter2xyz!', 'Thanks a lot', 'SECRET'],
  ['My username is jharper42', 'Thanks a lot', 'USERNAME'],
])('a whole value goes on in no ordinary word: %j and %j', async (left, right, category) => {
  expect((await run(turns(left, right))).inspection.facts.findings).toEqual({ [category]: 1 });
});

test.each([
  ['the password is hun', 'ter2xyz', ['is hun', 'ter2xyz']],
  ['the password is hunter', '2xyz', ['is hunter', '2xyz']],
  ['My username is jhar', 'per42 and it fails', ['jhar', 'per42']],
  ['My login is ada.', 'byron', ['is ada', 'byron']],
  ['ada.', 'lovelace@corp.de', ['ada.', 'lovelace']],
  ['ada_', 'lovelace@corp.de', ['ada_', 'lovelace']],
  ['write to ada', '.lovelace@corp.de', ['to ada', 'lovelace']],
])('a half that tells nothing alone leaves in no text and no JSON: %j and %j', async (left, right, gone) => {
  for (const body of [parts(left, right), turns(left, right), calls({ left, right }), calls([[left], right])]) {
    const { text, inspection } = await run(body);
    for (const one of gone) expect(text).not.toContain(one);
    expect(restoreText(text, restorationOf(inspection.tags), 'json')).toBe(JSON.stringify({ model: 'p/m', ...body }));
  }
});

test('many short texts that announce logins are searched at the cost of their length', () => {
  const searchedOf = (count: number): number => {
    const texts = Array.from({ length: count }, (_, at) => ['login', 'is a1', 'b2', '_c', 'password'][at % 5]!);
    const text = JSON.stringify({ model: 'p/m', ...turns(...texts) });
    const { leaves } = chatCodec.contents(readDocument('chat', text));
    return finish(boundariesOf(leaves, text)).reduce((sum, run) => sum + run.text.length, 0) / count;
  };
  expect(searchedOf(5_000)).toBeLessThan(1.5 * searchedOf(500));
});

test('the same beginning of a conversation has the same tags, whatever follows', async () => {
  const first = await run(turns('Remember ada@', 'corp.de is noted.', 'And'));
  const later = await run(turns('Remember ada@', 'corp.de is noted.', 'And bob@corp.de', 'too'));
  const beginning = first.text.slice(0, first.text.indexOf('And'));
  expect(later.text.startsWith(beginning)).toBe(true);
});

function textsIn(body: string): readonly unknown[] {
  const { messages } = JSON.parse(body) as { messages: { content: string | { text: string }[] }[] };
  return messages.flatMap(({ content }) => (typeof content === 'string' ? content : content.map(({ text }) => text)));
}

/** Numbers below a bound, the same in every run. */
function seeded(seed: number): (below: number) => number {
  let state = seed + 1;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

/** Where the parts of a value begin: all ways to cut it in two, and some to cut it in more. */
function cutsOf(value: string, count: number, random: (below: number) => number): readonly (readonly number[])[] {
  if (count === 2) return Array.from({ length: value.length - 1 }, (_, at) => [0, at + 1]);
  return Array.from({ length: 8 }, () => {
    const cuts = new Set([0]);
    while (cuts.size < Math.min(count, value.length)) cuts.add(random(value.length));
    return [...cuts].sort((a, b) => a - b);
  });
}

/** Examples of a kind, each in its context: the text before the value, the value, and the text behind it. */
const IN_CONTEXT = createDetectors()
  .filter(({ category }) => ANYWHERE.has(category))
  .flatMap(({ category, examples }) =>
    examples.flatMap((example) => {
      const [, before = '', value = '', behind = ''] = /^([^‹]*)‹([^›]*)›([^‹]*)/.exec(example) ?? [];
      // Only a word tells these, in the same text.
      return value === '' || /password|PIN|api_key|postgres/.test(before + behind)
        ? []
        : [{ category, before, value, behind }];
    }),
  );
const SAID = ['How are you today?', 'Fine thanks', 'Ok', 'Please note it:', 'Let us go on', '- and "then"'];

describe.each([
  ['parts of a message', parts],
  ['messages', turns],
  ['results of tools', (...texts: readonly string[]) => results(texts)],
])('a value that is cut over short %s', (_, bodyOf) => {
  test.each(IN_CONTEXT)('leaves in no part: $category, $value', async ({ category, before, value, behind }) => {
    const random = seeded(value.length + before.length);
    for (const count of [2, 3, 4]) {
      for (const cuts of cutsOf(value, count, random)) {
        const cut = cuts.map((at, index) => value.slice(at, cuts[index + 1]));
        if (cut.some((part) => part.trim() === '')) continue;
        const written = cut.map((part, at) => (at === 0 ? before : '') + part + (at === count - 1 ? behind : ''));
        const ahead = Array.from({ length: random(7) }, () => SAID[random(SAID.length)]!);
        const { text } = await run(bodyOf(...ahead, ...written, ...ahead), 'mask');
        const alone = await Promise.all(written.map((one) => run(parts(one), 'allow_log')));
        // A part that is such a value of its own has no other parts.
        if (alone.some(({ inspection }) => Object.hasOwn(inspection.facts.findings ?? {}, category))) continue;
        const left = textsIn(text);
        for (const one of written) expect(left, JSON.stringify([...ahead, ...written])).not.toContain(one);
      }
    }
  });
});

test.each([
  ['an address', 'ada.lovelace@corp.de', (text: string) => text.split('')],
  ['the longest account', 'MT84MALT011000012345MTLCAST001S', (text: string) => text.split('')],
  [
    'an address among signs',
    'ada.lovelace@corp.de',
    (text: string) => text.split('').flatMap((one) => [one, '-', '*']),
  ],
])('%s is found that has one text for each character', async (_, value, cut) => {
  const { text } = await run(turns(...SAID, ...cut(value), 'and so on'), 'mask');
  expect(textsIn(text).filter((one) => typeof one === 'string' && /^[A-Za-z\d@.]$/.test(one))).toEqual([]);
});

test.each([
  ['sk-ant-api03-', 'abcdefghij_klmnopqrstuvwxyz-0123456789'.repeat(3)],
  ['ghp_16C7e42F292', 'c6912E7710c838347Ae178B4a'],
])('a long secret that goes on in a long text leaves nothing of it: %s', async (left, right) => {
  const long = `${right} is the key of the account that we have used until now. ${'It was made last year. '.repeat(20)}`;
  for (const texts of [
    [`It is ${left}`, long],
    ['Fine thanks', 'Ok', `It is ${left}`, right.slice(0, 9), long.slice(9)],
  ]) {
    const { text } = await run(turns(...texts), 'mask');
    expect(text).not.toMatch(/[A-Za-z\d_]{24}/);
  }
});

test('many short texts that tell of values are searched at the cost of their length', () => {
  const searchedOf = (count: number): number => {
    const texts = Array.from({ length: count }, (_, at) => ['Ok', '4111 1', 'ada@', 'corp.de', '+49 30 12'][at % 5]!);
    const text = JSON.stringify({ model: 'p/m', ...turns(...texts) });
    const { leaves } = chatCodec.contents(readDocument('chat', text));
    return finish(boundariesOf(leaves, text)).reduce((sum, run) => sum + run.text.length, 0) / count;
  };
  expect(searchedOf(20_000)).toBeLessThan(2 * searchedOf(500));
});
