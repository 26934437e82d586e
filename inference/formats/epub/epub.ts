import type { DocumentFile, ReadDocument, ReadOptions, RedactedDocument, RedactOptions } from '#/ports/documents.ts';
import type { Format, Tools } from '../format.ts';
import { isInTree, judgedText, sweepTree, unitsIn, type Said } from '../markup.ts';
import { leftOver, Search } from '../search.ts';
import { checkLayout, inOrder, layoutOf, replaceIn, toTextUnits, type SlottedUnit } from '../slots.ts';
import { openBook, type Book } from './package.ts';
import { CHAPTER, LISTS } from './vocabulary.ts';
import { writeBook } from './write.ts';

/** Books (.epub). Rewrites chapters and images; drops style sheets, scripts, fonts, sounds and metadata of owners. */
export const epub: Format = { read, redact };

async function read(file: DocumentFile, _: ReadOptions, tools: Tools): Promise<ReadDocument> {
  const { units, book } = open(file.bytes, tools);
  return {
    kind: 'epub',
    pages: 1,
    images: book.pictures.size,
    units: toTextUnits(units),
    recognizedPages: [],
    layout: layoutOf(units),
  };
}

async function redact(file: DocumentFile, options: RedactOptions, tools: Tools): Promise<RedactedDocument> {
  const checkTime = (): void => tools.checkTime();
  const { units, book, title } = open(file.bytes, tools);
  checkLayout(options.layout, units);
  const search = new Search(options, units);
  replaceIn(units, options.replacements);
  search.sweep([[title]]);
  const sweep = (): void => {
    const said = chaptersOf(book);
    search.sweep(said.flatMap(({ units: own }) => own.map(({ slots }) => slots)));
    // All at once: a mark in one chapter is what links of others lead to.
    search.sweepIdentifiers(said.flatMap(({ settings }) => settings));
  };
  sweep();
  for (const { tree } of book.chapters) sweepTree(judgedText(tree, CHAPTER, 'shown'), search);
  const { bytes, images } = await writeBook({ ...book, title: title.text }, search, checkTime);
  const again = openBook(bytes, checkTime);
  for (const said of [...chaptersOf(again), ...again.lists.map((tree) => judgedText(tree, LISTS, 'hidden'))])
    if (isInTree(said, search)) throw leftOver();
  return { bytes, mediaType: file.mediaType, pages: 1, images, downgraded: false };
}

interface Opened {
  readonly book: Book;
  readonly units: readonly SlottedUnit[];
  readonly title: { text: string };
}

function open(bytes: Uint8Array, tools: Tools): Opened {
  const book = openBook(bytes, () => tools.checkTime());
  const title = { text: book.title };
  const lists = book.lists.map((tree) => judgedText(tree, LISTS, 'hidden'));
  const heading: SlottedUnit = { slots: [title], visibility: 'shown' };
  return { book, title, units: inOrder([heading, ...[...chaptersOf(book), ...lists].flatMap(unitsIn)]) };
}

function chaptersOf({ chapters }: Book): readonly Said[] {
  return chapters.map(({ tree }) => judgedText(tree, CHAPTER, 'shown'));
}
