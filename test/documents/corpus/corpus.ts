import { LANGUAGES, type Language } from './people.ts';
import { pdfLetter } from './pdf.ts';
import { scannedPdf, scannedPicture } from './pictures.ts';
import { htmlPage, markdown, plainText, separatedValues } from './plain.ts';
import { Planting, type CorpusDocument } from './planting.ts';
import { wordDocument } from './word.ts';
import { workbookOf } from './workbook.ts';

/** Who makes documents of a kind. */
const KINDS: readonly ((planting: Planting) => CorpusDocument | Promise<CorpusDocument>)[] = [
  pdfLetter,
  wordDocument,
  workbookOf,
  htmlPage,
  plainText,
  separatedValues,
  markdown,
  scannedPicture,
  scannedPdf,
];

/** The document of a number: always the same. Kinds and languages take turns, and meet once in a round. */
export async function documentOf(number: number): Promise<CorpusDocument> {
  const kind = KINDS[number % KINDS.length];
  if (!kind) throw new Error(`no kind for ${number}`);
  return kind(new Planting(languageOf(number), number));
}

function languageOf(number: number): Language {
  const language = LANGUAGES[Math.floor(number / KINDS.length + (number % KINDS.length)) % LANGUAGES.length];
  if (!language) throw new Error(`no language for ${number}`);
  return language;
}
