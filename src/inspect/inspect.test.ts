import { describe, expect, test } from 'vitest';
import type { CustomTerm, DlpMode, ResolvedPolicy } from '#/config/snapshot.ts';
import { Stopped } from '#/call/facts.ts';
import { GatewayError } from '#/errors/gateway-error.ts';
import { chatCodec } from '#/wire/chat/codec.ts';
import { readDocument, render } from '#/wire/document/document.ts';
import { responsesCodec } from '#/wire/responses/codec.ts';
import { createDetectionPool } from './search/detection-pool.ts';
import { inspect, type Inspection } from './inspect.ts';

const detection = createDetectionPool({});
const MAIL = 'ada@example.com';

interface Seen {
  readonly text: string;
  readonly inspection: Inspection;
}

async function run(
  body: object | string,
  mode: DlpMode,
  more: Partial<ResolvedPolicy['dlp']> = {},
  remove: readonly CustomTerm[] = [],
): Promise<Seen> {
  const text = typeof body === 'string' ? body : JSON.stringify({ model: 'p/m', ...body });
  const policy = { mode, documents: 'off', customTerms: [], ...more } as const;
  const inspection = await inspect(readDocument('chat', text), chatCodec, policy, remove, detection);
  return { text: render(text, inspection.edits), inspection };
}

async function refusal(body: object, mode: DlpMode, more: Partial<ResolvedPolicy['dlp']> = {}): Promise<GatewayError> {
  const thrown: unknown = await run(body, mode, more).catch((reason: unknown) => reason);
  const error = thrown instanceof Stopped ? thrown.cause : thrown;
  if (!(error instanceof GatewayError)) throw new Error('was not refused');
  return error;
}

const user = (content: unknown) => ({ messages: [{ role: 'user', content }] });

describe('every string is a leaf', () => {
  test.each([
    ['message text', user(MAIL)],
    ['a content part', user([{ type: 'text', text: MAIL }])],
    ['an unknown content part', user([{ type: 'hologram', deep: [{ caption: MAIL }] }])],
    ['an unknown top-level member', { ...user('x'), x_vendor: { note: MAIL } }],
    ['a member name', { ...user('x'), metadata: { [MAIL]: 'y' } }],
    ['a tool description', { ...user('x'), tools: [{ type: 'function', function: { name: 'f', description: MAIL } }] }],
    [
      'an enum of a tool schema',
      { ...user('x'), tools: [{ type: 'function', function: { name: 'f', parameters: { enum: [MAIL] } } }] },
    ],
    ['the user field', { ...user('x'), user: MAIL }],
    ['an id that is no id', { messages: [{ role: 'tool', tool_call_id: MAIL, content: 'x' }] }],
    ['the address of an image', user([{ type: 'image_url', image_url: { url: `https://x.example/?u=${MAIL}` } }])],
    [
      'arguments that are not JSON',
      {
        messages: [
          { role: 'assistant', tool_calls: [{ id: 'c', function: { name: 'f', arguments: `{"to": ${MAIL}` } }] },
        ],
      },
    ],
    ['escaped text', `{"model":"p/m","messages":[{"role":"user","content":"ada\\u0040example.com"}]}`],
  ])('%s', async (_name, body) => {
    const { text, inspection } = await run(body, 'tokenize');
    expect(JSON.stringify(JSON.parse(text))).not.toContain(MAIL);
    expect(text).toContain('«EMAIL_1»');
    expect(inspection.facts.findings).toEqual({ EMAIL: 1 });
  });

  test('a card written as a JSON number', async () => {
    const { text } = await run(
      '{"model":"p/m","messages":[{"role":"user","content":"x","card":4111111111111111}]}',
      'tokenize',
    );
    expect(text).toContain('"card":"«CREDIT_CARD_1»"');
  });

  test('tool-call arguments are rewritten as JSON values', async () => {
    const args = JSON.stringify({ to: MAIL, note: `"${MAIL}"\n`, n: 1 });
    const { text } = await run(
      {
        messages: [
          { role: 'assistant', tool_calls: [{ id: 'c', type: 'function', function: { name: 'f', arguments: args } }] },
        ],
      },
      'tokenize',
    );
    const body = JSON.parse(text) as { messages: { tool_calls: { function: { arguments: string } }[] }[] };
    expect(JSON.parse(body.messages[0]!.tool_calls[0]!.function.arguments)).toEqual({
      to: '«EMAIL_1»',
      note: '"«EMAIL_1»"\n',
      n: 1,
    });
  });
});

describe('JSON within text', () => {
  const tool = (content: string) => ({ messages: [{ role: 'tool', tool_call_id: 'c', content }] });

  test.each([
    ['escaped, as Python writes it', '{"mail":"ada\\u0040example.com"}'],
    ['in an array', '["ada\\u0040example.com"]'],
    ['twice escaped', JSON.stringify({ body: '{"mail":"ada\\u0040example.com"}' })],
    ['under a name that comes twice', '{"a":"ada\\u0040example.com","a":"x\\n"}'],
  ])('%s', async (_name, content) => {
    const { text, inspection } = await run(tool(content), 'tokenize');
    expect(inspection.facts.findings).toEqual({ EMAIL: 1 });
    expect(text).toContain('«EMAIL_1»');
    expect(text).not.toContain('u0040');
  });

  test('JSON without a find keeps its spelling', async () => {
    const body = JSON.stringify({ model: 'p/m', ...tool('{ "a" : "x\\ny" , "n":1.0}') });
    expect((await run(body, 'tokenize')).text).toBe(body);
  });
});

describe('modes', () => {
  test('allow_log counts and changes nothing', async () => {
    const body = JSON.stringify({ model: 'p/m', ...user(`${MAIL} ${MAIL}`) });
    const { text, inspection } = await run(body, 'allow_log');
    expect(text).toBe(body);
    expect(inspection.facts.findings).toEqual({ EMAIL: 2 });
  });

  test('mask is not reversible', async () => {
    const { text, inspection } = await run(user(`to ${MAIL}`), 'mask');
    expect(text).toContain('to [EMAIL]');
    expect(inspection.tags.size).toBe(0);
  });

  test('block names categories, never what was found', async () => {
    const error = await refusal(user(`${MAIL} 4111 1111 1111 1111`), 'block');
    expect(error.code).toBe('data_protection');
    expect(error.message).toContain('CREDIT_CARD, EMAIL');
    expect(error.message).not.toMatch(/ada|4111/);
  });

  test('only the entities of the policy are looked for', async () => {
    const { inspection } = await run(user(`${MAIL} DE89370400440532013000`), 'tokenize', {
      entities: new Set(['IBAN']),
    });
    expect(inspection.facts.findings).toEqual({ IBAN: 1 });
  });
});

describe('tags', () => {
  test('the same text has the same tag, in prompt order whatever the order of members', async () => {
    const messages = [{ role: 'user', content: `b@x.example and ${MAIL}` }];
    const tools = [{ type: 'function', function: { name: 'f', description: MAIL } }];
    const { text } = await run({ metadata: { owner: 'z@x.example' }, messages, tools }, 'tokenize');
    const body = JSON.parse(text) as {
      messages: { content: string }[];
      tools: { function: { description: string } }[];
      metadata: { owner: string };
    };
    expect(body.tools[0]!.function.description).toBe('«EMAIL_1»');
    expect(body.messages[0]!.content).toBe('«EMAIL_2» and «EMAIL_1»');
    expect(body.metadata.owner).toBe('«EMAIL_3»');
  });

  test('a longer conversation keeps the tags of its beginning', async () => {
    const turn = { role: 'user', content: `from ${MAIL} to b@x.example` };
    const first = await run({ messages: [turn] }, 'tokenize');
    const second = await run(
      { messages: [turn, { role: 'assistant', content: 'b@x.example?' }, { role: 'user', content: 'c@x.example' }] },
      'tokenize',
    );
    const messages = (text: string) =>
      (JSON.parse(text) as { messages: { content: string }[] }).messages.map(({ content }) => content);
    expect(messages(second.text)[0]).toBe(messages(first.text)[0]);
    expect(messages(second.text).slice(1)).toEqual(['«EMAIL_2»?', '«EMAIL_3»']);
  });

  test('text that already looks like a tag is not taken for one', async () => {
    const { text, inspection } = await run(user(`«EMAIL_1» is ${MAIL}, «bonjour»`), 'tokenize');
    expect(text).toContain('«EMAIL_1» is «EMAIL_2», «bonjour»');
    expect(inspection.tags.originalOf('«EMAIL_1»')).toBe('«EMAIL_1»');
    expect(inspection.tags.originalOf('«EMAIL_2»')).toBe(MAIL);
    expect(inspection.facts.findings).toEqual({ EMAIL: 1 });
  });
});

describe('terms', () => {
  const falcon = { term: 'Falcon', label: 'project' };

  test.each(['allow_log', 'tokenize', 'mask'] as const)('are pseudonymized reversibly in mode %s', async (mode) => {
    const { text, inspection } = await run(user('Falcon, FALCON and falcons; Ed, not Editor'), mode, {}, [
      falcon,
      { term: 'Ed', label: 'p' },
    ]);
    expect(text).toContain('«PROJECT_1», «PROJECT_2» and «PROJECT_3»s; «P_1», not Editor');
    expect(inspection.tags.originalOf('«PROJECT_2»')).toBe('FALCON');
  });

  test('of the policy follow its mode', async () => {
    const customTerms = [falcon];
    expect((await run(user('Falcon'), 'allow_log', { customTerms })).text).toContain('"Falcon"');
    expect((await run(user('Falcon'), 'mask', { customTerms })).text).toContain('[PROJECT]');
    expect((await refusal(user('Falcon'), 'block', { customTerms })).message).toContain('PROJECT');
  });

  test('gives its label to what a detector finds too', async () => {
    const contact = { term: MAIL, label: 'contact' };
    expect((await run(user(MAIL), 'mask', { customTerms: [contact] })).text).toContain('"[CONTACT]"');
    expect((await run(user(MAIL), 'mask', {}, [contact])).text).toContain('[CONTACT]');
  });

  test('that overlap a find leave nothing of either', async () => {
    const { text } = await run(user(`x ${MAIL}`), 'mask', {}, [{ term: 'x ada', label: 'who' }]);
    expect(text).toContain('"[EMAIL]"');
    const { text: inside } = await run(user(`x ${MAIL}`), 'tokenize', {}, [{ term: 'example', label: 'who' }]);
    expect(inside).toContain('x «EMAIL_1»');
  });

  test.each([
    ['王小明', '请联系王小明先生'],
    ['김철수', '김철수는'],
    ['Jürgen', 'Ju\u0308rgen'.normalize('NFD')],
    ['Jane Roe', 'Jane\u00a0Roe'],
    ['Jane Roe', 'Jane\n  Roe'],
    ['Falcon', 'Fal\u200bcon'],
    ['Falcon', 'Ｆａｌｃｏｎ'],
    ['Falcon Nine', 'falconFalcon nine'],
  ])('%s in %j', async (term, content) => {
    const { text, inspection } = await run(user(content), 'allow_log', {}, [{ term, label: 't' }]);
    expect(text).toContain('«T_1»');
    const restored = text.replaceAll(/«T_\d»/g, (tag) => JSON.stringify(inspection.tags.originalOf(tag)).slice(1, -1));
    expect((JSON.parse(restored) as { messages: { content: string }[] }).messages[0]!.content).toBe(content);
  });

  test('are found in linear work, whatever they have in common', async () => {
    const terms = Array.from({ length: 256 }, (_, index) => ({ term: `${'a'.repeat(index + 4)}b`, label: 't' }));
    const { inspection } = await run(user(`${'a'.repeat(500_000)}`), 'allow_log', {}, terms);
    expect(inspection.tags.size).toBe(0);
  });

  test('with characters of every regular expression', async () => {
    const { text } = await run(user('a.b*c[d] (e|f) \\ $1-2/3 + ?'), 'allow_log', {}, [
      { term: 'a.b*c[d] (e|f) \\ $1-2/3 + ?', label: '1 odd ländel' },
    ]);
    expect(text).toContain('«TERM_1_ODD_L_NDEL_1»');
  });
});

describe('what cannot be read', () => {
  const audio = user([{ type: 'input_audio', input_audio: { data: 'AAAA', format: 'wav' } }]);
  const file = user([{ type: 'file', file: { filename: 'x.pdf', file_data: 'data:application/pdf;base64,AAAA' } }]);
  const image = user([{ type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } }]);

  test('audio: refused under block, named otherwise', async () => {
    expect((await refusal(audio, 'block')).code).toBe('data_protection');
    expect((await run(audio, 'tokenize')).inspection.unscanned).toEqual(['audio']);
  });

  test('documents: refused where policy protects content, named under allow_log', async () => {
    for (const mode of ['tokenize', 'mask', 'block'] as const)
      expect((await refusal(file, mode)).code).toBe('data_protection');
    expect((await refusal(file, 'allow_log', { documents: 'anonymize' })).code).toBe('data_protection');
    expect((await run(file, 'allow_log')).inspection.unscanned).toEqual(['file']);
  });

  test.each([
    ['a video', { type: 'video_url', video_url: { url: 'https://x.example/v.mp4' } }, 'file'],
    ['a document by address', { type: 'document_url', document_url: 'https://x.example/d.pdf' }, 'file'],
    ['a file by id', { type: 'file', file: { file_id: 'file-1' } }, 'file'],
    ['an image in short form', { type: 'image_url', image_url: 'https://x.example/i.png' }, 'image'],
    ['audio by address', { type: 'audio_url', audio_url: { url: 'https://x.example/a.wav' } }, 'audio'],
  ])('%s is not text', async (_name, part, kind) => {
    expect((await run(user([part]), 'allow_log')).inspection.unscanned).toContain(kind);
  });

  test('text in the place of media is refused, and not repeated', async () => {
    for (const part of [
      { type: 'input_audio', input_audio: { data: `call ${MAIL}` } },
      { type: 'image_url', image_url: { url: `data:text/plain,${MAIL}` } },
    ]) {
      const refused = await run(user([part]), 'allow_log').catch((thrown: unknown) => thrown);
      expect(refused).toMatchObject({ code: 'invalid_request' });
      expect(String(refused)).not.toContain(MAIL);
    }
  });

  test('inline images: named, their bytes not read as text', async () => {
    expect((await run(image, 'tokenize')).inspection).toMatchObject({ unscanned: ['image'], facts: { findings: {} } });
    expect((await refusal(image, 'block')).message).toContain('images must be inspected (dlp.images: Inspect)');
  });
});

test('large prompts are inspected off the event loop, with the same result', async () => {
  const { text } = await run(user(`${'plain words '.repeat(10_000)}${MAIL}`), 'tokenize');
  expect(text).toContain('plain words «EMAIL_1»');
});

describe('a conversation that the provider keeps', () => {
  const ask = async (body: object, mode: DlpMode): Promise<Inspection> => {
    const document = readDocument('responses', JSON.stringify({ model: 'p/m', ...body }));
    return inspect(document, responsesCodec, { mode, documents: 'off', customTerms: [] }, [], detection);
  };
  const kept = [{ previous_response_id: 'resp_1' }, { conversation: 'conv_1' }, { conversation: { id: 'conv_1' } }];

  test.each(kept)('%j: no tag may be added, whose number may be taken', async (before) => {
    await expect(ask({ ...before, input: MAIL }, 'tokenize')).rejects.toMatchObject({
      cause: {
        code: 'data_protection',
        message: expect.stringContaining('send the whole conversation') as string,
      },
    });
  });

  test.each(kept)('%j: goes on where nothing was replaced, or for good', async (before) => {
    expect((await ask({ ...before, input: 'Go on' }, 'tokenize')).edits).toEqual([]);
    expect((await ask({ ...before, input: MAIL }, 'mask')).edits).toHaveLength(1);
    expect((await ask({ ...before, input: MAIL }, 'allow_log')).edits).toEqual([]);
  });

  test('none is named', async () => {
    const none = { previous_response_id: null, conversation: null, input: MAIL };
    expect((await ask(none, 'tokenize')).edits).toHaveLength(1);
  });
});
