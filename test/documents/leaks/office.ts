import { extname, join } from 'node:path';
import { writeFile } from 'node:fs/promises';
import type { CorpusDocument } from '../corpus/planting.ts';
import { asFile, output } from './programs.ts';
import { leaksInText } from './search.ts';

/** A document of an office that was made, and the same one anonymized. */
export interface Letter {
  readonly document: CorpusDocument;
  readonly result: Uint8Array;
  /** The tag of who comes several times. */
  readonly tag: string;
}

/** As many at a time as a slow processor opens before its time is up. */
const BATCH = 8;

/**
 * Has programs of an office open anonymized documents and write them as PDF, several at once, as it takes seconds to begin.
 * Tells which it did not open, in which somebody is left, and in which a tag is missing.
 */
export async function openedByOffice(letters: readonly Letter[]): Promise<readonly string[]> {
  const faults: string[] = [];
  for (let at = 0; at < letters.length; at += BATCH) faults.push(...(await opened(letters.slice(at, at + BATCH))));
  return faults;
}

async function opened(letters: readonly Letter[]): Promise<readonly string[]> {
  await using folder = await asFile(new Uint8Array(), 'empty');
  const names = letters.map(({ document }, at) => `${at}${extname(document.name)}`);
  for (const [at, { result }] of letters.entries()) await writeFile(join(folder.folder, names[at] ?? ''), result);
  const profile = `-env:UserInstallation=file://${folder.folder}/profile`;
  const paths = names.map((name) => join(folder.folder, name));
  await output('soffice', [profile, '--headless', '--convert-to', 'pdf', '--outdir', folder.folder, ...paths]);
  const faults: string[] = [];
  for (const [at, { document, tag }] of letters.entries()) {
    const text = (await output('pdftotext', [join(folder.folder, `${at}.pdf`), '-'])).toString('utf8');
    const name = `${document.language} ${document.name}`;
    if (text.trim() === '') faults.push(`${name}: not opened by a word processor`);
    else if (!text.includes(tag)) faults.push(`${name}: no tag is seen in a word processor`);
    faults.push(
      ...leaksInText(document, text).map(({ place, what }) => `${name}: ${what} of ${place}, in a word processor`),
    );
  }
  return faults;
}
