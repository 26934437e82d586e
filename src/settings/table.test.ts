import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parse } from './rows/forms.ts';
import { createReader, defaultOf } from './reader.ts';
import { BRIDGE_ROWS } from './rows/bridge-rows.ts';
import { CONTROLLER_ROWS } from './rows/controller-rows.ts';
import { ENGINE_ROWS } from './rows/engine-rows.ts';
import { GATEWAY_ROWS } from './rows/gateway-rows.ts';
import { STORAGE_ROWS } from './rows/storage-rows.ts';
import type { Program, Setting } from './rows/setting.ts';
import { SETTINGS, type SettingName } from './table.ts';

const ROOT = join(import.meta.dirname, '../..');
const ALL = Object.entries<Setting>(SETTINGS);
const FOLDERS: Readonly<Record<Program, readonly string[]>> = {
  gateway: ['src/main.ts', 'src/settings/*.ts'],
  controller: ['operators/*.ts'],
  engine: ['inference/*.ts'],
  bridge: ['bridge/*.ts'],
  gwctl: ['src/cli/*.ts', 'src/settings/{anchor,bucket}-settings.ts'],
};
/** Where a program uses members of its settings. */
const USERS: Readonly<Record<Program, readonly string[]>> = {
  gateway: ['src/**/*.ts'],
  controller: ['operators/*.ts', 'src/telemetry/*.ts'],
  engine: ['inference/*.ts', 'src/telemetry/*.ts'],
  bridge: ['bridge/*.ts', 'src/telemetry/*.ts'],
  gwctl: [],
};

/** The code of each program in these files, as one text. */
function textsOf(
  files: Readonly<Record<Program, readonly string[]>>,
  exclude: readonly string[],
): Readonly<Record<Program, string>> {
  const texts = Object.entries(files).map(([program, patterns]) => {
    const found = globSync([...patterns], { cwd: ROOT, exclude: ['**/*.test.ts', ...exclude] });
    return [program, found.map((file) => readFileSync(join(ROOT, file), 'utf8')).join('\n')];
  });
  return Object.fromEntries(texts) as Readonly<Record<Program, string>>;
}

const readers = textsOf(FOLDERS, []);
const users = textsOf(USERS, ['src/settings/rows/*']);

/** Variables about a bucket are read by family and last part. */
const BUCKET = /^GW_(?:ANCHOR|JOBS)(?=_(?:ENDPOINT|REGION|CREDENTIALS_FILE)$)/;

test.each([BRIDGE_ROWS, CONTROLLER_ROWS, ENGINE_ROWS, GATEWAY_ROWS, STORAGE_ROWS])(
  'rows are sorted by name',
  (rows) => {
    const names = Object.keys(rows);
    expect(names).toEqual(names.toSorted());
  },
);

test('no name stands in two files', () => {
  const counts = [BRIDGE_ROWS, CONTROLLER_ROWS, ENGINE_ROWS, GATEWAY_ROWS, STORAGE_ROWS].map(
    (rows) => Object.keys(rows).length,
  );
  expect(ALL).toHaveLength(counts.reduce((sum, count) => sum + count));
  expect(ALL.length).toBeGreaterThan(70);
});

test.each(ALL)('%s is used by every program that the table names', (name, setting) => {
  for (const program of setting.readers) {
    const { as } = setting;
    const text = readers[program];
    const isUsed =
      as === undefined || program === 'gwctl'
        ? text.includes(`'${name}'`) || text.includes(`}${name.replace(BUCKET, '')}`)
        : new RegExp(`\\b${as}\\b`).test(users[program]);
    expect(isUsed, `src/settings/rows lists ${name}, but no file of the ${program} uses it`).toBe(true);
  }
});

test.each(ALL)('%s has a default that it allows, and a meaning', (name, setting) => {
  for (const program of setting.readers) {
    const fallback = defaultOf(setting, program);
    if (fallback !== undefined) expect(parse(setting.form, fallback), name).toBeDefined();
  }
  expect(setting.meaning).toMatch(/^[A-Z`].{5,}\.$/);
});

test('no two settings of a program have one name in it', () => {
  for (const program of Object.keys(FOLDERS) as Program[]) {
    const names = ALL.flatMap(([, { as, readers }]) => (as !== undefined && readers.includes(program) ? [as] : []));
    expect(names).toEqual([...new Set(names)]);
  }
});

describe('a reader', () => {
  test('takes an empty variable for one that is not set', () => {
    const reader = createReader('gateway', { GW_STREAM_SECONDS: '', PORT: '81' });
    expect([reader.read('GW_STREAM_SECONDS'), reader.read('PORT'), reader.read('GW_PUBLIC_URL')]).toEqual([
      3600,
      81,
      undefined,
    ]);
    expect(createReader('engine', {}).read('PORT')).toBe(8090);
  });

  test('says once which values are allowed, and which holds without the variable', () => {
    const reader = createReader('gateway', { GW_BODY_LIMIT_MIB: '513' });
    expect(reader.read('GW_BODY_LIMIT_MIB')).toBe(64 * 1024 * 1024);
    reader.read('GW_BODY_LIMIT_MIB');
    expect(reader.faults).toEqual(['GW_BODY_LIMIT_MIB must be a whole number from 1 to 512; unset, it is 64']);
  });

  test('refuses a program that the table does not list', () => {
    const name: SettingName = 'GW_LEASE_SECONDS';
    expect(() => createReader('gateway', {}).read(name)).toThrow(
      'does not list gateway as a reader of GW_LEASE_SECONDS',
    );
  });
});
