import { expect, test } from 'vitest';
import { builtPatterns, writtenPatterns, type OwnPattern } from './own-patterns.ts';
import { attacksOn, growthUnder, type Attack } from './pumped.ts';
import { tally } from './tally.ts';

const tried = tally('patterns x pumped texts');

/** Patterns that are not linear and need not be: by file and source, what bounds the text that they run over. */
const BOUNDED: readonly { readonly file: string; readonly source: string; readonly because: string }[] = [
  {
    file: 'src/inspect/attachments/split-addresses.ts',
    source: '[\\p{L}\\p{N}][^\\s<>()[\\]"\',;:]*$',
    because: 'runs over the last 256 characters of a unit',
  },
  {
    file: 'src/inspect/detectors/phone-context.ts',
    source: '\\d[^]*(?:[.!?](?=\\s)|[\\n;|}])|\\n\\s*\\n',
    because: 'runs over the 40 characters before a number',
  },
];

/** Built where it is used, for which there is no call here: what it is built of. */
const SEEN_ELSEWHERE: Readonly<Record<string, string>> = {
  'inference/formats/search.ts': 'words of the originals with blanks between, escaped',
  'inference/formats/text/csv.ts': 'one delimiter of a fixed list',
  'src/adapters/s3/versions.ts': 'the name of an element of S3, over its answer',
  'src/inspect/restore/addresses.ts': 'a pattern that is written down there, with another flag',
  'src/seal/row-text.ts': 'names of members of a row',
};

const { patterns, built } = writtenPatterns();
const buildings = new Set(built.map(({ file }) => file).filter((file) => !(file in SEEN_ELSEWHERE)));

test('every pattern that is written down takes a time in proportion to the text', () => {
  expect(patterns.length).toBeGreaterThan(500);
  expect(notLinear(patterns)).toEqual([]);
});

test('every pattern that is built of parts does, too', async () => {
  const made = await builtPatterns(buildings, async () => {
    // Loaded only now: what a module builds when it is loaded is to be seen.
    const { createScanner } = await import('#/inspect/detectors/scanner.ts');
    const { createTermFinder } = await import('#/inspect/terms/term-finder.ts');
    const { compileSchema } = await import('#/values/json-schema/compile-schema.ts');
    compileSchema({ pattern: '^[a-z]+-\\d{2}$' });
    const { SecretFilter } = await import('#/providers/mcp/without-secret.ts');
    new SecretFilter('a+b/c="d\\e%f-g'.repeat(300)).text('a');
    createScanner().find('call +49 30 901820, IBAN DE89 3704 0044 0532 0130 00, password=hunter2hunter2');
    createTermFinder([{ term: 'Ada Lovelace', label: 'person' }])?.('a\u0300 b ada');
  });
  const seen = new Set(made.map(({ file }) => file));
  expect([...buildings].filter((file) => !seen.has(file))).toEqual([]);
  expect(notLinear(made)).toEqual([]);
});

test('a pattern that is not linear is told, whatever it looks like', () => {
  const bad = [
    /\S[\u0300-\u036f]*\s{1,4}x/,
    /[ \t]*\n/,
    /(a+)+$/,
    /(?:a|a)*b/,
    /\d+\d+x/,
    /\s+$/,
    /<[^>]*>/g,
    /.*a.*b/s,
    /^(?:x+x+)+y/,
  ];
  const told = bad.map((pattern) => attacksOn(pattern).some((attack) => growthUnder(attack, pattern) !== undefined));
  expect(bad.filter((_, index) => !told[index])).toEqual([]);
});

test('what is said to be bounded is there', () => {
  const there = (one: { readonly file: string; readonly source: string }): boolean =>
    patterns.some(({ file, pattern }) => file === one.file && pattern.source === one.source);
  expect(BOUNDED.filter((one) => !there(one))).toEqual([]);
  const files = new Set(built.map(({ file }) => file));
  expect(Object.keys(SEEN_ELSEWHERE).filter((file) => !files.has(file))).toEqual([]);
});

/** Those that are not, each with the text that shows it. */
function notLinear(some: readonly OwnPattern[]): readonly string[] {
  const different = new Map(some.map((one) => [`${one.file} ${String(one.pattern)}`, one]));
  return [...different.values()].flatMap(({ place, file, pattern }) => {
    if (BOUNDED.some((one) => one.file === file && one.source === pattern.source)) return [];
    // Twice, since the machine may have been busy.
    const isSlow = (one: Attack): boolean => growthUnder(one, pattern) !== undefined;
    const attack = attacksOn(pattern).find((one) => isSlow(one) && isSlow(one));
    if (!attack) return (tried.held(place), []);
    tried.passed(`${place} ${JSON.stringify(attack)}`);
    return [`${place} ${String(pattern)} with ${JSON.stringify(attack)}`];
  });
}
