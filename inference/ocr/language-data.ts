import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { DocumentFault } from '#ports/documents.ts';

/** A language's trained data, and its other codes: ISO 639-1, and that of ISO 639-2 for libraries. */
interface LanguageData {
  readonly sha256: string;
  readonly aliases: readonly string[];
}

/** By ISO 639-3 code. */
const DATA: Readonly<Record<string, LanguageData>> = {
  eng: { aliases: ['en'], sha256: '45b4cb346724ac1774f1c36f42f182b887bcdb28ebe63e6fff90ac41f3fcff91' },
  deu: { aliases: ['de', 'ger'], sha256: '306c4280d0cbed46fbff727486bd43b92730181bae80f56941a091f363bdf28b' },
  fra: { aliases: ['fr', 'fre'], sha256: 'd611139672b3752c7097e671e4a1d9209dfd37f2aeb081ef6487fba3351e9255' },
  spa: { aliases: ['es'], sha256: '40be52f97b5d4eb7460073dc1f94cd546b27150333c0bf854ed7e7132db6bceb' },
  ita: { aliases: ['it'], sha256: 'f702fcfad297ce028ede3626d1467b67939f23ff23595f9badd54681cf25a4d3' },
  nld: { aliases: ['nl', 'dut'], sha256: 'a2d904b6ddc4feb0d31ecfcd7361a554102e7aa2e278c54f4fc029e0d0815571' },
  pol: { aliases: ['pl'], sha256: 'a20fdec4ff99d8f8e84c708da3e42a4e935c26863055a0ed88aef5c66a59b91b' },
  por: { aliases: ['pt'], sha256: 'dacebc1386ddaaf8389f81094236cca0d690897cde693d48cbdaa881c86e2b4c' },
};

/** Languages that text is recognized in, ISO 639-3. // spec 2.4 */
export const LANGUAGES: readonly string[] = Object.keys(DATA);

/** ISO 639-3 codes of the languages that are named, each once. Throws `unsupported` when one is not recognized here. */
export function languageCodes(named: readonly string[]): readonly string[] {
  const codes = named.map((name) => {
    const low = name.toLowerCase();
    return LANGUAGES.find((code) => code === low || DATA[code]?.aliases.includes(low));
  });
  const known = codes.filter((code) => code !== undefined);
  if (known.length < codes.length)
    throw new DocumentFault('unsupported', `text is recognized in these languages only: ${LANGUAGES.join(', ')}`);
  return [...new Set(known)];
}

/** Where the trained data of a language is: a gzip file in a package. Throws when the package is missing. */
export function languageFile(code: string): string {
  const manifest = createRequire(import.meta.url).resolve(`@tesseract.js-data/${code}/package.json`);
  return join(dirname(manifest), '4.0.0_best_int', `${code}.traineddata.gz`);
}

/** Names the languages whose data is missing, cannot be read or is not what was published; none when all is well. */
export async function faultyLanguages(): Promise<readonly string[]> {
  const faulty: string[] = [];
  for (const [code, { sha256: expected }] of Object.entries(DATA)) {
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
