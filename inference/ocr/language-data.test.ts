import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { faultyLanguages, LANGUAGES, netsOf, smallLanguages } from './language-data.ts';

const DEBIAN = '/usr/share/tesseract-ocr/5/tessdata';

test('every packaged net is what was published', () => {
  expect(faultyLanguages()).toEqual([]);
});

test('small nets are taken where the system has the known ones, and named', () => {
  expect(smallLanguages()).toEqual(LANGUAGES);
  for (const code of LANGUAGES) {
    const { kind, bytes } = netsOf(code, ['/nowhere', DEBIAN]);
    expect(kind).toBe('small');
    expect(Buffer.compare(bytes, readFileSync(join(DEBIAN, `${code}.traineddata`)))).toBe(0);
  }
});

test('a small net that is missing, or not the known one, is passed over for the packaged one', () => {
  const folder = mkdtempSync(join(tmpdir(), 'nets-'));
  const changed = readFileSync(join(DEBIAN, 'deu.traineddata'));
  changed[1000] = (changed[1000] ?? 0) ^ 1;
  writeFileSync(join(folder, 'deu.traineddata'), changed);
  writeFileSync(join(folder, 'fra.traineddata'), '');
  const hashes = ['deu', 'fra', 'eng'].map((code) => {
    const { kind, bytes } = netsOf(code, [folder]);
    expect(kind).toBe('packaged');
    return createHash('sha256').update(bytes).digest('hex');
  });
  expect(new Set(hashes).size).toBe(3);
  expect(hashes).not.toContain(createHash('sha256').update(changed).digest('hex'));
  // The first folder that has the known one is used.
  expect(netsOf('deu', [folder, DEBIAN]).kind).toBe('small');
});
