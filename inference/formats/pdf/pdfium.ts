import { readFile } from 'node:fs/promises';
import { init, type WrappedPdfiumModule } from '@embedpdf/pdfium';
import { DocumentFault } from '#/ports/documents.ts';
import { boundInflation } from './inflation.ts';

/** Beyond this a document is refused before any of its pages is looked at. */
const MAX_PAGES = 2000;
/** Codes of `FPDF_GetLastError`. */
const NEEDS_PASSWORD = 4;
const BGRA = 4;
const RGBA_ORDER = 0x10;
const WITH_ANNOTATIONS = 0x01;
const WHITE = 0xff_ff_ff_ff;

/** Handles are addresses within the module; what they point at lives as long as its document. */
export type PageHandle = number;
export type ObjectHandle = number;

/** A page drawn: RGBA, four bytes a pixel. */
export interface Drawing {
  readonly data: Buffer;
  readonly width: number;
  readonly height: number;
}

/** The module's memory, and its strings, which its types leave out. Views are new after it grew: read them after every call. */
interface Memory {
  readonly UTF16ToString: (address: number) => string;
  readonly stringToUTF16: (text: string, address: number, bytes: number) => void;
  readonly HEAPU8: Uint8Array;
  readonly HEAPU32: Uint32Array;
  readonly HEAPF32: Float32Array;
  readonly HEAPF64: Float64Array;
}

let binary: Promise<Buffer> | undefined;

/**
 * A PDF opened by a module of its own: what breaks there has no other document to spoil. Everything in here is
 * synchronous, and may run for ever on a hostile file: it is for threads that can be ended.
 */
export class PdfiumFile {
  readonly lib: WrappedPdfiumModule;
  readonly document: number;
  readonly pageCount: number;

  private constructor(lib: WrappedPdfiumModule, document: number) {
    this.lib = lib;
    this.document = document;
    this.pageCount = lib.FPDF_GetPageCount(document);
  }

  get memory(): Memory {
    return memoryOf(this.lib);
  }

  /** Rejects with `unreadable`, `encrypted`, `too_large` or `too_many_pages`. */
  static async open(bytes: Uint8Array, maxPages = MAX_PAGES): Promise<PdfiumFile> {
    boundInflation(bytes);
    const lib = await loadLibrary();
    const address = lib.pdfium.wasmExports.malloc(bytes.length);
    memoryOf(lib).HEAPU8.set(bytes, address);
    const document = lib.FPDF_LoadMemDocument(address, bytes.length, '');
    // oxlint-disable-next-line unicorn/throw-new-error -- it asks for one
    if (!document) throw openFault(lib.FPDF_GetLastError());
    const file = new PdfiumFile(lib, document);
    if (file.pageCount < 1) throw new DocumentFault('unreadable', 'the document has no pages');
    if (file.pageCount > maxPages)
      throw new DocumentFault('too_many_pages', `the document has more than ${maxPages} pages`);
    return file;
  }

  /** Runs `use` with a page, which is closed afterwards. Throws `unreadable` if the page does not exist. */
  withPage<T>(index: number, use: (page: PageHandle) => T): T {
    const page = this.lib.FPDF_LoadPage(this.document, index);
    if (!page) throw new DocumentFault('unreadable', `page ${index + 1} of the document is damaged`);
    try {
      return use(page);
    } finally {
      this.lib.FPDF_ClosePage(page);
    }
  }

  /** Runs `use` with so many bytes, which are zero at first and freed after it. */
  withMemory<T>(bytes: number, use: (address: number) => T): T {
    const { malloc, free } = this.lib.pdfium.wasmExports;
    const address = malloc(bytes);
    this.memory.HEAPU8.fill(0, address, address + bytes);
    try {
      return use(address);
    } finally {
      free(address);
    }
  }

  /** Four numbers that a function writes as 32-bit floats; undefined when it fails. */
  floats(count: number, call: (address: number) => boolean): readonly number[] | undefined {
    return this.withMemory(count * 4, (address) =>
      call(address) ? Array.from(this.memory.HEAPF32.subarray(address >> 2, (address >> 2) + count)) : undefined,
    );
  }

  /** Draws a page over white (or over nothing) in the given size. */
  draw(page: PageHandle, width: number, height: number, background = WHITE): Drawing {
    const { lib } = this;
    const bitmap = lib.FPDFBitmap_CreateEx(width, height, BGRA, 0, 0);
    if (!bitmap) throw new DocumentFault('too_large', 'a page is too large to draw');
    try {
      lib.FPDFBitmap_FillRect(bitmap, 0, 0, width, height, background);
      lib.FPDF_RenderPageBitmap(bitmap, page, 0, 0, width, height, 0, WITH_ANNOTATIONS | RGBA_ORDER);
      const start = lib.FPDFBitmap_GetBuffer(bitmap);
      const stride = lib.FPDFBitmap_GetStride(bitmap);
      const rows = this.memory.HEAPU8.subarray(start, start + stride * height);
      return { data: Buffer.from(rows), width, height };
    } finally {
      lib.FPDFBitmap_Destroy(bitmap);
    }
  }

  /** Pages of this document as a new one, without anything that belonged to the document as a whole. */
  copyPages(): Uint8Array {
    const { lib } = this;
    const copy = lib.FPDF_CreateNewDocument();
    if (!copy || !lib.FPDF_ImportPages(copy, this.document, '', 0))
      throw new DocumentFault('unreadable', 'the pages of the document are damaged');
    const writer = lib.PDFiumExt_OpenFileWriter();
    lib.PDFiumExt_SaveAsCopy(copy, writer);
    const bytes = this.#written(writer);
    lib.FPDF_CloseDocument(copy);
    return bytes;
  }

  /** The document as it is, without encryption. */
  save(): Uint8Array {
    const writer = this.lib.PDFiumExt_OpenFileWriter();
    this.lib.EPDF_RemoveEncryption(this.document);
    this.lib.PDFiumExt_SaveAsCopy(this.document, writer);
    return this.#written(writer);
  }

  #written(writer: number): Uint8Array {
    const { lib } = this;
    const size = lib.PDFiumExt_GetFileWriterSize(writer);
    const bytes = this.withMemory(size, (address) => {
      lib.PDFiumExt_GetFileWriterData(writer, address, size);
      return Uint8Array.from(this.memory.HEAPU8.subarray(address, address + size));
    });
    lib.PDFiumExt_CloseFileWriter(writer);
    return bytes;
  }

  /** Closes the document; its memory is freed with the module, which is no longer referenced. */
  close(): void {
    this.lib.FPDF_CloseDocument(this.document);
  }
}

/** Opens a document, and closes it when `use` is done. Rejects as `PdfiumFile.open` does. */
export async function withPdf<T>(
  bytes: Uint8Array,
  use: (file: PdfiumFile) => T | Promise<T>,
  maxPages?: number,
): Promise<T> {
  const file = await PdfiumFile.open(bytes, maxPages);
  try {
    return await use(file);
  } catch (error) {
    // The module aborts when its memory is full, and traps where it is broken.
    if (error instanceof RangeError || (error instanceof Error && error.name === 'RuntimeError'))
      throw new DocumentFault('too_large', 'the document needs too much memory', { cause: error });
    throw error;
  } finally {
    closeQuietly(file);
  }
}

function closeQuietly(file: PdfiumFile): void {
  try {
    file.close();
  } catch {
    // A module that was aborted answers no more, and is dropped as a whole.
  }
}

async function loadLibrary(): Promise<WrappedPdfiumModule> {
  binary ??= readFile(new URL(import.meta.resolve('@embedpdf/pdfium/pdfium.wasm')));
  // What it prints may quote the document.
  const lib = await init({ wasmBinary: await binary, print: () => {}, printErr: () => {} });
  lib.PDFiumExt_Init();
  return withDirectCalls(lib);
}

/** Asked for each letter of a page. */
const OF_LETTERS = [
  ...['FPDFText_GetUnicode', 'FPDFText_IsGenerated', 'FPDFText_GetCharBox', 'FPDFText_GetCharOrigin'],
  ...['FPDFText_GetTextObject', 'FPDFText_GetCharAngle', 'FPDFText_GetFontSize', 'FPDFText_GetMatrix'],
  ...['FPDFText_GetFontWeight', 'FPDFText_HasUnicodeMapError'],
];

/** Calls of numbers alone go to the module itself: what the package puts around each takes longer than what it does. */
function withDirectCalls(lib: WrappedPdfiumModule): WrappedPdfiumModule {
  const exported = lib.pdfium.wasmExports as unknown as Readonly<Record<string, unknown>>;
  return Object.assign(lib, Object.fromEntries(OF_LETTERS.map((name) => [name, exported[name]])));
}

function memoryOf(lib: WrappedPdfiumModule): Memory {
  return lib.pdfium as unknown as Memory;
}

function openFault(code: number): DocumentFault {
  if (code === NEEDS_PASSWORD) return new DocumentFault('encrypted', 'the document needs a password');
  return new DocumentFault('unreadable', 'the document is damaged or is not a PDF');
}
