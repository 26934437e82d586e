import { describe, expect, test } from 'vitest';
import type { StoredRow } from '#/ports/evidence.ts';
import { editText, storedRow, StrandBuilder } from '../../../test/contract/ledger-rows.ts';
import { ROW_FIELDS, type Field } from '../row-fields.ts';
import { readRowText } from '../row-text.ts';
import { agrees, agreesAtAGlance, differences, isUuid } from './row-columns.ts';

const COLUMNS = Object.entries<Field>(ROW_FIELDS).flatMap(([name, { column }]) => (column === undefined ? [] : name));

const genuine = storedRow(new StrandBuilder('019aa000-0000-7000-8000-000000000001').seal());

describe('agreesAtAGlance', () => {
  test('is true of a row whose columns repeat its text', () => {
    expect(agreesAtAGlance(genuine)).toBe(true);
  });

  test.each<[keyof StoredRow, StoredRow[keyof StoredRow]]>([
    ['callId', Buffer.from(genuine.callId).fill(genuine.callId.at(-1)! ^ 1, 15)],
    ['strand', '019aa000-0000-7000-8000-000000000002'],
    ['sequence', 2],
    ['at', genuine.at + 1],
    ['at', genuine.at + 0.5],
    ['at', Infinity],
    ['at', Number.NaN],
    ['organization', 'team/other'],
    ['workload', 'team/other'],
    ['cost', '1001'],
    ['text', Buffer.concat([genuine.text, Buffer.from(' ')])],
  ])('is false where a column says something else: %s', (column, value) => {
    expect(agreesAtAGlance({ ...genuine, [column]: value })).toBe(false);
  });

  test.each(COLUMNS)('compares the text with the column that repeats it: %s', (name) => {
    const sealed = genuine.sealed();
    const said = (JSON.parse(sealed.row) as Readonly<Record<string, string | number>>)[name]!;
    const other =
      typeof said === 'number' ? said + 1 : said.replace(/\d(?=\D*$)|$/, (digit) => (digit === '1' ? '2' : '1'));
    const text = editText(sealed.row, { [name]: other });
    const facts = readRowText(text)!;
    const missed = (where: string): string => `${where} passes over the column \`${name}\` of src/seal/row-fields.ts`;
    expect(
      agreesAtAGlance({ ...genuine, text: Buffer.from(text) }),
      missed('agreesAtAGlance in src/seal/verify/row-columns.ts'),
    ).toBe(false);
    expect(agrees(sealed, facts), missed('agrees in src/seal/verify/row-columns.ts')).toBe(false);
    expect(differences(sealed, facts), missed('differences in src/seal/verify/row-columns.ts')).toContain('stored');
    expect(agrees(sealed, readRowText(sealed.row)!)).toBe(true);
  });

  test('is false of text that is not canonical, although it says the same', () => {
    for (const change of [
      (text: string) => text.replace('{"at"', '{ "at"'),
      (text: string) => text.replace('"EMAIL":2,"IBAN":1', '"IBAN":1,"EMAIL":2'),
      (text: string) => text.replace('"v":1', '"v":1.0'),
    ]) {
      const text = change(genuine.text.toString());
      expect(text).not.toBe(genuine.text.toString());
      expect(agreesAtAGlance({ ...genuine, text: Buffer.from(text) })).toBe(false);
    }
  });
});

test('a UUID is its bytes, in lower case and with four hyphens', () => {
  const text = '019aa000-1234-7abc-8def-0123456789ab';
  const bytes = Buffer.from(text.replaceAll('-', ''), 'hex');
  expect(isUuid(text, bytes)).toBe(true);
  for (let at = 0; at < text.length; at++)
    for (const other of ['', '-', '0', 'g'])
      if (other !== text[at]) expect(isUuid(text.slice(0, at) + other + text.slice(at + 1), bytes)).toBe(false);
  expect(isUuid(text.toUpperCase(), bytes)).toBe(false);
  for (let at = 0; at < 16; at++) {
    const changed = Buffer.from(bytes);
    changed[at] = changed[at]! ^ 1;
    expect(isUuid(text, changed)).toBe(false);
  }
});
