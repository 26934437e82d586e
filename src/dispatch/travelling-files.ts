import type { AttachedFile } from '#/inspect/attachments/attached-file.ts';
import { placed, protection } from '#/inspect/refusals.ts';
import { replaceFile, replacePart, type ShownPart } from '#/wire/request/attachment.ts';
import { takesDocument as converseTakes } from '#/wire/converse/media.ts';
import type { Edit, WireDocument } from '#/wire/document/document.ts';
import { pathTo } from '#/wire/document/json-path.ts';
import type { Target, Instead } from '#/call/target.ts';

/** Pages of all documents of one request that are sent as pictures. // spec 4.3.5 */
const MOST_PAGES = 48;

/** How the files of a request travel to one target. */
export interface TravellingFiles {
  readonly edits: readonly Edit[];
  /** Losses of the files. */
  readonly losses: readonly string[];
  /** Kinds of content that leave without having been looked into. */
  readonly unscanned: readonly string[];
  /** Stand-ins for files, for bounds on tokens. */
  readonly instead: readonly Instead[];
}

/**
 * The files of a request in the form that a target takes: as they are, PDF as pictures of its pages, or as their text.
 * Content that was not inspected leaves only if policy allows it. Throws `GatewayError`, or `BadRequestShape`
 * (`replacePart`) for files that the target cannot take. `nameOf`: the name of a file after inspection. // spec 4.3.5,
 * 7.1
 */
export async function travellingFiles(
  document: WireDocument,
  files: readonly AttachedFile[],
  target: Target,
  nameOf: (file: AttachedFile) => string | undefined,
): Promise<TravellingFiles> {
  const edits: Edit[] = [];
  const [losses, unscanned] = [new Set<string>(), new Set<string>()];
  const instead: Instead[] = [];
  let pages = MOST_PAGES;
  const show = (file: AttachedFile, parts: readonly ShownPart[]): void => {
    edits.push(replacePart(document, file.place, parts));
    const images = parts.filter(({ type }) => type === 'image').length;
    const textBytes = parts.reduce((sum, part) => sum + (part.type === 'text' ? Buffer.byteLength(part.text) : 0), 0);
    instead.push({ media: file.media, fileLength: 0, images, textBytes });
  };
  const send = async (file: AttachedFile): Promise<void> => {
    const form = formOf(file, target);
    if (form !== 'text' && !file.scanned) unscanned.add(file.kind === 'image' ? 'image' : 'file');
    if (form === 'file') {
      const replaced = await file.file();
      if (!replaced) return;
      edits.push(...replaceFile(file.place, replaced.mediaType, replaced.bytes));
      instead.push(asFile(file, replaced.bytes.length));
    } else if (form === 'image') show(file, [{ type: 'image', ...(await file.image()) }]);
    else if (form === 'pages') {
      const drawn = await file.pages(pages);
      pages -= drawn.length;
      losses.add('document.as_images');
      show(file, [{ type: 'text', text: `${nameOf(file) ?? 'document'}:` }, ...drawn.map(toPart)]);
    } else {
      if (file.kind !== 'text') losses.add('document.as_text');
      show(file, [{ type: 'text', text: `${nameOf(file) ?? 'document'}:\n\n${await file.text()}` }]);
    }
  };
  for (const file of files) {
    await send(file).catch((thrown: unknown) => {
      throw placed(thrown, pathTo(document.root, file.place.part.start));
    });
  }
  return { edits, losses: [...losses], unscanned: [...unscanned], instead };
}

/** A picture costs what a picture does, a file may cost its length. */
function asFile({ media }: AttachedFile, bytes: number): Instead {
  if (media.kind === 'image') return { media, fileLength: 0, images: 1, textBytes: 0 };
  return { media, fileLength: Math.ceil(bytes / 3) * 4, images: 0, textBytes: 0 };
}

type Form = 'file' | 'image' | 'pages' | 'text';

/**
 * Unchanged if the target accepts that; else PDF as images for a target with vision, and anything else as text. If
 * policy forbids uninspected bytes, a text file goes as its text to a target that accepts files, and an image only as
 * its recognized text, to a target without vision.
 */
function formOf(file: AttachedFile, target: Target): Form {
  const { vision } = target.provider.traits(target.model);
  if (file.media.kind === 'image') return 'file';
  const native = takesFile(file, target);
  if (file.kind === 'image' && (native || vision)) return leaving(file, native ? 'file' : 'image');
  if (native && (file.mayLeave || !file.isAllText)) return leaving(file, 'file');
  if (!native && file.kind === 'pdf' && vision) return leaving(file, 'pages');
  return 'text';
}

function leaving(file: AttachedFile, form: Form): Form {
  if (file.mayLeave) return form;
  throw protection(
    'this model would get an attached document as a file or as images, which are not inspected when ' +
      'dlp.documents is Off: choose a model that gets its text, or set dlp.documents: Anonymize',
  );
}

/** Which files a family has a place for, where the model takes files at all. */
function takesFile({ mediaType }: AttachedFile, { provider, model, family }: Target): boolean {
  if (!provider.traits(model).documents) return false;
  if (family === 'converse') return converseTakes(mediaType);
  return family === 'chat' || family === 'responses' || mediaType === 'application/pdf';
}

function toPart({ mediaType, data }: { readonly mediaType: string; readonly data: string }): ShownPart {
  return { type: 'image', mediaType, data };
}
