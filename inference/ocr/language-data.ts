import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { DocumentFault } from '#/ports/documents.ts';

/** A language's other codes, those of ISO 639-1 and of ISO 639-2 for libraries, and the SHA-256 of its trained nets. */
interface LanguageData {
  readonly aliases: readonly string[];
  /** Of the gzip file in its package. */
  readonly packaged: string;
  /** Of the small net that systems bring. */
  readonly small: string;
}

/** By ISO 639-3 code. */
const DATA: Readonly<Record<string, LanguageData>> = {
  eng: {
    aliases: ['en'],
    packaged: '45b4cb346724ac1774f1c36f42f182b887bcdb28ebe63e6fff90ac41f3fcff91',
    small: '7d4322bd2a7749724879683fc3912cb542f19906c83bcc1a52132556427170b2',
  },
  deu: {
    aliases: ['de', 'ger'],
    packaged: '306c4280d0cbed46fbff727486bd43b92730181bae80f56941a091f363bdf28b',
    small: '19d219bbb6672c869d20a9636c6816a81eb9a71796cb93ebe0cb1530e2cdb22d',
  },
  fra: {
    aliases: ['fr', 'fre'],
    packaged: 'd611139672b3752c7097e671e4a1d9209dfd37f2aeb081ef6487fba3351e9255',
    small: 'ced037562e8c80c13122dece28dd477d399af80911a28791a66a63ac1e3445ca',
  },
  spa: {
    aliases: ['es'],
    packaged: '40be52f97b5d4eb7460073dc1f94cd546b27150333c0bf854ed7e7132db6bceb',
    small: '6f2e04d02774a18f01bed44b1111f2cd7f3ba7ac9dc4373cd3f898a40ea6b464',
  },
  ita: {
    aliases: ['it'],
    packaged: 'f702fcfad297ce028ede3626d1467b67939f23ff23595f9badd54681cf25a4d3',
    small: 'b8f89e1e785118dac4d51ae042c029a64edb5c3ee42ef73027a6d412748d8827',
  },
  nld: {
    aliases: ['nl', 'dut'],
    packaged: 'a2d904b6ddc4feb0d31ecfcd7361a554102e7aa2e278c54f4fc029e0d0815571',
    small: 'ced0e5e046a84c908a6aa7accbef9a232c4a5d9a8276691b81c6ee64d02963f6',
  },
  pol: {
    aliases: ['pl'],
    packaged: 'a20fdec4ff99d8f8e84c708da3e42a4e935c26863055a0ed88aef5c66a59b91b',
    small: 'c4476cdbc0e33d898d32345122b7be1cbf85ace15f920f06c7714756e1ef79b2',
  },
  por: {
    aliases: ['pt'],
    packaged: 'dacebc1386ddaaf8389f81094236cca0d690897cde693d48cbdaa881c86e2b4c',
    small: 'c4932b937207a9514b7514d518b931a99938c02a28a5a5a553f8599ed58b7deb',
  },
};

/** Where systems keep Tesseract's nets: Debian 12 and later, Ubuntu before 23.04, Alpine and Arch, Fedora. */
const SYSTEM_FOLDERS = [
  '/usr/share/tesseract-ocr/5/tessdata',
  '/usr/share/tesseract-ocr/4.00/tessdata',
  '/usr/share/tessdata',
  '/usr/share/tesseract/tessdata',
];

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
    throw new DocumentFault('unsupported', `languages must be from ${LANGUAGES.join(', ')}`);
  return [...new Set(known)];
}

/** Trained nets of a language: small ones are read faster, and no worse. // ADR 0030 */
export interface Nets {
  readonly kind: 'small' | 'packaged';
  readonly bytes: Uint8Array;
}

/**
 * The nets of a language: the small ones where the system has exactly those that are known here, else those of its package.
 * `folders`: where to look for the small ones. Throws when the package is needed and missing.
 */
export function netsOf(code: string, folders: readonly string[] = SYSTEM_FOLDERS): Nets {
  const { small } = DATA[code] ?? {};
  for (const folder of folders) {
    const bytes = fileIn(folder, `${code}.traineddata`);
    if (bytes && sha256(bytes) === small) return { kind: 'small', bytes };
  }
  return { kind: 'packaged', bytes: gunzipSync(packagedNets(code)) };
}

function fileIn(folder: string, name: string): Buffer | undefined {
  try {
    return readFileSync(join(folder, name));
  } catch {
    return undefined;
  }
}

function packagedNets(code: string): Buffer {
  const manifest = createRequire(import.meta.url).resolve(`@tesseract.js-data/${code}/package.json`);
  return readFileSync(join(dirname(manifest), '4.0.0_best_int', `${code}.traineddata.gz`));
}

/** Languages that have small nets here. */
export function smallLanguages(): readonly string[] {
  return LANGUAGES.filter((code) => netsOf(code).kind === 'small');
}

/** Names the languages whose packaged nets are missing, unreadable or not the published ones. */
export function faultyLanguages(): readonly string[] {
  return LANGUAGES.filter((code) => {
    try {
      return sha256(packagedNets(code)) !== DATA[code]?.packaged;
    } catch {
      return true;
    }
  });
}

function sha256(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}
