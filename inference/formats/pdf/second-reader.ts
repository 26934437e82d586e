import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { getDocument, VerbosityLevel } from 'pdfjs-dist/legacy/build/pdf.mjs';

const PACKAGE = dirname(fileURLToPath(import.meta.resolve('pdfjs-dist/package.json')));

/**
 * The text of each page as another reader than the one that wrote it finds it; letters that one of them misses, the other
 * may see. Rejects when it cannot read the document.
 */
export async function readAgain(bytes: Uint8Array, checkTime: () => void): Promise<readonly string[]> {
  const task = getDocument({
    data: Uint8Array.from(bytes),
    verbosity: VerbosityLevel.ERRORS,
    cMapUrl: `${join(PACKAGE, 'cmaps')}/`,
    standardFontDataUrl: `${join(PACKAGE, 'standard_fonts')}/`,
    useSystemFonts: false,
    disableFontFace: true,
    stopAtErrors: false,
  });
  try {
    const document = await task.promise;
    const texts: string[] = [];
    for (let number = 1; number <= document.numPages; number++) {
      checkTime();
      const page = await document.getPage(number);
      const { items } = await page.getTextContent();
      texts.push(items.map((item) => ('str' in item ? item.str + (item.hasEOL ? '\n' : '') : '')).join(''));
      page.cleanup();
    }
    return texts;
  } finally {
    await task.destroy();
  }
}
