import { book } from './book.ts';
import { mail } from './mail.ts';
import { openDocument } from './open-document.ts';
import { LANGUAGES, type Language } from './people.ts';
import { pdfLetter } from './pdf.ts';
import { scannedPdf, scannedPicture } from './pictures.ts';
import { plainPdf } from './plain-pdf.ts';
import { htmlPage, json, markdown, plainText, separatedValues } from './plain.ts';
import { Planting, type CorpusDocument } from './planting.ts';
import { richText } from './rtf.ts';
import { slides } from './slides.ts';
import { wordDocument } from './word.ts';
import { workbookOf } from './workbook.ts';

/** Who makes documents of a kind. */
const KINDS = {
  pdf: pdfLetter,
  word: wordDocument,
  workbook: workbookOf,
  html: htmlPage,
  text: plainText,
  values: separatedValues,
  markdown,
  picture: scannedPicture,
  scan: scannedPdf,
  'plain-pdf': plainPdf,
  json,
  slides,
  opendocument: openDocument,
  rtf: richText,
  book,
  mail,
} satisfies Readonly<Record<string, (planting: Planting) => CorpusDocument | Promise<CorpusDocument>>>;

export type Kind = keyof typeof KINDS;
const NAMES = Object.keys(KINDS) as readonly Kind[];

/** The kind of a document of a number: they take turns. */
export function kindOf(number: number): Kind {
  return NAMES[number % NAMES.length] ?? 'pdf';
}

/** The document of a number: always the same. Kinds and languages take turns, and each kind meets each language. */
export async function documentOf(number: number): Promise<CorpusDocument> {
  return KINDS[kindOf(number)](new Planting(languageOf(number), number));
}

function languageOf(number: number): Language {
  const language = LANGUAGES[(Math.floor(number / NAMES.length) + (number % NAMES.length)) % LANGUAGES.length];
  if (!language) throw new Error(`no language for ${number}`);
  return language;
}
