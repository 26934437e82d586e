import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { gunzipSync } from 'node:zlib';
import sharp from 'sharp';
import { languageFile } from '../../inference/ocr/language-data.ts';
import { createRecognizer, newReading } from '../../inference/ocr/recognizer.ts';
import { paper, printText, wordAccuracy, wordsOf, worn } from '../harness/printed-page.ts';
import { WRITTEN_TEXTS, type WrittenText } from '../harness/written-texts.ts';

/**
 * Text recognition beside the system's own `tesseract`, in turns in one run: worn pages at 150 dots an inch in eight
 * languages, how many words are right, and what a page takes. The processor's time is compared, as a machine that does
 * other work, too, stretches any clock; `tesseract` is held to one thread and told the language. It is run with the nets it
 * came with, and again with ours, which tells what is due to the nets.
 */
const ROUNDS = Number(process.env['BENCH_ROUNDS'] ?? 3);
const MOST_TIMES = 1.5;
const DPI = 150;
/** Of a second, in which the system counts the time of processes. */
const TICKS = 100;

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
const folder = mkdtempSync(join(tmpdir(), 'ocr-'));
const BULLET = /^[•*·»«+\-—–eo°¢]$/u;

async function pageOf(text: WrittenText): Promise<Page> {
  const page = sharp(await worn(await printText(paper(DPI), text)));
  const { data: png, info } = await page.png({ compressionLevel: 1 }).toBuffer({ resolveWithObject: true });
  return { png, width: info.width, height: info.height, dpi: DPI };
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

function ours(page: Page, languages?: readonly string[]): Promise<Taken> {
  return taken(async () => {
    const { lines } = await recognizer.recognize(
      page,
      languages,
      newReading(() => {}),
    );
    return lines.flatMap((line) => line.words.map(({ text }) => text)).join(' ');
  }, ownCpuMs);
}

function theirs({ png }: Page, language: string, nets: readonly string[] = []): Promise<Taken> {
  const file = join(folder, 'page.png');
  writeFileSync(file, png);
  return taken(async () => {
    const env = { ...process.env, OMP_THREAD_LIMIT: '1' };
    return (await run('tesseract', [file, '-', '-l', language, '--dpi', String(DPI), ...nets], { env })).stdout;
  }, childrenCpuMs);
}

interface Side {
  readonly accuracy: number;
  readonly cpuMs: number;
  readonly wallMs: number;
}

async function sideOf(written: readonly string[], take: () => Promise<Taken>): Promise<Side> {
  const rounds: Taken[] = [];
  for (let round = 0; round < ROUNDS; round++) rounds.push(await take());
  return {
    accuracy: wordAccuracy(written, rounds[0]?.words ?? []),
    cpuMs: Math.min(...rounds.map(({ cpuMs }) => cpuMs)),
    wallMs: Math.min(...rounds.map(({ wallMs }) => wallMs)),
  };
}

async function compare(text: WrittenText): Promise<readonly Side[]> {
  const page = await pageOf(text);
  const nets = gunzipSync(readFileSync(languageFile(text.language)));
  writeFileSync(join(folder, `${text.language}.traineddata`), nets);
  const written = wordsOf(text).filter((word) => !BULLET.test(word));
  return [
    await sideOf(written, () => ours(page, [text.language])),
    await sideOf(written, () => ours(page)),
    await sideOf(written, () => theirs(page, text.language)),
    await sideOf(written, () => theirs(page, text.language, ['--tessdata-dir', folder])),
  ];
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
  const warm = await pageOf(first);
  for (let round = 0; round < 2; round++) await ours(warm);
  console.log('each: % of words right, ms of processor, ms');
  console.log('       language given        | found out           | system                | system, our nets');
  const all: (readonly Side[])[] = [];
  for (const text of WRITTEN_TEXTS) {
    const sides = await compare(text);
    all.push(sides);
    console.log(row(text.language, sides));
  }
  const means = [0, 1, 2, 3].map((side): Side => ({
    accuracy: mean(all.map((sides) => sides[side]?.accuracy ?? 0)),
    cpuMs: mean(all.map((sides) => sides[side]?.cpuMs ?? 0)),
    wallMs: mean(all.map((sides) => sides[side]?.wallMs ?? 0)),
  }));
  console.log(row('mean', means));
  const [given, found, system, same] = means;
  if (!given || !found || !system || !same) throw new Error('nothing was measured');
  const times = given.cpuMs / system.cpuMs;
  console.log(
    `given: ${times.toFixed(2)} times the system's, ${(given.cpuMs / same.cpuMs).toFixed(2)} times with the same nets; ` +
      `found out: ${(found.cpuMs / given.cpuMs).toFixed(2)} times what it takes when given`,
  );
  const worse = Math.min(given.accuracy, found.accuracy) < system.accuracy;
  if (worse || times > MOST_TIMES) {
    console.log(
      worse ? 'fewer words are right than the system has' : `more than ${MOST_TIMES} times the system's time`,
    );
    process.exitCode = 1;
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
