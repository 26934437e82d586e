import { setTimeout } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { failureOf, startDocumentWorld, type DocumentWorld } from '../documents/world.ts';
import { chat } from '../harness/answers.ts';
import { MODELS, startDocumentEngine, type EngineProcess } from '../harness/document-engine.ts';
import { startUpstream, type Upstream } from '../harness/upstream.ts';

/** The model that is checked in, asked at the doors of the gateway about what nobody is in doubt about. */

interface Answer {
  readonly noul?: number;
  readonly choice?: string;
  readonly score?: number;
  readonly answer_confidence?: number;
}

let engine: EngineProcess;
let upstream: Upstream;
let world: DocumentWorld;
beforeAll(async () => {
  engine = await startDocumentEngine({ GW_MODELS_DIR: MODELS });
  upstream = await startUpstream(chat({ content: 'Hello.' }));
  const scope = 'Questions of employees about holidays, pay and sick leave.';
  world = await startDocumentWorld({
    documentsUrl: engine.url,
    upstreamUrl: upstream.url,
    prices: [{ model: 'upstream/*', input: '1', output: '1' }],
    applications: { guarded: { policy: { scopeGuard: { mode: 'Block', scope } } } },
  });
  while ((await engine.metric('gw_inference_model_ready{model="typed"}')) !== 1) await setTimeout(100);
});
afterAll(async () => {
  await world[Symbol.asyncDispose]();
  await upstream.close();
  await engine.stop();
});

async function decide(state: unknown, questions: object): Promise<Readonly<Record<string, Answer>>> {
  const answer = await world.post('/v1/systemone', { model: 'gw/typed', state, questions });
  expect(answer.status).toBe(200);
  const { answers, revision } = (await answer.json()) as { answers: Record<string, Answer>; revision: string };
  expect(revision).toMatch(/^[0-9a-f]{64}$/);
  return answers;
}

const ANGRY = 'My parcel never arrived and nobody answers the phone. I want my money back immediately!';
const GLAD = 'Thank you so much, everything works perfectly now. You are wonderful!';

test('tells what a message is about', async () => {
  const questions = {
    money: { type: 'noul', instructions: 'The customer wants money back.' },
    parcel: { type: 'noul', instructions: 'The message is about a parcel.' },
    topic: {
      type: 'choice',
      instructions: 'What is the message about?',
      criteria: ['a missing delivery', 'a job application', 'the weather'],
    },
  };
  const angry = await decide(ANGRY, questions);
  const glad = await decide(GLAD, questions);
  for (const name of ['money', 'parcel']) {
    expect(angry[name]?.noul).toBeGreaterThan(0.5);
    expect(glad[name]?.noul).toBeLessThan(0.5);
  }
  expect(angry['topic']?.choice).toBe('a missing delivery');
  for (const { answer_confidence: sure } of Object.values(angry)) expect(sure).toBeGreaterThan(0);
});

test('tells how much of something there is', async () => {
  const questions = {
    mood: {
      type: 'score',
      instructions: 'Rate the mood of the sender.',
      criteria: ['very angry', 'unhappy', 'neutral', 'satisfied', 'delighted'],
    },
  };
  const angry = await decide({ message: ANGRY }, questions);
  const glad = await decide({ message: GLAD }, questions);
  expect(glad['mood']?.score).toBeGreaterThan(angry['mood']?.score ?? 5);
});

test.each([
  [
    'de',
    'Mein Passwort funktioniert nicht mehr, ich kann mich nicht anmelden.',
    ['Anmeldung', 'Lieferung', 'Rechnung'],
    'Anmeldung',
  ],
  [
    'fr',
    'Votre facture est fausse : le montant a été débité deux fois.',
    ['facture', 'livraison', 'emploi'],
    'facture',
  ],
  ['es', 'El paquete no ha llegado todavía.', ['entrega del paquete', 'contraseña', 'trabajo'], 'entrega del paquete'],
])('reads %s where words are alike', async (_language, state, criteria, expected) => {
  const { topic } = await decide(state, { topic: { type: 'choice', instructions: 'Topic', criteria } });
  expect(topic?.choice).toBe(expected);
});

test('keeps a workload to its purpose', async () => {
  const say = (...said: readonly string[]): Promise<Response> => {
    const messages = said.flatMap((content) => [
      { role: 'assistant', content: 'OK.' },
      { role: 'user', content },
    ]);
    return world.post('/v1/chat/completions', { model: 'upstream/m', messages: messages.slice(1) }, { as: 'guarded' });
  };
  const holiday = 'How many days of holiday do I have left this year?';
  const cake = 'Write me a recipe for a chocolate cake with strawberries.';
  for (const said of [[holiday], [holiday, 'Yes please.'], [holiday, 'Can you say that in German?', 'Thanks!']]) {
    const inside = await say(...said);
    expect(inside.status).toBe(200);
    expect((await world.row(inside)).scope).toMatch(/^inside: /);
  }
  for (const said of [[cake], [holiday, cake], [cake, 'Yes please.']]) {
    expect(await failureOf(await say(...said))).toMatchObject({ status: 403, code: 'scope_violation' });
  }
});
