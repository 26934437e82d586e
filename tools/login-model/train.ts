import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { isCandidate, isNearCue } from '#/inspect/detectors/login-candidates.ts';
import { createFeatures, featuresOf } from '#/inspect/detectors/login-features.ts';
import { hashText } from '#/inspect/detectors/login-hash.ts';
import { knownBits, modelOf, packed, WIDTH, WORD_BITS } from '#/inspect/detectors/login-model.ts';
import { readTokens, type Token } from '#/inspect/detectors/login-tokens.ts';
import { agentsText, textsOfTree } from './agents.ts';
import { type Example, trained } from './descent.ts';
import { placed } from './placed.ts';
import { randomOf } from './random.ts';
import {
  nearCue,
  knownWords,
  listedWords,
  rareWords,
  type Labelled,
  type Language,
  LANGUAGES,
  readingOf,
  sampled,
  sharedTexts,
} from './texts.ts';

const SEED = 20261126;
/** Sentences of templates for each language. */
const PER_LANGUAGE = 12_000;
/** Ordinary sentences with a value or a technical name put into them, for each language, and blocks of agents' texts. */
const PLACED = 16_000;
const AGENTS = 6_000;
/** The share of words that are neither, of texts without any, that is learned from. */
const SAMPLED = 0.3;
const OUT = path.join(import.meta.dirname, '../../src/inspect/detectors/login-model.bin');

function wordsIn(known: ReadonlySet<string>): Uint8Array {
  const words = new Uint8Array(WORD_BITS / 8);
  for (const word of known)
    for (const bit of knownBits(word)) words[bit >> 3] = (words[bit >> 3] as number) | (1 << (bit & 7));
  return words;
}

function examplesOf({ text, spans }: Labelled, known: (word: string) => boolean): readonly Example[] {
  const tokens: Token[] = [];
  readTokens(text, 0, text.length, tokens);
  const features = createFeatures();
  return tokens.flatMap((token, index) => {
    if (spans.length === 0 && random.next() > SAMPLED) return [];
    if (!isCandidate(text, tokens, index, known) || !isNearCue(tokens, index)) return [];
    const span = spans.find(({ start, end }) => start < token.end && token.start < end);
    if (span !== undefined && (span.start !== token.start || span.end > token.end + 1)) return [];
    featuresOf(features, text, tokens, index, known);
    const kind = span === undefined ? 0 : span.category === 'USERNAME' ? 1 : 2;
    return [{ buckets: features.buckets.slice(0, features.length), ends: [...features.ends, features.length], kind }];
  });
}

const any = readFileSync(path.join(import.meta.dirname, 'sentences/any.txt'), 'utf8')
  .split('\n')
  .filter(Boolean);
const data = process.env['DATA'] ?? path.join(import.meta.dirname, '../../../shared/data');
const shared = sharedTexts(data);
// Files of personal data have logins in them.
const rare = rareWords(sharedTexts(data, ['router', 'decisions', 'ner']));
const readings = LANGUAGES.map((language) => readingOf(language, rare));
const tree = textsOfTree();
const listed = listedWords(process.env['TESSDATA'] ?? '/usr/share/tesseract-ocr/5/tessdata');
const vocabulary = knownWords(readings, shared, tree, listed);
const words = wordsIn(vocabulary);
const { known } = modelOf({
  words,
  features: new Float32Array(),
  bias: new Float32Array(WIDTH),
  last: new Float32Array(),
});
const random = randomOf(SEED);
/** Now and then a part of the words is taken for unknown, as words of real texts will be. */
function forgetful(): (word: string) => boolean {
  if (random.next() < 0.6) return known;
  const salt = random.below(2 ** 31);
  return (word) => hashText(word, salt) % 100 < 80 && known(word);
}

const examples = readings.flatMap((reading, index) => [
  ...Array.from({ length: PER_LANGUAGE }, () =>
    sampled(
      random,
      reading,
      random.pick([...Array.from({ length: 7 }, () => reading.templates), reading.more, any, any]),
    ),
  ).flatMap((one) => examplesOf(one, forgetful())),
  ...Array.from({ length: PLACED }, () => placed(random, LANGUAGES[index] as Language, reading)).flatMap((one) =>
    examplesOf(one, forgetful()),
  ),
  ...Array.from({ length: index === 0 ? AGENTS * 3 : AGENTS / 4 }, () => agentsText(random, reading)).flatMap((one) =>
    examplesOf(one, forgetful()),
  ),
  ...reading.texts.flatMap((text) => examplesOf({ text, spans: [] }, forgetful())),
  ...reading.texts.flatMap((text) => examplesOf(nearCue(random, LANGUAGES[index] as Language, text), forgetful())),
]);
for (const text of tree) for (const example of examplesOf({ text, spans: [] }, forgetful())) examples.push(example);
const counts = [0, 1, 2].map((kind) => examples.filter((one) => one.kind === kind).length);
console.log(`${vocabulary.size} words known; to learn from: ${counts.join(', ')} (neither, logins, passwords)`);
const file = packed(trained(examples, words, random));
writeFileSync(OUT, file);
console.log(`${file.length} bytes, SHA-256 ${createHash('sha256').update(file).digest('hex')}`);
