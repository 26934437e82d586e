import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { loadContentKeys, readContentKeys } from './content-keys.ts';

test('a missing file is made once, for the owner alone', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'gw-'));
  try {
    const file = join(folder, 'keys');
    const both = await Promise.all([loadContentKeys(file), loadContentKeys(file)]);
    expect(both[0]).toEqual(both[1]);
    expect(both[0]).toHaveLength(1);
    expect(both[0][0]!.secret).toHaveLength(32);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(await loadContentKeys(file)).toEqual(both[0]);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test('keys keep their order; blanks and comments are no keys', () => {
  const [a, b] = [randomBytes(32), randomBytes(32)];
  const text = `# newest first\n\nb:${b.toString('base64')}\r\na:${a.toString('base64')}`;
  expect(readContentKeys(text)).toEqual([
    { id: 'b', secret: b },
    { id: 'a', secret: a },
  ]);
});

test.each([
  ['', 'has no key'],
  ['# only a comment', 'has no key'],
  ['a:c2hvcnQ=', 'line 1'],
  [`${randomBytes(32).toString('base64')}`, 'line 1'],
  [`a:${randomBytes(32).toString('base64')}\na:${randomBytes(32).toString('base64')}`, 'line 2: the id is used twice'],
])('%j is refused, without repeating it', (text, reason) => {
  expect(() => readContentKeys(text)).toThrow(reason);
  const said: unknown[] = [];
  try {
    said.push(readContentKeys(text).length);
  } catch (error) {
    said.push(String(error));
  }
  expect(said.join()).not.toMatch(/[A-Za-z0-9+/]{20}/);
});
