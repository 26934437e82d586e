import type { CustomTerm, ResolvedPolicy } from '#/config/snapshot.ts';
import { documentError } from '#/errors/document-error.ts';
import { GatewayError } from '#/errors/gateway-error.ts';
import {
  DocumentFault,
  engineOff,
  type DocumentEngine,
  type DocumentFile,
  type PageImage,
  type ReadDocument,
  type Replacement,
} from '#/ports/documents.ts';
import { replaceFile, type Attachment } from '#/wire/request/attachment.ts';
import type { Media, MediaPlace } from '#/wire/hub/codec.ts';
import type { Edit } from '#/wire/document/document.ts';
import { detectionUntil, type Detection } from '../detection.ts';
import { type Match, mergeActions, type Action } from '../match.ts';
import { detectOrRefuse, leftOut, lookedFor } from '../detect-leaves.ts';
import { replaced, searchDocument, tagDocument } from './document-text.ts';
import { confusion, type Rewrite } from '../rewrite.ts';
import { tagLiterals } from '../tags.ts';
import { imagesRule } from '../unreadable.ts';

/** Who looks into the files of one call. */
export interface AttachmentReader {
  /** Undefined: documents are not processed in this installation. */
  readonly engine: DocumentEngine | undefined;
  /** For one piece of work: aborted once the client no longer waits, or on a timeout. */
  signal(): AbortSignal;
}

/** What the files of a request are looked through for, and where it is written down. */
export interface AttachScope {
  readonly policy: ResolvedPolicy['dlp'];
  readonly remove: readonly CustomTerm[];
  readonly rewrite: Rewrite;
  readonly detection: Detection;
  readonly reader: AttachmentReader;
  /** The provider keeps the conversation: no tag may be added to it. */
  readonly keepsTags: boolean;
}

/** What a file is by its bytes. `text`: it is read as it is. */
export type FileKind = 'pdf' | 'image' | 'text' | 'other';

/** Of a file whose text is taken out: larger ones are for `/v1/ocr`. */
const MOST_FILE_BYTES = 32 * 1024 * 1024;
/** Of the text that is put into a prompt, in code units. */
const MOST_TEXT = 4 * 1024 * 1024;

/**
 * A file of a prompt. `read` and `tag` belong to inspection, in this order; then it can be asked for in the forms it may
 * travel in. Every verb throws `GatewayError`; nothing is done twice.
 */
export class AttachedFile {
  readonly media: Media;
  readonly place: MediaPlace;
  readonly kind: FileKind;
  readonly #attachment: Attachment;
  readonly #scope: AttachScope;
  /** Its text as it may be shown; set by `tag` or the first `text`. */
  #text: string | undefined;
  #decoded: DocumentFile | undefined;
  #matches: readonly Match[] = [];
  #document: ReadDocument | undefined;
  #fault: GatewayError | undefined;
  #found: readonly (readonly Action[])[] = [];
  #replacements: readonly Replacement[] = [];
  #originals: readonly string[] = [];
  #redacted: DocumentFile | undefined;

  constructor(media: Media, place: MediaPlace, attachment: Attachment, kind: FileKind, scope: AttachScope) {
    this.media = media;
    this.place = place;
    this.kind = kind;
    this.#attachment = attachment;
    this.#scope = scope;
  }

  /** Kinds of data that policy wants found and that were not searched for. */
  missed: readonly string[] = [];

  /** How many leaves of the request come before it. */
  get leaves(): number {
    return this.place.leaves;
  }

  get mediaType(): string {
    return this.kind === 'pdf' ? 'application/pdf' : this.#attachment.mediaType;
  }

  /** Its name as written. */
  get nameNode(): Attachment['nameNode'] {
    return this.#attachment.nameNode;
  }

  /** Personal data is taken out of it, whatever the mode. */
  get anonymized(): boolean {
    const { policy } = this.#scope;
    return policy.documents === 'anonymize' || (this.media.kind === 'image' && imagesRule(policy) === 'inspect');
  }

  /** Its bytes, or pictures of it, may leave: nothing protects them, or nothing is left in them. */
  get mayLeave(): boolean {
    if (this.kind === 'text' || this.anonymized) return true;
    return this.#scope.policy.mode === 'allow_log';
  }

  /** Whether its bytes or images were searched for personal data. */
  get scanned(): boolean {
    return this.kind === 'text' || this.anonymized;
  }

  /** Its text is all that a reader sees of it. Of a file that was read. */
  get isAllText(): boolean {
    return this.kind === 'text' || (this.#document?.images === 0 && this.#document.recognizedPages.length === 0);
  }

  /** Reads it as far as policy requires before anything is sent. `before`: matches of the prompt before it. */
  async read(before: readonly CustomTerm[]): Promise<void> {
    if (this.kind === 'text') {
      this.#guardSize();
      this.#text = fitting(Buffer.from(this.#file.bytes).toString('utf8'));
      this.#matches = await this.#detect(this.#text);
    } else if (this.anonymized) await this.#readUnits(before);
    else if (this.#scope.policy.mode !== 'allow_log') await this.#tryToRead();
  }

  /** Numbers the tags of the matches, between those of the texts before and after it; edits of a text file. */
  tag(): readonly Edit[] {
    const { rewrite } = this.#scope;
    if (this.kind === 'text') return this.#tagText();
    if (this.anonymized && this.#document) {
      const { units } = this.#document;
      const found = tagDocument(units, this.#found, rewrite.tags);
      this.#replacements = found.replacements;
      this.#originals = found.originals.filter((text) => tagLiterals(text).next().done === true);
      const { mode, documents } = this.#scope.policy;
      for (const [category, times] of Object.entries(found.findings)) {
        rewrite.count(category, times);
        if (mode === 'block' && documents !== 'anonymize') rewrite.block(category, this.place.part.start);
      }
      this.#text = shownText(this.#document, found.replacements);
    } else if (this.#text !== undefined) this.#text = rewrite.text(this.#text, this.#matches);
    return [];
  }

  /** The file as it may travel; undefined where it does so as it came. */
  async file(): Promise<DocumentFile | undefined> {
    if (this.kind === 'text' || !this.anonymized) return undefined;
    if (this.#redacted) return this.#redacted;
    const layout = this.#document?.layout ?? '';
    const options = { layout, replacements: this.#replacements, originals: this.#originals };
    const { bytes, mediaType } = await this.#ask((engine, signal) => engine.redact(this.#file, options, signal));
    return (this.#redacted = { name: this.#file.name, mediaType, bytes });
  }

  /** A picture as it may travel. */
  async image(): Promise<{ readonly mediaType: string; readonly data: string }> {
    const { mediaType, bytes } = (await this.file()) ?? this.#file;
    return { mediaType, data: Buffer.from(bytes).toString('base64') };
  }

  /** Its pages as pictures. `most`: as many may still be sent. */
  async pages(most: number): Promise<readonly PageImage[]> {
    const file = (await this.file()) ?? this.#file;
    if (most <= 0) throw tooManyPages();
    try {
      const pages = await this.#ask((engine, signal) => engine.render(file, { maxPages: most }, signal), 'no_renderer');
      if (pages.length > most) throw tooManyPages();
      return pages;
    } catch (thrown) {
      const { cause } = thrown as Error;
      throw cause instanceof DocumentFault && cause.kind === 'too_many_pages' ? tooManyPages(cause) : thrown;
    }
  }

  /** Its text, inspected like any other. */
  async text(): Promise<string> {
    if (this.#fault) throw this.#fault;
    if (this.#text !== undefined) return this.#text;
    const { rewrite, keepsTags } = this.#scope;
    const text = await this.#extract();
    const inspected = rewrite.text(text, await this.#detect(text));
    if (keepsTags && rewrite.tags.size > 0) throw confusion();
    return (this.#text = inspected);
  }

  get #file(): DocumentFile {
    const { mediaType, nameNode } = this.#attachment;
    const name = nameNode?.value.replace(/^.*[/\\]/s, '') ?? '';
    return (this.#decoded ??= { name, mediaType, bytes: this.#attachment.decode() });
  }

  #tagText(): readonly Edit[] {
    const before = this.#text ?? '';
    this.#text = this.#scope.rewrite.text(before, this.#matches, this.anonymized);
    return this.#text === before ? [] : replaceFile(this.place, this.#file.mediaType, Buffer.from(this.#text));
  }

  /**
   * A fault is reported to callers that need the text: the file may travel in another form, or be refused for another
   * reason.
   */
  async #tryToRead(): Promise<void> {
    try {
      this.#text = await this.#extract();
    } catch (thrown) {
      if (!(thrown instanceof GatewayError)) throw thrown;
      this.#fault = thrown;
      return;
    }
    this.#matches = await this.#detect(this.#text);
  }

  async #extract(): Promise<string> {
    this.#guardSize();
    this.#document = await this.#ask((engine, signal) => engine.read(this.#file, { recognize: 'auto' }, signal));
    return shownText(this.#document, []);
  }

  async #readUnits(before: readonly CustomTerm[]): Promise<void> {
    const { policy, remove, detection } = this.#scope;
    this.#guardSize();
    this.#document = await this.#ask((engine, signal) => engine.read(this.#file, { recognize: 'auto' }, signal));
    const { units, recognizedPages } = this.#document;
    const terms = [...policy.customTerms, ...remove, ...before];
    const categories = lookedFor(policy, detection);
    const scope = { categories, terms, recognizedPages };
    this.missed = leftOut(
      units.map(({ text }) => text),
      policy,
      categories,
    );
    const found = await this.#search((within) => searchDocument(units, scope, within));
    this.#found = units.map(({ text }, index) => {
      const literals = Array.from(tagLiterals(text), (literal): Action => ({ ...literal, act: 'tag' }));
      return mergeActions([...(found[index] ?? []), ...literals]);
    });
  }

  async #detect(text: string): Promise<readonly Match[]> {
    const { policy, rewrite, detection } = this.#scope;
    await this.#search((within) => Promise.resolve(rewrite.lookAhead([{ text }], within)));
    const kinds = lookedFor(policy, detection);
    if (!detection.needsWorker(text.length, kinds)) {
      this.missed = leftOut([text], policy, kinds);
      return detection.findNow(text, kinds);
    }
    const { matches, missed } = await this.#search((within) =>
      detectOrRefuse([text], policy, within, 'An attached document'),
    );
    this.missed = missed;
    return matches[0] ?? [];
  }

  /** The search ends at the answer timeout. */
  async #search<T>(work: (detection: Detection) => Promise<T>): Promise<T> {
    const { reader, detection } = this.#scope;
    try {
      return await work(detectionUntil(reader.signal(), detection));
    } catch (thrown) {
      throw thrown instanceof Error && thrown.name === 'TimeoutError' ? tooLate(thrown) : thrown;
    }
  }

  #guardSize(): void {
    if (this.#file.bytes.length <= MOST_FILE_BYTES) return;
    throw documentError(
      new DocumentFault('too_large', 'the document is too large to extract its text: split it, or send it to /v1/ocr'),
    );
  }

  /** `whenAbsent`: what it means that the engine cannot be reached. */
  async #ask<T>(
    work: (engine: DocumentEngine, signal: AbortSignal) => Promise<T>,
    whenAbsent: 'unavailable' | 'no_renderer' = 'unavailable',
  ): Promise<T> {
    const { reader } = this.#scope;
    const { engine } = reader;
    try {
      if (!engine) throw engineOff();
      return await work(engine, reader.signal());
    } catch (thrown) {
      if (thrown instanceof Error && thrown.name === 'TimeoutError') throw tooLate(thrown);
      if (!(thrown instanceof DocumentFault)) throw thrown;
      const isLost = (thrown.kind === 'unavailable' || thrown.kind === 'absent') && whenAbsent === 'no_renderer';
      throw documentError(isLost ? new DocumentFault('no_renderer', NO_RENDERER, { cause: thrown }) : thrown);
    }
  }
}

const NO_RENDERER =
  'this model gets a PDF as images of its pages, and no engine that renders them is running: ' +
  'choose a model that takes files, or try again later';

/** What a reader sees, page by page. */
function shownText({ units }: ReadDocument, replacements: readonly Replacement[]): string {
  const byUnit = Map.groupBy(replacements, ({ unit }) => unit);
  const shown = units.filter(({ visibility }) => visibility === 'shown');
  return fitting(shown.map((unit) => replaced(unit.text, byUnit.get(unit.id) ?? [])).join('\n'));
}

/** A text that fits a prompt. Throws `document_too_large_to_scan`. // spec 7.1 */
function fitting(text: string): string {
  if (text.length <= MOST_TEXT) return text;
  throw documentError(new DocumentFault('too_large', 'the document has too much text for a prompt: split it'));
}

function tooLate(cause: Error): GatewayError {
  const message = 'An attached document was not read within the answer timeout.';
  return new GatewayError('upstream_timeout', message, {}, { cause });
}

function tooManyPages(cause?: DocumentFault): GatewayError {
  const message = 'the attached documents have more than 48 pages in total: split them, or send them to /v1/ocr';
  return documentError(new DocumentFault('too_many_pages', message, { cause }));
}
