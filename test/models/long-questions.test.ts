import { setTimeout } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { failureOf, startDocumentWorld, type DocumentWorld } from '../documents/world.ts';
import { chat } from '../harness/answers.ts';
import { MODELS, startDocumentEngine, type EngineProcess } from '../harness/document-engine.ts';
import { startUpstream, type Upstream } from '../harness/upstream.ts';

/** The model that is checked in reads a question whole, or the question is refused. // spec 4.4.5 */

/** As long as a purpose may be, of words that the tokenizer takes apart into letters, and about holidays at its end. */
const PURPOSE = `${'업무 회계 세금 '.repeat(104)}그리고 questions of employees about holidays, pay and sick leave.`;
const cleanup = new AsyncDisposableStack();
let engine: EngineProcess;
let upstream: Upstream;
let world: DocumentWorld;
beforeAll(async () => {
  engine = await startDocumentEngine({ GW_MODELS_DIR: MODELS });
  cleanup.defer(async () => void (await engine.stop()));
  upstream = cleanup.use(await startUpstream(chat({ content: 'Hello.' })));
  world = cleanup.use(
    await startDocumentWorld({
      documentsUrl: engine.url,
      upstreamUrl: upstream.url,
      prices: [{ model: 'upstream/*', input: '1', output: '1' }],
      applications: { guarded: { policy: { scopeGuard: { mode: 'Block', scope: PURPOSE } } } },
    }),
  );
  while ((await engine.metric('gw_inference_model_ready{model="typed"}')) !== 1) await setTimeout(100);
});
afterAll(() => cleanup.disposeAsync());

const noul = (instructions: string): object => ({ type: 'noul', instructions });
const decide = (questions: object): Promise<Response> =>
  world.post('/v1/systemone', { model: 'gw/typed', state: 'My parcel never arrived.', questions });

describe('a question', () => {
  test('of 760 pieces is read to its end', async () => {
    const before = 'It is so. '.repeat(190);
    const answer = await decide({
      on: noul(`${before}The parcel never arrived.`),
      off: noul(`${before}I sing in a choir.`),
    });
    expect(answer.status).toBe(200);
    const { answers } = (await answer.json()) as { answers: Record<string, { noul: number }> };
    expect(answers['on']?.noul).not.toBe(answers['off']?.noul);
  });

  test('is read with a description of 900 words', async () => {
    const criteria = { a: `The parcel: ${'it came not '.repeat(250)}`, b: 'a choir' };
    const answer = await decide({ q: { type: 'choice', instructions: 'What is it about?', criteria } });
    expect(answer.status).toBe(200);
  });

  test.each([
    ['instructions', { short: noul('It is late.'), long: noul('Is it so? '.repeat(300)) }, 'questions.long'],
    ['instructions without spaces', { long: noul('語'.repeat(1100)) }, 'questions.long'],
    [
      'an option',
      { long: { type: 'choice', instructions: 'Which?', criteria: { a: 'i o '.repeat(600), b: null } } },
      'questions.long',
    ],
    [
      'an option beside instructions',
      { long: { type: 'choice', instructions: '語'.repeat(1010), criteria: { a: '語'.repeat(1010), b: null } } },
      'questions.long',
    ],
  ])('is refused by name where %s would be read in part', async (_what, questions, param) => {
    const answer = await decide(questions);
    const failure = await failureOf(answer);
    expect(failure).toMatchObject({ status: 400, param });
    expect(failure.message).toContain('This question is too long for the model');
    expect(await world.row(answer)).toMatchObject({ cost_nano_eur: '0' });
  });

  test('is refused together with the others where all are longer than about 1,000 tokens', async () => {
    const many = Object.fromEntries(Array.from({ length: 10 }, (_, at) => [`q${at}`, noul('語'.repeat(400))]));
    const failure = await failureOf(await decide(many));
    expect(failure).toMatchObject({ status: 400, param: 'questions' });
    expect(failure.message).toContain('about 1000 tokens');
  });
});

test('a purpose of any language is read whole', async () => {
  const messages = [{ role: 'user', content: 'How many days of holiday do I have left this year?' }];
  const answer = await world.post('/v1/chat/completions', { model: 'upstream/m', messages }, { as: 'guarded' });
  await answer.text();
  expect(PURPOSE.length).toBeGreaterThan(980);
  expect(PURPOSE.length).toBeLessThanOrEqual(1000);
  expect((await world.row(answer)).scope).toMatch(/^(inside|outside): /);
});
