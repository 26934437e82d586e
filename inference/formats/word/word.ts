import {
  DocumentFault,
  type DocumentFile,
  type ReadDocument,
  type ReadOptions,
  type RedactedDocument,
  type RedactOptions,
} from '#/ports/documents.ts';
import type { Format, Tools } from '../format.ts';
import { openPackage, reachable, type OfficePackage, type Part } from '../ooxml/package.ts';
import { addressUnits, nameUnits, proseOf } from '../ooxml/prose.ts';
import { sweepPart, verifyPackage } from '../ooxml/verify.ts';
import { writePackage } from '../ooxml/write-package.ts';
import { Search } from '../search.ts';
import { checkLayout, inOrder, layoutOf, replaceIn, toTextUnits, type SlottedUnit } from '../slots.ts';
import { cleanDocument } from './clean.ts';
import { KEPT, SHOWN } from './kept-parts.ts';
import { signsToText } from './signs.ts';

/** Word documents (.docx, .dotx): OOXML of either variant. Comments stay, with numbers for authors; revisions are accepted. */
export const word: Format = { read, redact };

async function read(file: DocumentFile, _: ReadOptions, tools: Tools): Promise<ReadDocument> {
  const document = open(file.bytes, tools);
  const units = unitsOf(document);
  return {
    kind: 'word',
    pages: 1,
    images: reachable(document.main, () => true).filter(({ type }) => type.startsWith('image/')).length,
    units: toTextUnits(units),
    recognizedPages: [],
    layout: layoutOf(units),
  };
}

async function redact(file: DocumentFile, options: RedactOptions, tools: Tools): Promise<RedactedDocument> {
  const checkTime = (): void => tools.checkTime();
  const document = open(file.bytes, tools);
  const units = unitsOf(document);
  checkLayout(options.layout, units);
  const search = new Search(options, units);
  replaceIn(units, options.replacements);
  cleanDocument(document);
  for (const part of reachable(document.main, () => true)) {
    checkTime();
    if (part.xml) sweepPart(part.xml, search);
  }
  const { bytes, images } = await writePackage(document, KEPT, search, checkTime);
  verifyPackage(openPackage(bytes, checkTime), search, checkTime);
  return { bytes, mediaType: file.mediaType, pages: 1, images, downgraded: false };
}

function open(bytes: Uint8Array, tools: Tools): OfficePackage {
  const document = openPackage(bytes, () => tools.checkTime());
  if (!SHOWN.test(document.main.type)) throw new DocumentFault('unreadable', 'the document has no text part');
  if (reachable(document.main, () => true).some(({ relations }) => relations.some(({ type }) => type === 'aFChunk')))
    throw new DocumentFault(
      'unsupported',
      'the document embeds another one in a format that is not supported: save it again in its application',
    );
  signsToText(document);
  return document;
}

/** Units of all parts: those that are referred to first, in that order, then any other that is in the file. */
function unitsOf({ main, parts }: OfficePackage): readonly SlottedUnit[] {
  const referred = reachable(main, () => true);
  const ordered = new Set<Part>([...referred, ...parts]);
  return inOrder(
    [...ordered].flatMap((part) => {
      const prose = part.xml && proseOf(part.xml, SHOWN.test(part.type) ? 'shown' : 'hidden');
      return [...(prose ? [...prose.units, ...nameUnits(prose)] : []), ...addressUnits(part)];
    }),
  );
}
