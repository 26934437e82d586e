import { expect, test } from 'vitest';
import { fileNameOf } from './file-name.ts';

test.each([
  ['ada@lovelace.example.docx', 'ada@lovelace.example', '«EMAIL_1».docx'],
  ['ada@lovelace.example', 'ada@lovelace.example', '«EMAIL_1»'],
  ['ada@lovelace.md', 'ada@lovelace.md', '«EMAIL_1».md'],
  ['.TIFF', '', '«EMAIL_1».TIFF'],
])('%s keeps its ending', (name, searched, left) => {
  const file = fileNameOf(name);
  expect(file.searched).toBe(searched);
  expect(file.with('«EMAIL_1»')).toBe(left);
  expect(file.with(searched)).toBe(name);
});
