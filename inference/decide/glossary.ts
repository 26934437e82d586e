import { ModelFault, type ModelFolder } from './manifest.ts';
import { folded, wordsOf } from './words.ts';

/**
 * English words for those of other languages, one by one: what an encoder that knows English reads.
 * inference/training/common/glossary.py does the same to the letter, and a test holds both to the same examples.
 */
export interface Glossary {
  /**
   * Texts that are said together, in English as far as their words are known; and the languages that they were in, in the
   * glossary's order.
   */
  readonly read: (texts: readonly string[]) => {
    readonly texts: readonly string[];
    readonly languages: readonly string[];
  };
}

const ENGLISH = 'en';
/** What a word counts for the languages that know it, in equal parts: whole numbers for up to eight of them. */
const SHARE = 840;
const MOST_LANGUAGES = 7;
/** Languages that write words together. */
const PARTED: ReadonlySet<string> = new Set(['de', 'nl']);
/** Letters that a form may lose at its end, and those that have to stay. */
const ENDING = 3;
const STEM = 4;
/** Letters of a word that may be of several, and how many those may be. */
const JOINED = 8;
const PARTS = 3;
const JOINTS = ['', 's', 'es', 'n', 'en'] as const;
/** How words end in those languages that say what there is nothing of. */
const WITHOUT = /(?:los(?:e[mnrs]?)?|loos|loze)$/;
/** What ends a stretch of one language; so does a line's end. */
const CLOSING: ReadonlySet<string> = new Set('.:;!?|()"\u201C\u201D\u201E\u00AB\u00BB');

/** Leaves texts as they are: that of a model which was trained without one. */
export const NO_GLOSSARY: Glossary = { read: (texts) => ({ texts, languages: [] }) };

/** Texts in the glossary's words; as they are where two would become the same that are not. */
export function readApart({ read: inWords }: Glossary, texts: readonly string[]): readonly string[] {
  const { texts: said } = inWords(texts);
  return new Set(said).size === new Set(texts).size ? said : texts;
}

/** That of a verified folder. Throws `ModelFault`. */
export function glossaryOf({ manifest: { tokenizer }, files }: Pick<ModelFolder, 'manifest' | 'files'>): Glossary {
  const name = tokenizer.type === 'huggingface' ? tokenizer.glossary : undefined;
  return name === undefined ? NO_GLOSSARY : openGlossary(files.get(name)!);
}

/** A word of letters of a text. UTF-16 offsets. */
interface Spot {
  readonly start: number;
  readonly end: number;
  readonly word: string;
}

/**
 * One entry per line: language, form and gloss with tabs between; the first entry of a form counts. English words need
 * none. Throws `ModelFault`.
 */
export function openGlossary(bytes: Uint8Array): Glossary {
  const entries = new Map<string, Map<string, string>>();
  const english = new Set<string>();
  for (const line of new TextDecoder().decode(bytes).split('\n')) {
    if (line === '') continue;
    const [language, form, gloss] = line.split('\t');
    if (!language || !form || !gloss) throw new ModelFault('a line of the glossary is not an entry');
    const forms = entries.get(language) ?? new Map<string, string>();
    entries.set(language, forms);
    if (!forms.has(form)) forms.set(form, gloss);
    for (const word of gloss.split(' ')) english.add(word);
  }
  entries.delete(ENGLISH);
  if (entries.size > MOST_LANGUAGES) throw new ModelFault(`the glossary has more than ${MOST_LANGUAGES} languages`);
  const languages = new Map([...entries].map(([name, forms]) => [name, formsOf(name, forms)]));
  return { read: (texts) => read(texts, languages, english) };
}

/** The words of one language. */
interface Forms {
  /** Of a word as it is written, or without its accents (`bare`). */
  readonly exactly: (word: string, bare: string) => string | undefined;
  /** Of a word, or of what it seems to be a form or the parts of. */
  readonly of: (word: string, isEnglish: boolean) => string | undefined;
}

function read(
  texts: readonly string[],
  languages: ReadonlyMap<string, Forms>,
  english: ReadonlySet<string>,
): ReturnType<Glossary['read']> {
  const names = [ENGLISH, ...languages.keys()];
  const split = texts.map((text) =>
    stretchesOf(text).map((spots) => ({ spots, counts: countsOf(spots, languages, english) })),
  );
  const all = split.flat();
  const whole = names.map((_, at) => sumOf(all.map(({ counts }) => counts[at]!)));
  const total = Math.max(1, sumOf(whole));
  const found = new Set<string>();
  const said = split.map((stretches, number) => {
    const text = texts[number]!;
    let made = '';
    let last = 0;
    for (const { spots, counts } of stretches) {
      const scores = counts.map((count, at) => count + Math.floor((SHARE * whole[at]!) / total));
      const name = names[scores.indexOf(Math.max(...scores))]!;
      if (sumOf(counts) > 0) found.add(name);
      const forms = languages.get(name);
      for (const { start, end, word } of forms ? spots : []) {
        const gloss = forms!.of(word, english.has(word));
        if (gloss === undefined) continue;
        made += text.slice(last, start) + gloss;
        last = end;
      }
    }
    return made + text.slice(last);
  });
  return { texts: said, languages: names.filter((name) => found.has(name)) };
}

/**
 * Words of letters in a text, grouped between punctuation or line ends; words next to a number without a space, or with
 * letters beyond the basic plane, are left out.
 */
function stretchesOf(text: string): readonly (readonly Spot[])[] {
  const stretches: Spot[][] = [[]];
  for (const { start, end, gap } of wordsOf(text)) {
    const said = text.slice(start, end);
    if (gap === 2 || CLOSING.has(said)) stretches.push([]);
    const isAtNumber =
      /\p{N}$/u.test(text.slice(Math.max(0, start - 2), start)) || /^\p{N}/u.test(text.slice(end, end + 2));
    const isCommon = !/[\ud800-\udfff]/.test(said);
    if (/^[\p{L}\p{M}]/u.test(said) && isCommon && !isAtNumber)
      stretches.at(-1)!.push({ start, end, word: folded(said) });
  }
  return stretches.filter(({ length }) => length > 0);
}

/** How much of a stretch each language knows: English, and then the others. */
function countsOf(
  spots: readonly Spot[],
  languages: ReadonlyMap<string, Forms>,
  english: ReadonlySet<string>,
): readonly number[] {
  const others = [...languages.values()];
  const counts = Array<number>(others.length + 1).fill(0);
  for (const { word } of spots) {
    const bare = plain(word);
    const known = [english.has(word), ...others.map(({ exactly }) => exactly(word, bare) !== undefined)];
    const share = SHARE / Math.max(1, known.filter(Boolean).length);
    for (const [at, isKnown] of known.entries()) if (isKnown) counts[at]! += share;
  }
  return counts;
}

function formsOf(language: string, entries: ReadonlyMap<string, string>): Forms {
  const glosses = new Map(entries);
  for (const [form, gloss] of entries) if (!glosses.has(plain(form))) glosses.set(plain(form), gloss);
  const exactly = (word: string, bare: string): string | undefined => glosses.get(word) ?? glosses.get(bare);
  const inflected = inflectionsOf(glosses);
  const compounds = PARTED.has(language) ? compoundsOf(glosses, exactly, inflected) : undefined;
  return {
    exactly,
    of: (word, isEnglish) => {
      const bare = plain(word);
      const found = exactly(word, bare);
      if (found !== undefined || isEnglish) return found;
      return compounds?.without(word) ?? inflected(bare) ?? compounds?.joined(word);
    },
  };
}

/** Finds the form that begins alike and ends otherwise: the one that differs least, of two the first by letters. */
function inflectionsOf(glosses: ReadonlyMap<string, string>): (bare: string) => string | undefined {
  const sorted = [...glosses.keys()].toSorted((a, b) => (a < b ? -1 : 1));
  return (bare) => {
    let best = 2 * ENDING + 1;
    let found: string | undefined;
    for (let lost = 0; lost <= Math.min(ENDING, bare.length - STEM); lost += 1) {
      const stem = bare.slice(0, bare.length - lost);
      for (let at = placeOf(stem, sorted); sorted[at]?.startsWith(stem) === true; at += 1) {
        const more = sorted[at]!.length - stem.length;
        if (more > ENDING || lost + more >= best) continue;
        best = lost + more;
        found = glosses.get(sorted[at]!);
      }
    }
    return found;
  };
}

/** Reads words that a language writes together. */
interface Compounds {
  /** The words that a word is made of: the longest first. */
  readonly joined: (word: string) => string | undefined;
  /** A word and the ending that says it is absent. */
  readonly without: (word: string) => string | undefined;
}

function compoundsOf(
  glosses: ReadonlyMap<string, string>,
  exactly: Forms['exactly'],
  inflected: (bare: string) => string | undefined,
): Compounds {
  const part = (word: string): string | undefined => {
    for (const joint of JOINTS) {
      const stem = word.slice(0, word.length - joint.length);
      const found = word.endsWith(joint) && stem.length >= STEM - 1 ? glosses.get(stem) : undefined;
      if (found !== undefined) return found;
    }
    return undefined;
  };

  const joined = (word: string, parts = PARTS): string | undefined => {
    if (parts < 2 || word.length < JOINED) return undefined;
    for (let size = word.length - STEM; size >= STEM; size -= 1) {
      const first = part(word.slice(0, size));
      if (first === undefined) continue;
      const rest = word.slice(size);
      const bare = plain(rest);
      const second = exactly(rest, bare) ?? inflected(bare) ?? joined(rest, parts - 1);
      if (second !== undefined) return `${first} ${second}`;
    }
    return undefined;
  };

  const without = (word: string): string | undefined => {
    const ending = WITHOUT.exec(word);
    const found = ending ? part(word.slice(0, ending.index)) : undefined;
    return found === undefined ? undefined : `without ${found}`;
  };

  return { joined, without };
}

/** Without accents, as people type. */
function plain(word: string): string {
  return word.normalize('NFD').replace(/\p{M}/gu, '').replaceAll('ł', 'l').replaceAll('ß', 'ss');
}

/** Where a text is, or would be, among others in their order. */
function placeOf(text: string, sorted: readonly string[]): number {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (sorted[middle]! < text) low = middle + 1;
    else high = middle;
  }
  return low;
}

function sumOf(numbers: readonly number[]): number {
  return numbers.reduce((sum, each) => sum + each, 0);
}
