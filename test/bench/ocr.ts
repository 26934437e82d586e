import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import sharp, { type Sharp } from 'sharp';
import { netsOf, smallLanguages } from '../../inference/ocr/language-data.ts';
import { createRecognizer, newReading, type Recognizer } from '../../inference/ocr/recognizer.ts';
import { openTesseract } from '../../inference/ocr/tesseract.ts';
import { paper, printText, shaded, wordAccuracy, wordsOf, worn } from '../harness/printed-page.ts';
import { WRITTEN_TEXTS, type WrittenText } from '../harness/written-texts.ts';

/**
 * Text recognition beside the system's own `tesseract`, in turns in one run: pages in eight languages, clean, from a poor
 * scanner and from a camera, how many words are right, and what a page takes. The processor's time is compared, as a machine
 * that does other work, too, stretches any clock; `tesseract` is held to one thread and told the language. We read with
 * the nets that are taken here, told the language and not, and with those of the packages, which are there where the
 * system has none.
 */
const ROUNDS = Number(process.env['BENCH_ROUNDS'] ?? 2);
const MOST_TIMES = 1.5;
/** By which a language's share of right words may be under the system's: three words of a thousand are chance. */
const CHANCE = 0.003;
/** Of a second, in which the system counts the time of processes. */
const TICKS = 100;

const KINDS: readonly (readonly [dpi: number, font: string, make: (page: Sharp) => Promise<Buffer>])[] = [
  [200, 'Liberation Sans', (page) => page.png().toBuffer()],
  [150, 'Liberation Serif', worn],
  [200, 'Liberation Serif', shaded],
];

interface Taken {
  readonly words: readonly string[];
  readonly cpuMs: number;
  readonly wallMs: number;
}

/** The same file for both sides. */
interface Page {
  readonly png: Buffer;
  readonly width: number;
  readonly height: number;
  readonly dpi: number;
}

const run = promisify(execFile);
const recognizer = createRecognizer();
const packaged = createRecognizer(() => openTesseract((code) => netsOf(code, [])));
const folder = mkdtempSync(join(tmpdir(), 'ocr-'));
const BULLET = /^[•*·»«+\-—–eo°¢]$/u;

async function pagesOf(text: WrittenText): Promise<readonly Page[]> {
  const pages: Page[] = [];
  for (const [dpi, font, make] of KINDS) {
    const page = sharp(await make(await printText({ ...paper(dpi), font }, text)));
    const { data: png, info } = await page.png({ compressionLevel: 1 }).toBuffer({ resolveWithObject: true });
    pages.push({ png, width: info.width, height: info.height, dpi });
  }
  return pages;
}

async function taken(work: () => Promise<string>, cpuMs: () => number): Promise<Taken> {
  const [cpu, wall] = [cpuMs(), performance.now()];
  const text = await work();
  // A bullet is a sign, and not one of the words.
  const words = text.split(/\s+/).filter((word) => word !== '' && !BULLET.test(word));
  return { words, cpuMs: cpuMs() - cpu, wallMs: performance.now() - wall };
}

function ownCpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

/** Of all children that have ended. */
function childrenCpuMs(): number {
  const fields = readFileSync('/proc/self/stat', 'utf8').split(') ')[1]?.split(' ') ?? [];
  return ((Number(fields[13]) + Number(fields[14])) * 1000) / TICKS;
}

function ours(by: Recognizer, page: Page, languages?: readonly string[]): Promise<Taken> {
  return taken(async () => {
    const { lines } = await by.recognize(
      page,
      languages,
      newReading(() => {}),
    );
    return lines.flatMap((line) => line.words.map(({ text }) => text)).join(' ');
  }, ownCpuMs);
}

function theirs({ png, dpi }: Page, language: string): Promise<Taken> {
  const file = join(folder, 'page.png');
  writeFileSync(file, png);
  return taken(async () => {
    const env = { ...process.env, OMP_THREAD_LIMIT: '1' };
    return (await run('tesseract', [file, '-', '-l', language, '--dpi', String(dpi)], { env })).stdout;
  }, childrenCpuMs);
}

interface Side {
  readonly accuracy: number;
  readonly cpuMs: number;
  readonly wallMs: number;
}

async function sideOf(
  written: readonly string[],
  pages: readonly Page[],
  take: (page: Page) => Promise<Taken>,
): Promise<Side> {
  const sides: Side[] = [];
  for (const page of pages) {
    const rounds: Taken[] = [];
    for (let round = 0; round < ROUNDS; round++) rounds.push(await take(page));
    sides.push({
      accuracy: wordAccuracy(written, rounds[0]?.words ?? []),
      cpuMs: Math.min(...rounds.map(({ cpuMs }) => cpuMs)),
      wallMs: Math.min(...rounds.map(({ wallMs }) => wallMs)),
    });
  }
  return meanOf(sides);
}

async function compare(text: WrittenText): Promise<readonly Side[]> {
  const pages = await pagesOf(text);
  const { language } = text;
  const written = wordsOf(text).filter((word) => !BULLET.test(word));
  return [
    await sideOf(written, pages, (page) => ours(recognizer, page, [language])),
    await sideOf(written, pages, (page) => ours(recognizer, page)),
    await sideOf(written, pages, (page) => ours(packaged, page, [language])),
    await sideOf(written, pages, (page) => theirs(page, language)),
  ];
}

function meanOf(sides: readonly Side[]): Side {
  return {
    accuracy: mean(sides.map(({ accuracy }) => accuracy)),
    cpuMs: mean(sides.map(({ cpuMs }) => cpuMs)),
    wallMs: mean(sides.map(({ wallMs }) => wallMs)),
  };
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

function row(name: string, sides: readonly Side[]): string {
  const cells = sides.map(
    ({ accuracy, cpuMs, wallMs }) =>
      `${(accuracy * 100).toFixed(1).padStart(6)} ${cpuMs.toFixed(0).padStart(6)} ${wallMs.toFixed(0).padStart(6)}`,
  );
  return `${name.padEnd(6)}${cells.join(' |')}`;
}

try {
  // The engine is compiled while it reads its first pages.
  const [first = WRITTEN_TEXTS[0]] = WRITTEN_TEXTS;
  if (!first) throw new Error('nothing is written');
  const warm = await pagesOf(first);
  for (const by of [recognizer, packaged]) for (const page of warm) await ours(by, page);
  console.log(`small nets: ${smallLanguages().join(', ') || 'none'}`);
  console.log('each: % of words right, ms of processor, ms; a page');
  console.log('       language given        | found out           | given, packaged nets | system');
  const all: (readonly Side[])[] = [];
  const under: string[] = [];
  for (const text of WRITTEN_TEXTS) {
    const sides = await compare(text);
    all.push(sides);
    console.log(row(text.language, sides));
    const [given, found, , system] = sides.map(({ accuracy }) => accuracy);
    if (Math.min(given ?? 0, found ?? 0) < (system ?? 1) - CHANCE) under.push(text.language);
  }
  const means = [0, 1, 2, 3].map((side) => meanOf(all.flatMap((sides) => sides.slice(side, side + 1))));
  console.log(row('mean', means));
  const [given, found, large, system] = means;
  if (!given || !found || !large || !system) throw new Error('nothing was measured');
  const times = ({ cpuMs }: Side): string => (cpuMs / system.cpuMs).toFixed(2);
  console.log(
    `times what the system takes: ${times(given)} given, ${times(found)} found out, ${times(large)} with packaged nets`,
  );
  if (Math.min(given.accuracy, found.accuracy) < system.accuracy) under.push('the mean');
  for (const what of under) console.log(`${what}: fewer words are right than the system has`);
  if (given.cpuMs > MOST_TIMES * system.cpuMs) console.log(`more than ${MOST_TIMES} times the system's time`);
  if (under.length > 0 || given.cpuMs > MOST_TIMES * system.cpuMs) process.exitCode = 1;
} finally {
  rmSync(folder, { recursive: true, force: true });
}
