import { createRequire } from 'node:module';
import type { Box, Line } from '../page/page.ts';
import { netsOf, type Nets } from './language-data.ts';

/** Grey pixels, a byte each, row by row. */
export interface Grey {
  readonly data: Buffer;
  readonly width: number;
  readonly height: number;
}

/**
 * The engine that reads letters, in this thread: a call blocks until it is done. After a call that threw it is broken and
 * must be replaced.
 */
export interface Tesseract {
  /**
   * Reads an image in ISO 639-3 languages, the most likely first: as a page, with columns, tables and blocks
   * separated, or as one block of lines.
   */
  read(image: Grey, languages: readonly string[], layout?: 'page' | 'block'): readonly Line[];
}

/** The used part of the library, which has no types. */
interface Module {
  readonly FS: { writeFile(path: string, data: Uint8Array): void; unlink(path: string): void };
  readonly TessBaseAPI: new () => Api;
  destroy(api: Api): void;
}

interface Api {
  Init(path: null, languages: string, mode: number): number;
  SetVariable(name: string, value: string): boolean;
  SetImageFile(orientation: number, radians: number): number;
  Recognize(monitor: null): number;
  GetJSONText(): string;
  Clear(): void;
  End(): void;
}

interface Found {
  readonly blocks?: readonly { readonly paragraphs?: readonly { readonly lines?: readonly FoundLine[] }[] }[];
}

interface FoundLine {
  readonly bbox: Box;
  readonly rowAttributes?: { readonly rowHeight?: number };
  readonly words?: readonly { readonly text: string; readonly bbox: Box; readonly confidence: number }[];
}

const NEURAL_NETS_ONLY = 1;
/** Sets of languages kept ready: each takes some ten megabytes, and a tenth of a second to prepare. */
const MOST_READY = 3;
const INPUT = '/input';
/** The library's numbers for ways to take a picture apart. */
const LAYOUTS = { page: '3', block: '6' };

/** Starts the engine. Languages are loaded when they are asked for, as `nets` gives them. */
export async function openTesseract(nets: (code: string) => Nets = netsOf): Promise<Tesseract> {
  const require = createRequire(import.meta.url);
  // The other builds of the library are for browsers; relaxed SIMD gained nothing where it was measured.
  const open = require('tesseract.js-core/tesseract-core-simd-lstm') as (options: object) => Promise<Module>;
  const quiet = (): void => {};
  const module = await open({ TesseractProgress: quiet, print: quiet, printErr: quiet });
  const ready = new Map<string, Api>();
  const apiFor = (languages: readonly string[]): Api => {
    const key = languages.join('+');
    const api = ready.get(key) ?? load(module, languages, nets);
    ready.delete(key);
    ready.set(key, api);
    for (const [oldest, old] of ready) {
      if (ready.size <= MOST_READY) break;
      ready.delete(oldest);
      old.End();
      module.destroy(old);
    }
    return api;
  };
  return {
    read(image, languages, layout = 'page') {
      const api = apiFor(languages);
      module.FS.writeFile(INPUT, greyFile(image));
      if (api.SetImageFile(1, 0) !== 0) throw new Error('the image was not accepted');
      api.SetVariable('tessedit_pageseg_mode', LAYOUTS[layout]);
      if (api.Recognize(null) !== 0) throw new Error('the image was not read');
      const found = JSON.parse(api.GetJSONText()) as Found;
      // Nothing of this picture, neither its pixels nor its words, is there when the next one is read.
      api.Clear();
      module.FS.unlink(INPUT);
      return linesOf(found);
    },
  };
}

function load(module: Module, languages: readonly string[], nets: (code: string) => Nets): Api {
  const files = languages.map((code) => `./${code}.traineddata`);
  for (const [index, file] of files.entries()) module.FS.writeFile(file, nets(languages[index] ?? '').bytes);
  const api = new module.TessBaseAPI();
  if (api.Init(null, languages.join('+'), NEURAL_NETS_ONLY) !== 0) throw new Error('the languages were not loaded');
  for (const file of files) module.FS.unlink(file);
  return api;
}

/** The simplest format that the engine reads, and the only one it is ever given. */
function greyFile({ data, width, height }: Grey): Uint8Array {
  return Buffer.concat([Buffer.from(`P5\n${width} ${height}\n255\n`, 'latin1'), data]);
}

/** Each paragraph is a block. */
function linesOf({ blocks = [] }: Found): readonly Line[] {
  const paragraphs = blocks.flatMap(({ paragraphs: inBlock = [] }) => inBlock);
  return paragraphs.flatMap(({ lines = [] }, block) =>
    lines.flatMap(({ bbox, rowAttributes, words = [] }): readonly Line[] => {
      const size = rowAttributes?.rowHeight || bbox.y1 - bbox.y0;
      const found = words
        .filter(({ text }) => text.trim() !== '')
        .map(({ text, bbox: box, confidence }) => ({ text, box, confidence: confidence / 100, size }));
      return found.length === 0 ? [] : [{ block, box: bbox, words: found }];
    }),
  );
}
