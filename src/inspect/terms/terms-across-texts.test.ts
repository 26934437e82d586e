import { expect, test } from 'vitest';
import type { CustomTerm, DlpMode } from '#/config/snapshot.ts';
import { chatCodec } from '#/wire/chat/codec.ts';
import { readDocument, render } from '#/wire/document/document.ts';
import { finish } from '#/wire/document/steps.ts';
import { restorationOf } from '../../../test/harness/restoration.ts';
import { createDetectionPool } from '../search/detection-pool.ts';
import { inspect } from '../inspect.ts';
import { seamsOf, termsAcrossTexts } from './terms-across-texts.ts';
import { createTermFinder } from './term-finder.ts';
import { restoreText } from '../restore/restore-text.ts';

const detection = createDetectionPool({});
const TERMS: readonly CustomTerm[] = [
  { term: 'Falconery', label: 'project' },
  { term: 'Blue Heron', label: 'project' },
  { term: 'Müller', label: 'person' },
  { term: 'Ed', label: 'person' },
  { term: 'Alfred', label: 'person' },
];

async function run(body: object, mode: DlpMode, ofPolicy: readonly CustomTerm[], remove: readonly CustomTerm[] = []) {
  const document = readDocument('chat', JSON.stringify({ model: 'p/m', ...body }));
  const policy = { mode, documents: 'off', customTerms: ofPolicy } as const;
  const inspection = await inspect(document, chatCodec, policy, remove, detection);
  return { text: render(document.text, inspection.edits), inspection };
}

const parts = (...texts: readonly string[]): object => ({
  messages: [{ role: 'user', content: texts.map((text) => ({ type: 'text', text })) }],
});
const turns = (...texts: readonly string[]): object => ({
  messages: texts.map((content, at) => ({ role: at % 2 === 0 ? 'user' : 'assistant', content })),
});

const PARTED: readonly (readonly string[])[] = [
  ['We call it Fal', 'conery now'],
  ['We call it FALCON', 'ERY now'],
  ['We call it Falco ', '', 'nery now'],
  ['We call it F', 'al', 'con', 'ery now'],
  ['We call it Blue', 'Heron now'],
  ['We call it blue ', ' \n', ' heron now'],
  ['We call it Blue He', 'ron now'],
  ['Ask Mue', 'ller now'],
  ['Ask Mü', 'llers now'],
  ['We call it **Falco**', '**nery** now'],
  ['We call it Falco-', '\u200bnery now'],
  ['We call it “Falco…', '…nery” now'],
  ['We call it:\n- Blue', '- Heron now'],
  ['Ok', 'We like it', 'Fal', 'con', 'ery now', 'Ok'],
  ['Ok', 'as such', 'We call it Blue', 'Her', 'on now', 'Ok'],
  ['Ok', 'We call it Bl', 'ue', 'Heron now', 'Fine', 'Ok', 'Ok'],
  // Its letters go on from the text before as those of a term do.
  ['all', 'Fal', 'conery now'],
  ['Ok al', 'fal', 'con', 'ery now', 'no'],
  ['F', 'a', 'l', 'con', 'e', 'r', 'y now'],
  [`We call it Falco${' '.repeat(90)}"`, `${'-'.repeat(20)} nery now`],
];

test.each(PARTED.flatMap((texts) => [parts, turns].map((of) => [texts, of(...texts)] as const)))(
  'a term parted as %j leaves in no half, and comes back',
  async (texts, body) => {
    const secret = /fal|con|ery|blue|heron|he"|ron|m[uü]|ller/i;
    for (const [mode, ofPolicy, remove] of [
      ['tokenize', TERMS, []],
      ['allow_log', [], TERMS],
    ] as const) {
      const { text, inspection } = await run(body, mode, ofPolicy, remove);
      expect(JSON.stringify(texts)).toMatch(secret);
      expect(text.replaceAll(/"(?:role|type|content|model|messages|text)"/g, '')).not.toMatch(secret);
      expect(restoreText(text, restorationOf(inspection.tags), 'json')).toBe(JSON.stringify({ model: 'p/m', ...body }));
    }
    expect((await run(body, 'mask', TERMS)).text).toMatch(/\[(?:PROJECT|PERSON)\]/);
    await expect(run(body, 'block', TERMS)).rejects.toThrow(/PROJECT|PERSON/);
    expect((await run(body, 'allow_log', TERMS)).inspection.edits).toEqual([]);
  },
);

test.each([
  ['a term that is whole on one side', ['We call it Falconery', 'conery is nothing'], 1],
  ['a short term', ['We like E', 'd and e'], 0],
  ['the end of another word', ['He likes gyrfal', 'conery now'], 0],
  ['words that stand apart', ['The sky is blue.', 'A heron'], 0],
])('%s is not parted: %j', async (_, texts, found) => {
  const { inspection } = await run(parts(...texts), 'tokenize', TERMS);
  expect(Object.values(inspection.facts.findings ?? {}).reduce((sum, times) => sum + times, 0)).toBe(found);
});

test('only boundaries where a term may go on are looked into', () => {
  const finder = createTermFinder(TERMS)!;
  const asked: string[] = [];
  const texts = Array.from({ length: 5000 }, (_, at) => `${at} This is prose that ends with something else.`);
  const read = texts.map((text, leaf) => ({ text, leaf }));
  const find = (text: string): ReturnType<typeof finder> => {
    asked.push(text);
    return finder(text);
  };
  expect(finish(termsAcrossTexts(read, seamsOf(TERMS), find))).toEqual([]);
  expect(asked).toEqual([]);
});

test('many short texts are looked over at the cost of their length', () => {
  const finder = createTermFinder(TERMS)!;
  let asked = 0;
  const read = Array.from({ length: 5000 }, (_, leaf) => ({ text: 'fa', leaf }));
  const find = (text: string): ReturnType<typeof finder> => {
    asked += text.length;
    return finder(text);
  };
  finish(termsAcrossTexts(read, seamsOf([{ term: 'fafafafb' }, { term: 'afaf' }]), find));
  expect(asked).toBeLessThan(10 * 5000);
});
