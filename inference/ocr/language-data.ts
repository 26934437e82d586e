import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

/** SHA-256 of each file of trained data, by ISO 639-3 code; `osd` tells scripts and orientation. */
const SHA256: Readonly<Record<string, string>> = {
  eng: '45b4cb346724ac1774f1c36f42f182b887bcdb28ebe63e6fff90ac41f3fcff91',
  deu: '306c4280d0cbed46fbff727486bd43b92730181bae80f56941a091f363bdf28b',
  fra: 'd611139672b3752c7097e671e4a1d9209dfd37f2aeb081ef6487fba3351e9255',
  spa: '40be52f97b5d4eb7460073dc1f94cd546b27150333c0bf854ed7e7132db6bceb',
  ita: 'f702fcfad297ce028ede3626d1467b67939f23ff23595f9badd54681cf25a4d3',
  nld: 'a2d904b6ddc4feb0d31ecfcd7361a554102e7aa2e278c54f4fc029e0d0815571',
  pol: 'a20fdec4ff99d8f8e84c708da3e42a4e935c26863055a0ed88aef5c66a59b91b',
  por: 'dacebc1386ddaaf8389f81094236cca0d690897cde693d48cbdaa881c86e2b4c',
  osd: 'be028ddaac8b03402b92cbf526075c068ec39a9f1dbbcd7536dddb9b22209934',
};

/** Languages that text is recognized in, ISO 639-3. // spec 2.4 */
export const LANGUAGES: readonly string[] = Object.keys(SHA256).filter((code) => code !== 'osd');

/** Where the trained data of a language (or `osd`) is: a gzip file in a package. Throws when the package is missing. */
export function languageFile(code: string): string {
  const manifest = createRequire(import.meta.url).resolve(`@tesseract.js-data/${code}/package.json`);
  return join(dirname(manifest), '4.0.0_best_int', `${code}.traineddata.gz`);
}

/** Names the languages whose data is missing, cannot be read or is not what was published; none when all is well. */
export async function faultyLanguages(): Promise<readonly string[]> {
  const faulty: string[] = [];
  for (const [code, expected] of Object.entries(SHA256)) {
    const found = await sha256(code).catch(() => undefined);
    if (found !== expected) faulty.push(code);
  }
  return faulty;
}

async function sha256(code: string): Promise<string> {
  const hash = createHash('sha256');
  for await (const piece of createReadStream(languageFile(code))) hash.update(piece as Buffer);
  return hash.digest('hex');
}
