import {
  DocumentFault,
  type DocumentFile,
  type ReadDocument,
  type ReadOptions,
  type RedactedDocument,
  type RedactOptions,
} from '#/ports/documents.ts';
import type { Format, Tools } from '../format.ts';
import { openPackage, reachable, rootOf, type OfficePackage, type Part } from '../ooxml/package.ts';
import { addressUnits, nameUnits, proseOf } from '../ooxml/prose.ts';
import { sweepPart, verifyPackage } from '../ooxml/verify.ts';
import { writePackage } from '../ooxml/write-package.ts';
import { childOf, elementsIn } from '../ooxml/xml.ts';
import { Search } from '../search.ts';
import { checkLayout, inOrder, layoutOf, replaceIn, toTextUnits, type SlottedUnit } from '../slots.ts';
import { cleanPresentation, isDropped, isHiddenSlide } from './clean.ts';
import { KEPT, SHOWN } from './kept-parts.ts';

/** Slides (.pptx, .ppsx, .potx). Notes stay; comments, animations, sounds, films and embedded files are left out. */
export const presentation: Format = { read, redact };

const MAIN = /presentationml\.(?:presentation|slideshow|template)\.main\+xml$/;
/** What a slide has in common with others. */
const SHARED = /^(?:slide|slideLayout|slideMaster|notesMaster)$/;

async function read(file: DocumentFile, _: ReadOptions, tools: Tools): Promise<ReadDocument> {
  const opened = open(file.bytes, tools);
  const units = unitsOf(opened);
  return {
    kind: 'presentation',
    pages: opened.slides.length,
    images: reachable(opened.package.main, () => true).filter(({ type }) => type.startsWith('image/')).length,
    units: toTextUnits(units),
    recognizedPages: [],
    layout: layoutOf(units),
  };
}

async function redact(file: DocumentFile, options: RedactOptions, tools: Tools): Promise<RedactedDocument> {
  const checkTime = (): void => tools.checkTime();
  const opened = open(file.bytes, tools);
  const units = unitsOf(opened);
  checkLayout(options.layout, units);
  const search = new Search(options, units);
  replaceIn(units, options.replacements);
  cleanPresentation(opened.package);
  for (const part of reachable(opened.package.main, () => true)) {
    checkTime();
    if (part.xml) sweepPart(part.xml, search);
  }
  const { bytes, images } = await writePackage(opened.package, KEPT, search, checkTime);
  verifyPackage(openPackage(bytes, checkTime), search, checkTime);
  return { bytes, mediaType: file.mediaType, pages: opened.slides.length, images, downgraded: false };
}

interface Opened {
  readonly package: OfficePackage;
  /** In the order in which they are shown. */
  readonly slides: readonly Part[];
}

function open(bytes: Uint8Array, tools: Tools): Opened {
  const opened = openPackage(bytes, () => tools.checkTime());
  const { main } = opened;
  if (!MAIN.test(main.type)) throw new DocumentFault('unreadable', 'the document has no presentation');
  const list = childOf(rootOf(main), 'sldIdLst');
  const slides = (list ? elementsIn(list) : []).flatMap(({ attributes }) => {
    const ids = attributes.filter(({ name }) => name.includes(':')).map(({ text }) => text);
    return main.relations.find(({ id, target }) => target && ids.includes(id))?.target ?? [];
  });
  if (slides.length === 0 || new Set(slides).size !== slides.length)
    throw new DocumentFault('unreadable', 'the document has no slides, or lists one twice');
  return { package: opened, slides };
}

/** Units slide by slide, each with its charts and notes; then what slides have in common, and all else in the file. */
function unitsOf({ package: { main, parts }, slides }: Opened): readonly SlottedUnit[] {
  const units: SlottedUnit[] = [];
  const done = new Set<Part>();
  const take = (part: Part, shown: boolean, page?: number): void => {
    if (done.has(part)) return;
    done.add(part);
    const prose = part.xml && proseOf(part.xml, shown && SHOWN.test(part.type) ? 'shown' : 'hidden', isDropped);
    const found = [...(prose ? [...prose.units, ...nameUnits(prose)] : []), ...addressUnits(part)];
    for (const unit of found) units.push(page === undefined ? unit : { ...unit, page });
  };
  for (const [page, slide] of slides.entries()) {
    const shown = !isHiddenSlide(slide.xml);
    for (const part of reachable(slide, ({ type }) => !SHARED.test(type))) take(part, shown, page);
  }
  for (const part of [...reachable(main, () => true), ...parts]) take(part, false);
  return inOrder(units);
}
