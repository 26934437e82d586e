import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { LONG_FILES } from './long-first.ts';

test.each(LONG_FILES)('%s is there to begin with', (file) => {
  expect(existsSync(join(import.meta.dirname, '../..', file))).toBe(true);
});
