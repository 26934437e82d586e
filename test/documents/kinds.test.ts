import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { mediaTypeOfName } from '#/wire/request/media.ts';
import { unitsAtMost } from '../../src/pipeline/anonymize/document-units.ts';
import { FORMATS } from '../../inference/formats/list.ts';
import { sniff } from '../../inference/formats/sniff/sniff.ts';
import { documentOf } from './corpus/corpus.ts';
import type { CorpusDocument } from './corpus/planting.ts';
import { HOSTILE } from './hostile-files.ts';

/** As many numbers as make one of every kind, of OpenDocument each of its own. */
const NUMBERS = Array.from({ length: 96 }, (_, at) => at).filter((at) => at < 16 || at % 16 === 12);

const endingOf = (name: string): string => name.slice(name.lastIndexOf('.') + 1);

test('a kind of document that is read is looked for leaks, attacked, known by its name and told to users', async () => {
  const documents = await Promise.all(NUMBERS.map(documentOf));
  const kinds = new Map<string, CorpusDocument[]>();
  for (const document of documents) {
    const { kind } = sniff(document);
    kinds.set(kind, [...(kinds.get(kind) ?? []), document]);
  }
  expect(new Set(kinds.keys())).toEqual(new Set(Object.keys(FORMATS)));
  const hostile = new Set(HOSTILE.map(({ name }) => endingOf(name)));
  const told = await readFile(new URL('../../docs/guides/anonymize-documents.md', import.meta.url), 'utf8');
  const forgotten = [...kinds].flatMap(([kind, made]) => {
    const endings = [...new Set(made.map(({ name }) => endingOf(name)))];
    return [
      ...(endings.some((ending) => hostile.has(ending)) || kind === 'markdown' ? [] : [`${kind}: no hostile file`]),
      ...endings.filter((ending) => mediaTypeOfName(`a.${ending}`) === undefined).map((ending) => `${ending}: no type`),
      ...endings.filter((ending) => !told.includes(`.${ending}`)).map((ending) => `${ending}: not in the guide`),
    ];
  });
  expect(forgotten).toEqual([]);
});

test('what is declared by name is what the bytes are', async () => {
  for (const number of NUMBERS) {
    const document = await documentOf(number);
    const known = mediaTypeOfName(document.name);
    if (/office|opendocument|epub|rtf|rfc822/.test(document.mediaType)) expect(known).toBe(sniff(document).mediaType);
    expect(unitsAtMost(document.bytes).most).toBeGreaterThan(0);
  }
});
