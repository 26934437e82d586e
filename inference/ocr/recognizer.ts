import { DocumentFault } from '#/ports/documents.ts';
import type { Line, Picture, RecognizedText } from '../page/page.ts';
import { splitColumns } from './columns.ts';
import { densest } from './ink.ts';
import { languageCodes } from './language-data.ts';
import { sheetOf, turnedPart, viewOf, type Sheet, type View } from './page-view.ts';
import { openTesseract, type Grey, type Tesseract } from './tesseract.ts';
import { languageOf, languagesOf, textOf } from './written-language.ts';

/** What the pages of one document told so far: the next is likely like them. */
export interface Reading {
  /** ISO 639-3. */
  languages?: readonly string[];
  /** Quarters that pages were turned by to be upright. */
  quarters: number;
  /** Called between two passes over a page: may throw to end it. */
  readonly checkTime: () => void;
}

/** Reads text in pictures, one at a time. */
export interface Recognizer {
  /** Rejects with `unsupported` for an unsupported language, and `unreadable` for data that is not an image. */
  recognize(picture: Picture, languages?: readonly string[], reading?: Reading): Promise<RecognizedText>;
}

/** Nothing is known of a document yet. */
export function newReading(checkTime: () => void): Reading {
  return { quarters: 0, checkTime };
}

/** Reads whichever language well enough to tell it by, and faster than any other. */
const SCOUT = ['fra'];
/** Where nothing tells the language, there is little text: reading it in several costs little. */
const UNTOLD = ['eng', 'deu', 'fra'];
/** Pixels of the stretch that is read to tell the language: some five lines. */
const SCOUT_HEIGHT = 115;
const SCOUT_MARGIN = 12;
/** Part of a page's shorter side, and pixels, of the square that tells how it is turned. */
const TURN_PART = 0.35;
const TURN_SIDE = 420;
/** Text that was read less surely than this may lie on its side or its head. */
const DOUBT = 0.7;
/** How much more must be read when it is turned. */
const TURN_GAIN = 1.5;

/** A recognizer that loads its engine with the first picture, and a new one after a failure. */
export function createRecognizer(open: () => Promise<Tesseract> = openTesseract): Recognizer {
  let engine: Promise<Tesseract> | undefined;
  return {
    async recognize(picture, languages, reading = newReading(() => {})) {
      const given = languages && languages.length > 0 ? languageCodes(languages) : undefined;
      const viewAt = viewsOf(await sheetOf(picture));
      engine ??= open();
      const current = engine;
      const read: Read = async (image, codes, layout) => {
        reading.checkTime();
        try {
          return (await current).read(image, codes, layout);
        } catch (cause) {
          engine = undefined;
          throw new DocumentFault('unreadable', 'the text in an image could not be recognized', { cause });
        }
      };
      return given ? readIn(viewAt, given, reading, read) : findOut(viewAt, reading, read);
    },
  };
}

type Read = (...asked: Parameters<Tesseract['read']>) => Promise<readonly Line[]>;

/** A page turned by quarters; each way it is prepared once. */
type ViewAt = (quarters: number) => Promise<View>;

function viewsOf(sheet: Sheet): ViewAt {
  const views = new Map<number, Promise<View>>();
  return (quarters) => {
    const view = views.get(quarters) ?? viewOf(sheet, quarters);
    views.set(quarters, view);
    return view;
  };
}

/** Reads a page in given languages; what cannot be read as it lies is turned. */
async function readIn(
  viewAt: ViewAt,
  languages: readonly string[],
  reading: Reading,
  read: Read,
): Promise<RecognizedText> {
  let view = await viewAt(reading.quarters);
  if (!view.ink) return { lines: [], rotation: 0, languages };
  let lines = await read(view, languages);
  if (isDoubtful(lines)) {
    const quarters = await uprightBy(view, reading, read);
    if (quarters !== reading.quarters) {
      reading.quarters = quarters;
      view = await viewAt(quarters);
      lines = await read(view, languages);
    }
  }
  return { lines: view.toPicture(splitColumns(lines)), rotation: view.rotation, languages };
}

/** Reads a page in the languages it is found to be written in. */
async function findOut(viewAt: ViewAt, reading: Reading, read: Read): Promise<RecognizedText> {
  if (!reading.languages) {
    const languages = await scout(viewAt, reading, read);
    if (languages) reading.languages = languages;
  }
  const used = reading.languages ?? UNTOLD;
  const found = await readIn(viewAt, used, reading, read);
  const better = languagesOf(found.lines, used);
  if (!better) return found;
  reading.languages = better;
  return better.every((language) => used.includes(language)) ? found : readIn(viewAt, better, reading, read);
}

/** Tells the language of a page by a few lines of it, and how it is turned where they cannot be read. */
async function scout(viewAt: ViewAt, reading: Reading, read: Read): Promise<readonly string[] | undefined> {
  const look = async (): Promise<readonly Line[]> => {
    const view = await viewAt(reading.quarters);
    if (!view.ink) return [];
    const lines = await read(stretchOf(view), SCOUT, 'block');
    const quarters = isDoubtful(lines) ? await uprightBy(view, reading, read) : reading.quarters;
    if (quarters === reading.quarters) return lines;
    reading.quarters = quarters;
    return look();
  };
  const language = languageOf(textOf(await look()));
  return language === undefined ? undefined : [language];
}

/** As many rows as hold a few lines, where a page has most text. */
function stretchOf(view: View): Grey {
  if (!view.ink) return view;
  const high = SCOUT_HEIGHT / view.inkScale;
  const { y0 } = densest(view.ink, view.ink.width, Math.round(high));
  // Setting rows level moved them a little.
  const top = Math.max(0, Math.floor(y0 * view.inkScale) - SCOUT_MARGIN);
  const end = Math.min(view.height, top + SCOUT_HEIGHT + 2 * SCOUT_MARGIN);
  return { data: view.data.subarray(top * view.width, end * view.width), width: view.width, height: end - top };
}

/** Quarters to turn a page by: in which most is read surely in a part of it. */
async function uprightBy(view: View, reading: Reading, read: Read): Promise<number> {
  if (!view.ink) return reading.quarters;
  const side = Math.max(TURN_SIDE, Math.round(Math.min(view.width, view.height) * TURN_PART));
  const inInk = Math.round(side / view.inkScale);
  const { x0, y0 } = densest(view.ink, inInk, inInk);
  const left = Math.max(0, Math.min(Math.floor(x0 * view.inkScale), view.width - side));
  const top = Math.max(0, Math.min(Math.floor(y0 * view.inkScale), view.height - side));
  const box = { x0: left, y0: top, x1: Math.min(view.width, left + side), y1: Math.min(view.height, top + side) };
  let most = 0;
  let best = 0;
  for (const more of [0, 1, 3, 2]) {
    const lines = await read(await turnedPart(view, box, more), SCOUT, 'block');
    const letters = sureLetters(lines) * (more === 0 ? TURN_GAIN : 1);
    if (letters > most) [most, best] = [letters, more];
  }
  return (reading.quarters + best) % 4;
}

/** Letters of words that were read surely, in lines that lie. */
function sureLetters(lines: readonly Line[]): number {
  const words = lines.filter((line) => !isStanding(line)).flatMap((line) => line.words);
  return words
    .filter(({ text, confidence }) => confidence > DOUBT && /\p{L}{3}/u.test(text))
    .reduce((sum, { text }) => sum + text.length, 0);
}

/** Whether so little was read surely that the page may lie otherwise. */
function isDoubtful(lines: readonly Line[]): boolean {
  const letters = lines.flatMap((line) => line.words).reduce((sum, { text }) => sum + text.length, 0);
  return sureLetters(lines) < letters * 0.4 || letters === 0;
}

/** The engine reads some lines that stand on their end, too, but not in their order. */
function isStanding({ box, words }: Line): boolean {
  const letters = words.reduce((sum, { text }) => sum + text.length, 0);
  return letters >= 3 && box.y1 - box.y0 > 1.5 * (box.x1 - box.x0);
}
