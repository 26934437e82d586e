import {
  type DocumentKind,
  DocumentFault,
  type DocumentFile,
  type ReadDocument,
  type ReadOptions,
  type RedactedDocument,
  type RedactOptions,
  type Replacement,
  type TextUnit,
} from '#/ports/documents.ts';
import { sniff } from '../sniff/sniff.ts';
import type { Format, Tools } from '../format.ts';
import { leftOver, Search } from '../search.ts';
import { fixedSlot, replaceIn, toTextUnits, type Slot, type SlottedUnit } from '../slots.ts';
import { parseMail, type Mail, type MailFile } from './parse.ts';
import { withoutOpaque } from './opaque.ts';
import { writeMail, type WrittenPart } from './write.ts';

/**
 * Mail (.eml): what a reader is shown of its head, its texts, and the files that came with it, each as it would be by itself. A
 * file that cannot be looked into is taken out, and one that says so stands in its place.
 */
export function createMail(formatOf: MailTools['formatOf']): Format {
  const withFormats = (tools: Tools): MailTools => ({
    recognize: (picture, languages) => tools.recognize(picture, languages),
    checkTime: () => tools.checkTime(),
    onPages: (...pages) => tools.onPages(...pages),
    formatOf,
  });
  return {
    read: (file, options, tools) => read(file, options, withFormats(tools)),
    redact: (file, options, tools) => redact(file, options, withFormats(tools)),
  };
}

/** What else a mail needs: who reads the files in it. */
interface MailTools extends Tools {
  readonly formatOf: (kind: DocumentKind) => Promise<Format>;
}

/** Mails in mails. */
const MAX_DEPTH = 4;
/** Faults for which a file is removed; other faults concern the whole mail. */
const TAKEN_OUT = new Set(['unsupported', 'unreadable', 'encrypted', 'active_content']);
const OWN = 'm';
const COMMA = fixedSlot(', ');

/** Result of reading a file: its layout, or why it cannot be read. */
interface FileLayout {
  readonly layout?: string;
  readonly fault?: string;
}

interface MailLayout {
  readonly own: number;
  readonly files: readonly FileLayout[];
}

async function read(file: DocumentFile, options: ReadOptions, tools: MailTools, depth = 0): Promise<ReadDocument> {
  const parsed = await open(file, depth);
  const own = ownUnits(parsed);
  const units: TextUnit[] = toTextUnits(own).map((unit) => ({ ...unit, id: `${OWN}/${unit.id}` }));
  const hidden: TextUnit[] = [];
  const files: FileLayout[] = [];
  const recognizedPages: number[] = [];
  let [pages, images] = [1, 0];
  for (const [at, part] of parsed.files.entries()) {
    tools.checkTime();
    const found = await readFile(part, options, tools, depth);
    if ('fault' in found) {
      files.push({ fault: found.fault });
      continue;
    }
    // Its pages follow those before it: recognized text is identified by page number.
    const from = pages - (part.role === 'attached' ? 0 : 1);
    for (const unit of found.units) {
      const told = { ...unit, id: `${at}/${unit.id}`, page: from + (unit.page ?? 0) };
      (unit.visibility === 'shown' ? units : hidden).push(told);
    }
    for (const page of found.recognizedPages) recognizedPages.push(from + page);
    pages += part.role === 'attached' ? found.pages : 0;
    images += found.images;
    files.push({ layout: found.layout });
  }
  const layout: MailLayout = { own: own.length, files };
  return { kind: 'mail', pages, images, units: [...units, ...hidden], recognizedPages, layout: JSON.stringify(layout) };
}

async function redact(
  file: DocumentFile,
  options: RedactOptions,
  tools: MailTools,
  depth = 0,
): Promise<RedactedDocument> {
  const parsed = await open(file, depth);
  const own = ownUnits(parsed);
  const layout = parseLayout(options.layout, parsed, own.length);
  const byFile = Map.groupBy(options.replacements, ({ unit }) => unit.split('/')[0] ?? '');
  const replacements = within(byFile, OWN);
  const search = new Search({ ...options, replacements }, own);
  replaceIn(own, replacements);
  search.sweep(own.map(({ slots }) => slots));
  const written: WrittenPart[] = [];
  let [pages, images, downgraded] = [1, 0, false];
  for (const [at, part] of parsed.files.entries()) {
    tools.checkTime();
    const { layout: known, fault } = layout.files[at] ?? {};
    const name = parsed.names[at]?.text ?? '';
    if (known === undefined) {
      written.push(notice(name, fault ?? 'it cannot be read'));
      continue;
    }
    const { format, file: inner } = await formatFor(part, tools, depth);
    const done = await format.redact(
      inner,
      { ...options, layout: known, replacements: within(byFile, String(at)) },
      tools,
    );
    written.push({ role: part.role, name, mediaType: done.mediaType, bytes: done.bytes });
    pages += part.role === 'attached' ? done.pages : 0;
    images += done.images;
    downgraded ||= done.downgraded;
  }
  const bytes = writeMail(parsed.head, written, depth);
  const again = ownUnits(await open({ ...file, bytes }, depth));
  if (search.isIn(again.map(({ slots }) => slots.map(({ text }) => text).join('')).join('\n'))) throw leftOver();
  return { bytes, mediaType: 'message/rfc822', pages, images, downgraded };
}

interface Opened extends Mail {
  /** Names of the files, as slots. */
  readonly names: readonly Slot[];
}

async function open(file: DocumentFile, depth: number): Promise<Opened> {
  if (depth >= MAX_DEPTH) throw new DocumentFault('unsupported', 'mails are nested too deeply');
  const parsed = await parseMail(file.bytes);
  return { ...parsed, names: parsed.files.map(({ name }) => ({ text: name })) };
}

function ownUnits({ head, names, unseen, files }: Opened): readonly SlottedUnit[] {
  return [
    ...head.map(({ texts }): SlottedUnit => {
      return { slots: texts.flatMap((text, at) => (at === 0 ? [text] : [COMMA, text])), visibility: 'shown' };
    }),
    ...names.flatMap((slot, at): readonly SlottedUnit[] =>
      files[at]?.role === 'attached' && slot.text !== '' ? [{ slots: [slot], visibility: 'shown' }] : [],
    ),
    ...unseen.map((text): SlottedUnit => ({ slots: [{ text }], visibility: 'hidden' })),
  ];
}

async function readFile(
  part: MailFile,
  options: ReadOptions,
  tools: MailTools,
  depth: number,
): Promise<ReadDocument | { readonly fault: string }> {
  try {
    const { format, file } = await formatFor(part, tools, depth);
    return await format.read(file, options, tools);
  } catch (error) {
    if (part.role === 'attached' && error instanceof DocumentFault && TAKEN_OUT.has(error.kind))
      return { fault: error.message };
    throw error;
  }
}

/** By its bytes, as for a document by itself; a mail in it is one level deeper. */
async function formatFor(
  part: MailFile,
  tools: MailTools,
  depth: number,
): Promise<{ readonly format: Pick<Format, 'read' | 'redact'>; readonly file: DocumentFile }> {
  const plain = part.role === 'text' || part.bytes.length === 0;
  const { kind, mediaType } = plain ? { kind: 'text' as const, mediaType: 'text/plain' } : sniffed(part);
  const bytes = kind === 'text' && part.role === 'attached' ? opaqueGone(part.bytes) : part.bytes;
  const file = { name: part.name, bytes, mediaType };
  const quiet: MailTools = {
    formatOf: tools.formatOf,
    recognize: (picture, languages) => tools.recognize(picture, languages),
    checkTime: () => tools.checkTime(),
    onPages: () => tools.checkTime(),
  };
  const own: Pick<Format, 'read' | 'redact'> =
    kind === 'mail'
      ? {
          read: (...[one, how]) => read(one, how, quiet, depth + 1),
          redact: (...[one, how]) => redact(one, how, quiet, depth + 1),
        }
      : await tools.formatOf(kind);
  return {
    file,
    format: { read: (one, how) => own.read(one, how, quiet), redact: (one, how) => own.redact(one, how, quiet) },
  };
}

/** The encoding is unknown yet: the removed parts are ASCII in all encodings but UTF-16. */
function opaqueGone(bytes: Uint8Array): Uint8Array {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('latin1');
  return Buffer.from(withoutOpaque(text), 'latin1');
}

function sniffed(part: MailFile): ReturnType<typeof sniff> {
  return part.role === 'html' ? { kind: 'html', mediaType: 'text/html' } : sniff(part);
}

function within(byFile: ReadonlyMap<string, readonly Replacement[]>, key: string): readonly Replacement[] {
  return (byFile.get(key) ?? []).map((one) => ({ ...one, unit: one.unit.slice(key.length + 1) }));
}

function notice(name: string, fault: string): WrittenPart {
  const text = `A file was removed here because it cannot be inspected: ${fault}.\n`;
  return { role: 'attached', name: `${name || 'file'}.removed.txt`, mediaType: 'text/plain', bytes: Buffer.from(text) };
}

function parseLayout(layout: string, { files }: Mail, own: number): MailLayout {
  const foreign = (): DocumentFault => new DocumentFault('unreadable', 'the layout does not belong to this document');
  let parsed: unknown;
  try {
    parsed = JSON.parse(layout);
  } catch {
    throw foreign();
  }
  const known = parsed as Partial<MailLayout> | null;
  if (known?.own !== own || !Array.isArray(known.files) || known.files.length !== files.length) throw foreign();
  return known as MailLayout;
}
