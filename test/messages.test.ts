import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const ROOT = join(import.meta.dirname, '..');
/** A literal with its quotes, in a place where nothing is added to it. */
const LITERAL = String.raw`('(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|\x60(?:[^\x60\\]|\\.)*\x60)(?=\s*[,)])`;

/** The messages of these constructors that are written at the throw site, each behind its file. */
function messagesOf(opening: string): readonly string[] {
  const pattern = new RegExp(opening + LITERAL, 'g');
  const files = globSync('src/**/*.ts', { cwd: ROOT, exclude: ['**/*.test.ts'] }).sort();
  return files.flatMap((file) =>
    [...readFileSync(join(ROOT, file), 'utf8').matchAll(pattern)].map(
      ([, text = '']) => `${file}: ${text.slice(1, -1)}`,
    ),
  );
}

/** A capital, the name of a field or header with what it must be, or a value that makes either. */
const BEGINNING = /^[^ ]+: (?:[A-Z]|\$\{|[a-z][^ ]*\b.* (?:must|is|are|may|has|have|needs|names|takes|fetches)\b)/;

test('a message of a GatewayError is a sentence with a full stop', () => {
  const messages = messagesOf(String.raw`new GatewayError\(\s*'[a-z_]+',\s*`);
  expect(messages.length).toBeGreaterThan(40);
  expect(messages.filter((message) => !BEGINNING.test(message))).toEqual([]);
  // A part that is put in at the end brings its own full stop.
  expect(messages.filter((message) => !/(?:\.|\$\{(?:rule|hint)\})$/.test(message))).toEqual([]);
});

test('a message of a BadRequestShape is a sentence without its full stop, which shapeError adds', () => {
  const messages = messagesOf(String.raw`new BadRequestShape\(\s*`);
  expect(messages.length).toBeGreaterThan(120);
  expect(messages.filter((message) => !BEGINNING.test(message))).toEqual([]);
  expect(messages.filter((message) => message.endsWith('.'))).toEqual([]);
});
