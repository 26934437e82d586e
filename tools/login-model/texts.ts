import { execFileSync } from 'node:child_process';
import { globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { gunzipSync } from 'node:zlib';
import { cueOf } from '#/inspect/detectors/login-tokens.ts';
import { marked } from '../../test/harness/marked-text.ts';
import type { Random } from './random.ts';
import { technical } from './technical.ts';
import { code, login, password, SYSTEMS, type Vocabulary } from './values.ts';

export const LANGUAGES = ['en', 'de', 'fr', 'es', 'it', 'nl', 'pl', 'pt'] as const;
export type Language = (typeof LANGUAGES)[number];

const OWN = path.join(import.meta.dirname, '../../inference/training/data');

/** Surnames that people of each language have. */
const SURNAMES = new Map(
  readFileSync(path.join(import.meta.dirname, 'sentences/names.txt'), 'utf8')
    .split('\n')
    .filter(Boolean)
    .map((line) => {
      const [language = '', ...names] = line.split(' ');
      return [language, names.map((name) => name.replace('-', ''))];
    }),
);

/** What training reads of a language. */
export interface Reading {
  readonly vocabulary: Vocabulary;
  /** Ordinary texts, in which logins and passwords are rare. */
  readonly texts: readonly string[];
  readonly templates: readonly string[];
  /** Forms of words, rare ones too. */
  readonly glossary: readonly string[];
  /** Words with a hyphen. */
  readonly hyphenated: readonly string[];
  /** The sentences that the frames were written for, and sentences without a login. */
  readonly more: readonly string[];
  /** Words that texts have once or twice, of any language: as unknown to the model as those of texts to come. */
  readonly rare: readonly string[];
  /** Nouns and names, as they stand in the middle of a sentence. */
  readonly capitalized: readonly string[];
}

/** Words, names, texts and templates of a language, out of this tree. */
export function readingOf(language: Language, rare: readonly string[]): Reading {
  const named = linesOf(`names.${language}.jsonl`).map((line) => (JSON.parse(line) as { text: string }).text);
  const people = named.flatMap((text) => [...text.matchAll(/\[\[PER:([^\]]+)\]\]/g)].map(([, name]) => name as string));
  const parts = people.map((name) =>
    name.split(' ').filter((part) => /^\p{Lu}\p{Ll}{2,}(?:-\p{Lu}\p{Ll}+)?$/u.test(part)),
  );
  const texts = [
    ...linesOf(`prompts.${language}.jsonl`).flatMap((line) =>
      stringsOf((JSON.parse(line) as { state: unknown }).state),
    ),
    ...linesOf(`decisions.${language}.jsonl`).flatMap((line) =>
      stringsOf((JSON.parse(line) as { state: unknown }).state),
    ),
    ...named.map((text) => text.replace(/\[\[[A-Z]+:([^\]]+)\]\]/g, '$1')),
  ];
  const counts = new Map<string, number>();
  for (const text of texts)
    for (const [word] of text.matchAll(/(?<![\p{L}\d])\p{Ll}{3,15}(?![\p{L}\d])/gu))
      counts.set(word, (counts.get(word) ?? 0) + 1);
  const own = SURNAMES.get(language) ?? [];
  return {
    vocabulary: {
      words: [...counts].filter(([, count]) => count > 2).map(([word]) => word),
      given: parts.filter((name) => name.length > 0).map(([first]) => first as string),
      // Mostly those of the language, and some of every other one.
      surnames: [
        ...parts.filter((name) => name.length > 1).map((name) => name.at(-1) as string),
        ...own,
        ...own,
        ...own,
        ...[...SURNAMES.values()].flat(),
      ],
    },
    texts,
    rare,
    capitalized: [...new Set(texts.flatMap((text) => text.match(/(?<=[\p{L},] )\p{Lu}\p{Ll}{2,14}(?= )/gu) ?? []))],
    glossary: glossaryOf(language),
    hyphenated: [
      ...new Set(
        texts.flatMap(
          (text) => text.match(/(?<![\p{L}\d-])\p{L}{1,14}-\p{Ll}{2,14}(?:-\p{Ll}{2,14})?(?![\p{L}\d-])/gu) ?? [],
        ),
      ),
    ],
    more: moreOf(language),
    templates: readFileSync(path.join(import.meta.dirname, 'sentences', `${language}.txt`), 'utf8')
      .split('\n')
      .filter(Boolean),
  };
}

const EVALUATED = path.join(import.meta.dirname, '../../test/eval/logins');

function moreOf(language: Language): readonly string[] {
  return ['', 'plain/'].flatMap((folder) =>
    readFileSync(path.join(EVALUATED, `${folder}tuned.${language}.txt`), 'utf8')
      .split('\n')
      .filter(Boolean)
      .map((line) =>
        line
          .replace(/‹USERNAME:\d+›/g, '{L}')
          .replace(/‹USERNAME:[^›]*›/g, '{L}')
          .replace(/‹SECRET:[\d]+›/g, '{N}')
          .replace(/‹SECRET:[^› ]*›/g, '{P}'),
      ),
  );
}

/** Words that are no logins: those of the glossaries and of ordinary texts, lower case. */
export function knownWords(
  readings: readonly Reading[],
  shared: readonly string[],
  tree: readonly string[],
  listed: readonly string[],
): ReadonlySet<string> {
  const counts = new Map<string, number>();
  for (const text of shared)
    for (const [word] of text.matchAll(/(?<![\p{L}\d])\p{Ll}{3,18}(?![\p{L}\d])/gu))
      counts.set(word, (counts.get(word) ?? 0) + 1);
  const words = new Set([
    ...readings.flatMap(({ vocabulary }) => vocabulary.words),
    ...[...counts].filter(([, count]) => count > 2).map(([word]) => word),
  ]);
  for (const word of listed) words.add(word);
  for (const { glossary } of readings) for (const word of glossary) words.add(word);
  for (const text of tree)
    for (const [word] of text.matchAll(/(?<![\p{L}\d])\p{Ll}{3,18}(?![\p{L}\d])/gu)) words.add(word);
  for (const [word] of readFileSync(path.join(import.meta.dirname, 'sentences/words.txt'), 'utf8').matchAll(/\S+/g))
    words.add(word);
  return words;
}

const TESSERACT = ['eng', 'deu', 'fra', 'spa', 'ita', 'nld', 'pol', 'por'];

/** Words of small letters that Tesseract's data of languages (Apache-2.0) list. `folder`: where those data are. */
export function listedWords(folder: string): readonly string[] {
  const work = mkdtempSync(path.join(tmpdir(), 'words-'));
  try {
    return TESSERACT.flatMap((language) => {
      const own = path.join(work, language);
      execFileSync('combine_tessdata', ['-u', path.join(folder, `${language}.traineddata`), `${own}.`], {
        stdio: 'ignore',
      });
      const parts = [`${own}.lstm-unicharset`, `${own}.lstm-word-dawg`, `${own}.words`];
      execFileSync('dawg2wordlist', parts, { stdio: 'ignore' });
      return readFileSync(`${own}.words`, 'utf8')
        .split('\n')
        .filter((word) => /^\p{Ll}{4,14}$/u.test(word));
    });
  } finally {
    rmSync(work, { recursive: true });
  }
}

/** Words of small letters that ordinary texts have once or twice. */
export function rareWords(texts: readonly string[]): readonly string[] {
  const counts = new Map<string, number>();
  for (const text of texts)
    for (const [word] of text.matchAll(/(?<![\p{L}\d_.@=/-])\p{Ll}{4,18}(?![\p{L}\d_@=/-])/gu))
      counts.set(word, (counts.get(word) ?? 0) + 1);
  return [...counts].filter(([, count]) => count < 3).map(([word]) => word);
}

/** Texts of the shared data, in several languages. */
export function sharedTexts(
  data: string,
  folders: readonly string[] = ['router', 'decisions', 'ner', 'pii'],
): readonly string[] {
  const files = folders.flatMap((folder) => globSync(path.join(data, folder, '*.jsonl.gz')));
  return files
    .filter((file) => !/[.]dev[.]/.test(file))
    .flatMap((file) => gunzipSync(readFileSync(file)).toString().split('\n').filter(Boolean))
    .flatMap((line) => stringsOf(JSON.parse(line)))
    .filter((text) => text.length > 12);
}

function glossaryOf(language: Language): readonly string[] {
  return linesOf(`glossary.${language}.txt`).map((line) => (line.split(' ')[0] as string).toLowerCase());
}

function linesOf(file: string): readonly string[] {
  return readFileSync(path.join(OWN, file), 'utf8').split('\n').filter(Boolean);
}

function stringsOf(value: unknown): readonly string[] {
  if (typeof value === 'string') return [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(stringsOf) : [];
}

/** A text and what in it is a login or a password. */
export type Labelled = ReturnType<typeof marked>;

function unaccented(text: string): string {
  return text.replaceAll('ł', 'l').replaceAll('ß', 'ss').normalize('NFD').replace(/\p{M}/gu, '');
}

/** One of each group of alternatives, `(a|b|)`. */
function chosen(random: Random, template: string): string {
  let text = template;
  for (let last = ''; last !== text;) {
    last = text;
    text = text.replace(/\(([^()]*)\)/g, (_, all: string) => random.pick(all.split('|')));
  }
  return text.replace(/ {2,}/g, ' ').replace(/ ?⏎ ?/g, '\n').trim();
}

const QUOTES = [
  ['"', '"'],
  ["'", "'"],
  ['`', '`'],
  ['„', '“'],
  ['“', '”'],
  ['« ', ' »'],
  ['«', '»'],
  ['**', '**'],
  ['<', '>'],
  ['(', ')'],
  ['[', ']'],
] as const;

/** A sentence of a template with values, marked as `‹USERNAME:…›`. */
function filled(random: Random, template: string, reading: Reading): string {
  const { vocabulary, texts } = reading;
  const sample = disturbed(random, chosen(random, template), vocabulary.words);
  const isLower = random.next() < 0.25;
  const isPlain = random.next() < 0.15;
  const quotes = random.next() < 0.15 ? random.pick(QUOTES) : ['', ''];
  const parts = sample.split(/(\{[A-Z]\})/);
  let text = '';
  for (const part of parts) {
    if (part === '{L}') text += `${quotes[0]}‹USERNAME:${login(random, vocabulary)}›${quotes[1]}`;
    else if (part === '{P}') text += `${quotes[0]}‹SECRET:${password(random, vocabulary)}›${quotes[1]}`;
    else if (part === '{N}') text += `‹SECRET:${code(random)}›`;
    else text += /^\{[A-Z]\}$/.test(part) ? slot(random, part, reading) : isPlain ? unaccented(part) : part;
  }
  if (isLower) text = text.replace(/(?:^|›)[^‹]*/g, (part) => part.toLowerCase());
  if (random.next() < 0.2) text = text.replace(/[.!]$/, '');
  return random.next() < 0.5 ? around(random, text, texts) : text;
}

/** With a word less, more or other here and there: a sentence of no frame. */
function disturbed(random: Random, sample: string, words: readonly string[]): string {
  if (random.next() < 0.5) return sample;
  return sample
    .split(' ')
    .flatMap((word) => {
      const draw = random.next();
      if (draw > 0.24 || /[{}()|]/.test(word)) return [word];
      if (draw < 0.06 && cueOf(word.toLowerCase()) === undefined) return [];
      if (draw < 0.12 && cueOf(word.toLowerCase()) === undefined) return [random.pick(words)];
      return draw < 0.18 ? [word, random.pick(words)] : [word];
    })
    .join(' ');
}

function around(random: Random, text: string, texts: readonly string[]): string {
  const other =
    random
      .pick(texts)
      .split(/(?<=[.?!])\s|\n/)
      .find((sentence) => sentence.length > 10 && sentence.length < 120) ?? 'OK.';
  const join = random.pick([' ', ' ', '\n', '\n\n']);
  return random.next() < 0.5 ? `${other}${join}${text}` : `${text}${/[.?!]$/.test(text) ? '' : '.'}${join}${other}`;
}

/** A word of small letters that few texts have, and no login: misspelled, put together, or in other letters. */
export function unusual(random: Random, { vocabulary: { words }, glossary, hyphenated, rare }: Reading): string {
  const word = (): string => random.pick(random.next() < 0.5 ? words : glossary);
  const one = word();
  const at = 1 + random.below(Math.max(1, one.length - 1));
  return random.weighted<() => string>([
    [3, () => one.slice(0, at) + one.slice(at + 1)],
    [2, () => one.slice(0, at) + one.slice(at - 1)],
    [2, () => one.slice(0, at - 1) + one.slice(at, at + 1) + one.slice(at - 1, at) + one.slice(at + 1)],
    [4, () => one + word()],
    [2, () => random.pick(['sub', 're', 'un', 'auto', 'multi', 'pre', 'co', 'non', 'meta', 'mono', 'inter']) + one],
    [2, () => one + random.pick(['ed', 'ing', 'er', 'ers', 's', 'en', 'able', 'less', 'ista', 'mente', 'owy', 'ung'])],
    [2, () => `${word()}-${word()}`],
    [2, () => random.pick(hyphenated)],
    [24, () => random.pick(rare)],
    [2, () => random.letters(2 + random.below(3))],
    [2, () => unaccented(one)],
    [3, () => word()],
  ])();
}

function slot(random: Random, part: string, reading: Reading): string {
  const { vocabulary, capitalized, hyphenated, glossary } = reading;
  const { words, given, surnames } = vocabulary;
  const name = (): string => random.pick(given);
  switch (part) {
    case '{W}':
      return random.pick(random.next() < 0.5 ? words : glossary);
    case '{U}':
      return unusual(random, reading);
    case '{A}':
      return random.next() < 0.5
        ? random.pick(capitalized)
        : `${random.pick(words).replace(/^./u, (letter) => letter.toUpperCase())}${random.pick(['', '', '!'])}`;
    case '{H}':
      return random.pick(hyphenated);
    case '{F}':
      return random.next() < 0.2 ? `\`${technical(random)}\`` : technical(random);
    case '{X}':
      return `${random.pick(words)}${random.pick(['_', '_', '-', '.'])}${random.pick([...words.slice(0, 400), 'at', 'id', 'by', 'count', 'date', 'total'])}`;
    case '{Y}':
      return random.pick([
        'user_id',
        'username',
        'user',
        'login',
        'password',
        'account',
        'account_id',
        'user_name',
        'pin',
        'credentials',
        'session',
      ]);
    case '{G}':
      return name();
    case '{C}':
      return random.pick([name(), random.pick(SYSTEMS), `${name()} ${random.pick(surnames)}`]);
    case '{S}':
      return random.pick(SYSTEMS);
    case '{D}':
      return String(random.below(1000));
    case '{B}':
      return random.digits(4 + random.below(3));
    case '{T}':
      return technical(random);
    case '{M}':
      return `${1 + random.below(28)}.${1 + random.below(12)}.`;
    default:
      throw new Error(`no slot ${part}`);
  }
}

/** A sentence of a template, or two. */
export function sampled(random: Random, reading: Reading, templates: readonly string[]): Labelled {
  const first = filled(random, random.pick(templates), reading);
  if (random.next() < 0.75) return marked(first);
  return marked(`${first}${random.pick([' ', '\n'])}${filled(random, random.pick(templates), reading)}`);
}

const CUES: Readonly<Record<Language, string>> = {
  en: 'login user users username account password passwords PIN code logged access credentials session',
  de: 'Login Benutzer Benutzername Konto Account Passwort Kennwort PIN Code anmelden angemeldet Zugang Nutzer Kennung',
  fr: 'login utilisateur identifiant compte connexion connecter code PIN accès utilisateurs session identifiants',
  es: 'login usuario usuarios cuenta contraseña clave código PIN acceso sesión entrar acceder',
  it: 'login utente utenti account password codice PIN accesso accedere entrare credenziali',
  nl: 'login gebruiker gebruikers gebruikersnaam account wachtwoord code pincode inloggen toegang ingelogd',
  pl: 'login użytkownik użytkownika konto konta hasło hasła kod PIN zalogować dostęp identyfikator logowania',
  pt: 'login utilizador usuário conta senha palavra-passe código PIN acesso entrar sessão utilizadores',
};

/** An ordinary sentence with a word about logins in it, which announces nothing. */
export function nearCue(random: Random, language: Language, text: string): Labelled {
  const words = text.split(' ');
  const cues = CUES[language].split(' ');
  for (let count = 1 + (words.length >> 4); count > 0; count -= 1)
    words[random.below(words.length)] = random.pick(cues);
  return { text: words.join(' '), spans: [] };
}
