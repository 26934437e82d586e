import { dirname } from 'node:path';
import { createWorker, OEM, type Worker } from 'tesseract.js';
import type { Line, Picture, RecognizedText } from '../formats/format.ts';
import { languageFile } from './language-data.ts';

/** Reads text in pictures, one at a time. */
export interface Recognizer {
  recognize(picture: Picture, languages?: readonly string[]): Promise<RecognizedText>;
  close(): Promise<void>;
}

/** A recognizer that loads its data with the first picture. */
export function createRecognizer(): Recognizer {
  let worker: Promise<Worker> | undefined;
  const open = (): Promise<Worker> =>
    createWorker('eng', OEM.LSTM_ONLY, {
      langPath: dirname(languageFile('eng')),
      cacheMethod: 'none',
      gzip: true,
      errorHandler: () => {},
    });
  return {
    async recognize(picture) {
      worker ??= open();
      const { data } = await (await worker).recognize(Buffer.from(picture.png), {}, { text: false, blocks: true });
      const paragraphs = (data.blocks ?? []).flatMap((block) => block.paragraphs);
      const lines = paragraphs.flatMap((paragraph, block): readonly Line[] =>
        paragraph.lines.map((line) => ({
          block,
          box: line.bbox,
          words: line.words.map(({ text, bbox, confidence }) => ({ text, box: bbox, confidence: confidence / 100 })),
        })),
      );
      return { lines, rotation: 0, languages: ['eng'] };
    },
    async close() {
      await (await worker)?.terminate();
    },
  };
}
