import type { DocumentFile, RedactedDocument } from '#/ports/documents.ts';
import { createRecognizer } from '../../../ocr/recognizer.ts';
import type { Tools } from '../../format.ts';
import { pdf } from '../pdf.ts';

const recognizer = createRecognizer();
/** Pictures that were recognized so far. */
export const recognitions = { count: 0 };
export const tools: Tools = {
  recognize: (image, languages) => {
    recognitions.count++;
    return recognizer.recognize(image, languages);
  },
  checkTime: () => {},
  onPages: () => {},
};

export const fileOf = (bytes: Uint8Array): DocumentFile => ({ name: 'a.pdf', mediaType: 'application/pdf', bytes });

/** Reads, replaces each of the names wherever it stands in what is shown, and redacts. */
export async function anonymize(bytes: Uint8Array, names: readonly string[]): Promise<RedactedDocument> {
  const { units, layout } = await pdf.read(fileOf(bytes), { recognize: 'auto' }, tools);
  const shown = units.filter(({ visibility }) => visibility === 'shown');
  const replacements = shown.flatMap(({ id, text }) =>
    names.flatMap((name, index) =>
      [...text.matchAll(new RegExp(name.replace(/[.]/g, '\\.'), 'g'))].map((match) => ({
        ...{ unit: id, start: match.index, end: match.index + name.length },
        tag: `«PERSON_${index + 1}»`,
      })),
    ),
  );
  return pdf.redact(fileOf(bytes), { layout, replacements, originals: names }, tools);
}

export async function textsOf(bytes: Uint8Array): Promise<readonly string[]> {
  const { units } = await pdf.read(fileOf(bytes), { recognize: 'never' }, tools);
  return units.map(({ text }) => text);
}

export const bare = (text: string): string => text.replace(/\s+/g, '').toLowerCase();
