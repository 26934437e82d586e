import sharp from 'sharp';
import type { DocumentFile } from '#/ports/documents.ts';
import { documentOf } from '../documents/corpus/corpus.ts';

/** A document to begin with, and what is personal in it. */
export interface DocumentSeed {
  readonly file: DocumentFile;
  readonly secrets: readonly string[];
  /** How often it is changed, beside others: large ones take longer. */
  readonly weight: number;
}

/** Documents of every kind that the corpus has. */
const FROM_CORPUS = 22;
const PICTURES = ['png', 'jpeg', 'tiff', 'webp', 'gif'] as const;

/** Documents of every format that is read, small ones first. */
export async function documentSeeds(): Promise<readonly DocumentSeed[]> {
  const seeds = [plainPdf(), ...(await Promise.all(PICTURES.map(picture)))];
  for (let number = 0; number < FROM_CORPUS; number += 1) {
    const { name, mediaType, bytes, planted, known } = await documentOf(number);
    const people = [...planted, { name: known.person.name, value: known.person.iban }];
    const secrets = people.flatMap((one) => [one.name, one.value]).filter((secret) => secret.length > 5);
    seeds.push(seedOf({ name, mediaType, bytes }, secrets));
  }
  return seeds.toSorted((one, other) => other.weight - one.weight);
}

export function seedOf(file: DocumentFile, secrets: readonly string[]): DocumentSeed {
  return { file, secrets, weight: 1 / (4_000 + file.bytes.length) };
}

async function picture(format: (typeof PICTURES)[number]): Promise<DocumentSeed> {
  const secret = `Anneliese ${format} Wunderlich`;
  const bytes = await sharp({ create: { width: 40, height: 30, channels: 3, background: 'red' } })
    .withExif({ IFD0: { Artist: secret } })
    .toFormat(format)
    .toBuffer();
  return seedOf({ name: `dots.${format}`, mediaType: `image/${format}`, bytes }, [secret]);
}

/** A PDF in which nothing is compressed, so that each change is one of its structure. */
function plainPdf(): DocumentSeed {
  const secrets = ['Anneliese Wunderlich', 'Ottokar Brinkmeier', 'DE89370400440532013000', 'Rosalinde Achterberg'];
  const [who, author, iban, note] = secrets;
  const content = `BT /F1 12 Tf 20 150 Td (Dear ${who}, your account is) Tj 0 -20 Td (${iban}.) Tj ET q 40 0 0 40 20 20 cm /I Do Q /X Do`;
  const stream = (head: string, body: string): string =>
    `<<${head}/Length ${body.length}>>\nstream\n${body}\nendstream`;
  const objects = [
    '<</Type/Catalog/Pages 2 0 R/AcroForm<</Fields[9 0 R]/DA(/F1 9 Tf)>>/Metadata 10 0 R/Outlines 11 0 R>>',
    '<</Type/Pages/Kids[3 0 R]/Count 1>>',
    '<</Type/Page/Parent 2 0 R/MediaBox[0 0 300 200]/Contents 4 0 R/Annots[8 0 R 9 0 R]/Resources<</Font<</F1 5 0 R>>/XObject<</I 6 0 R/X 7 0 R>>>>>>',
    stream('', content),
    '<</Type/Font/Subtype/Type1/BaseFont/Helvetica/Encoding/WinAnsiEncoding>>',
    stream('/Type/XObject/Subtype/Image/Width 2/Height 2/BitsPerComponent 8/ColorSpace/DeviceGray', '\x01a\x7fb'),
    stream(
      '/Type/XObject/Subtype/Form/BBox[0 0 99 99]/Resources<</Font<</F1 5 0 R>>>>',
      `BT /F1 8 Tf 9 9 Td (${note}) Tj ET`,
    ),
    `<</Type/Annot/Subtype/Text/Rect[9 9 20 20]/Contents(${note})/T(${author})>>`,
    `<</Type/Annot/Subtype/Widget/FT/Tx/T(name)/V(${who})/DA(/F1 9 Tf)/Rect[100 20 250 40]>>`,
    stream('/Type/Metadata/Subtype/XML', `<x:xmpmeta xmlns:x="adobe:ns:meta/"><a>${author}</a></x:xmpmeta>`),
    '<</Type/Outlines/First 12 0 R/Last 12 0 R/Count 1>>',
    `<</Title(For ${who})/Parent 11 0 R/Dest[3 0 R/Fit]>>`,
    `<</Author(${author})/Title(${note})>>`,
  ];
  const written = objects.map((object, at) => `${at + 1} 0 obj\n${object}\nendobj\n`).join('');
  const bytes = Buffer.from(`%PDF-1.7\n${written}trailer<</Root 1 0 R/Info 13 0 R/Size 14>>\n%%EOF\n`, 'latin1');
  return seedOf({ name: 'small.pdf', mediaType: 'application/pdf', bytes }, secrets);
}
