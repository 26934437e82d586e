import { setTimeout } from 'node:timers/promises';
import { Document, Packer, Paragraph } from 'docx';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { formOf, startDocumentWorld, type DocumentWorld } from '../documents/world.ts';
import { chat } from '../harness/answers.ts';
import { MODELS, startDocumentEngine, type EngineProcess } from '../harness/document-engine.ts';
import { startUpstream, type Upstream } from '../harness/upstream.ts';
import { WRITTEN_TEXTS } from '../harness/written-texts.ts';

/** Prompts as people write them, and who is in them. */
const NAMED: readonly (readonly [prompt: string, person: string])[] = [
  ['My name is Harriet Colburn and I need an answer by Friday.', 'Harriet Colburn'],
  ['Vielen Dank im Voraus! Mit freundlichen Grüßen, Katharina Brinkmann', 'Katharina Brinkmann'],
  ["Je m'appelle Amélie Rousseau, rappelez-moi demain.", 'Amélie Rousseau'],
  ['Buenos días, soy Lucía Fernández y no he recibido mi pedido.', 'Lucía Fernández'],
  ['Mi chiamo Giulia Ferrari e vorrei cambiare indirizzo.', 'Giulia Ferrari'],
  ['Met vriendelijke groet, Joris van den Berg', 'Joris van den Berg'],
  ['Nazywam się Agnieszka Kowalska i proszę o fakturę.', 'Agnieszka Kowalska'],
  ['Chamo-me Beatriz Almeida e preciso de ajuda.', 'Beatriz Almeida'],
  ['Customer: Omar Haddad, order 4711', 'Omar Haddad'],
  ['{"name":"Piotr Zieliński","plan":"basic"}', 'Piotr Zieliński'],
  ['Dear Mr Whitfield, thank you for your letter.', 'Whitfield'],
  ['Answer ADA LOVELACE, please.', 'ADA LOVELACE'],
];
/** Capital letters, and nobody. */
const NAMELESS = [
  'Summarise the quarterly report in three bullet points.',
  'The Project Manager presents the Roadmap on Monday.',
  'Write a SQL query that joins Orders and Customers.',
  'Fasse den Bericht der Abteilung in drei Sätzen zusammen.',
  'Der Vertrag mit der Versicherung läuft im Sommer aus.',
  'Die Kündigungsfrist beträgt drei Monate zum Quartalsende.',
  'Résume le rapport en trois points.',
  'Streść raport w trzech punktach.',
];

let upstream: Upstream;
let engine: EngineProcess;
let world: DocumentWorld;
beforeAll(async () => {
  upstream = await startUpstream(chat({ content: 'Done.' }));
  engine = await startDocumentEngine({ GW_MODELS_DIR: MODELS });
  world = await startDocumentWorld({
    documentsUrl: engine.url,
    upstreamUrl: upstream.url,
    prices: [{ model: 'upstream/*', input: '1', output: '1' }],
    applications: { careful: { policy: { dlp: { mode: 'Tokenize' } } } },
  });
  // The gateway looks from time to time which models are there.
  while (!(await sent('My name is Grace Hopper.')).includes('«')) await setTimeout(100);
}, 300_000);
afterAll(async () => {
  await world[Symbol.asyncDispose]();
  await engine.stop();
  await upstream.close();
});

/** What leaves when somebody says this. */
async function sent(content: string): Promise<string> {
  const body = { model: 'upstream/m', messages: [{ role: 'user', content }] };
  const answer = await world.post('/v1/chat/completions', body, { as: 'careful' });
  expect(answer.status).toBe(200);
  const { messages } = JSON.parse(upstream.requests.at(-1)?.body ?? '{}') as {
    readonly messages: readonly { readonly content: string }[];
  };
  return messages[0]?.content ?? '';
}

test('names stay here in eight languages, and words that are no names go on', async () => {
  const left: string[] = [];
  for (const [prompt, person] of NAMED) if ((await sent(prompt)).includes(person)) left.push(prompt);
  expect(left.length, left.join('\n')).toBeLessThanOrEqual(1);
  const touched: string[] = [];
  for (const prompt of NAMELESS) if ((await sent(prompt)) !== prompt) touched.push(prompt);
  expect(touched.length, touched.join('\n')).toBeLessThanOrEqual(1);
});

test('of a page of prose, at most one word in a hundred is taken for somebody', async () => {
  const words = (text: string): number => text.split(/\s+/).length;
  const paragraphs = WRITTEN_TEXTS.flatMap((text) => text.paragraphs);
  let tags = 0;
  for (const paragraph of paragraphs) tags += (await sent(paragraph)).match(/«PERSON_NAME_\d+»/g)?.length ?? 0;
  expect(tags / words(paragraphs.join(' '))).toBeLessThan(0.01);
});

test('a Word document loses its names and keeps its other words, its fonts and its styles', async () => {
  const lines = [
    'Dear Ms Harriet Colburn,',
    'The harvest was good and the barn is full.',
    'Kind regards, Joris van den Berg',
  ];
  const children = lines.map((line) => new Paragraph({ text: line, heading: 'Heading1' }));
  const bytes = await Packer.toBuffer(new Document({ sections: [{ children }] }));
  const answer = await world.anonymize(formOf(bytes, 'letter.docx', { include_mapping: true }));
  expect(answer.status).toBe(200);
  const { mapping } = (await answer.json()) as { readonly mapping: Readonly<Record<string, string>> };
  expect(JSON.stringify(mapping)).toContain('Harriet Colburn');
  expect(JSON.stringify(mapping)).not.toMatch(/harvest|barn|Heading|Font/i);
});
