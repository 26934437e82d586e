import { inflateRawSync, inflateSync } from 'node:zlib';
import { unzipSync } from 'fflate';
import { asFile, output } from './programs.ts';
import { digitsOf, partsOfMail } from './written-otherwise.ts';

/** One way to look into a file, and what was seen. */
export interface Seen {
  readonly by: string;
  readonly bytes: Uint8Array;
}

/** Everything that can be got out of a file by unpacking it and by asking other programs, each once. */
export async function everythingIn(bytes: Uint8Array, mediaType: string): Promise<readonly Seen[]> {
  const seen: Seen[] = [];
  if (mediaType === 'application/pdf') seen.push(...(await byPdfPrograms(bytes)));
  if (isZip(bytes)) seen.push(...(await byUnzip(bytes)));
  seen.push(...(await byAnyPrograms(bytes)));
  return [...unpacked(bytes, mediaType), ...seen, ...seen.flatMap(({ by, bytes: inner }) => embedded(by, inner))];
}

/** What can be got out of a file by unpacking it alone. */
export function unpacked(bytes: Uint8Array, mediaType: string): readonly Seen[] {
  const seen: Seen[] = [{ by: 'bytes', bytes }];
  if (mediaType === 'application/pdf') seen.push(...streams(bytes));
  if (isZip(bytes)) seen.push(...entries(bytes));
  if (mediaType === 'message/rfc822')
    for (const part of partsOfMail(bytes))
      seen.push({ by: 'part of a mail', bytes: part }, ...(isZip(part) ? opened(part) : []));
  if (mediaType === 'application/rtf')
    for (const digits of digitsOf(Buffer.from(bytes).toString('latin1'))) seen.push({ by: 'digits', bytes: digits });
  return [...seen, ...seen.flatMap(({ by, bytes: inner }) => embedded(by, inner))];
}

function isZip(bytes: Uint8Array): boolean {
  return bytes[0] === 0x50 && bytes[1] === 0x4b;
}

/** Streams of a PDF, found by their words alone, inflated where they can be: no table or dictionary is believed. */
function streams(bytes: Uint8Array): readonly Seen[] {
  const file = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  const seen: Seen[] = [];
  for (let at = file.indexOf('stream'); at >= 0; at = file.indexOf('stream', at + 6)) {
    if (file.toString('latin1', at - 3, at) === 'end') continue;
    const start = at + (file[at + 6] === 13 ? 8 : 7);
    const end = file.indexOf('endstream', start);
    if (end < 0) break;
    const plain = inflated(file.subarray(start, end));
    if (plain) seen.push({ by: `stream at ${at}`, bytes: plain });
  }
  return seen;
}

function inflated(bytes: Buffer): Buffer | undefined {
  for (const inflate of [inflateSync, inflateRawSync]) {
    try {
      // A stream may be cut, or have a line's end behind it.
      return inflate(bytes, { finishFlush: 2 });
    } catch {
      continue;
    }
  }
  return undefined;
}

async function byPdfPrograms(bytes: Uint8Array): Promise<readonly Seen[]> {
  await using file = await asFile(bytes, 'a.pdf');
  const { path } = file;
  const calls: readonly (readonly [string, readonly string[]])[] = [
    ['qpdf', ['--qdf', '--object-streams=disable', '--decode-level=all', path, '-']],
    ['pdftotext', [path, '-']],
    ['pdftotext', ['-layout', path, '-']],
    ['pdftotext', ['-raw', path, '-']],
    ['mutool', ['draw', '-q', '-F', 'txt', '-o', '-', path]],
    ['mutool', ['show', '-b', path, 'grep']],
    ['pdfinfo', ['-meta', path]],
    ['pdfinfo', ['-struct-text', path]],
    ['pdfinfo', ['-js', path]],
    ['pdffonts', [path]],
    ['pdfdetach', ['-list', path]],
  ];
  return await seenBy(calls);
}

/** What is no archive, though it begins as one, has no entries. */
function opened(bytes: Uint8Array): readonly Seen[] {
  try {
    return entries(bytes);
  } catch {
    return [];
  }
}

function entries(bytes: Uint8Array): readonly Seen[] {
  return Object.entries(unzipSync(bytes)).flatMap(([name, data]) => [
    { by: `name of an entry`, bytes: Buffer.from(name) },
    { by: name, bytes: data },
  ]);
}

async function byUnzip(bytes: Uint8Array): Promise<readonly Seen[]> {
  await using file = await asFile(bytes, 'a.zip');
  return await seenBy([
    ['unzip', ['-p', file.path]],
    ['unzip', ['-lv', file.path]],
  ]);
}

async function byAnyPrograms(bytes: Uint8Array): Promise<readonly Seen[]> {
  await using file = await asFile(bytes, 'document');
  return await seenBy([
    ['exiftool', ['-a', '-U', '-ee', '-G1', '-b', file.path]],
    ['strings', ['-e', 'S', '-n', '4', file.path]],
    ['strings', ['-e', 'l', '-n', '4', file.path]],
    ['strings', ['-e', 'b', '-n', '4', file.path]],
  ]);
}

function seenBy(calls: readonly (readonly [string, readonly string[]])[]): Promise<readonly Seen[]> {
  return Promise.all(
    calls.map(async ([program, args]) => ({
      by: [program, ...args.slice(0, 3)].join(' ').replace(/\/\S+/, ''),
      bytes: await output(program, args),
    })),
  );
}

/** Files that are written into text as base64. */
function embedded(by: string, bytes: Uint8Array): readonly Seen[] {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('latin1');
  const runs = text.match(/[A-Za-z0-9+/]{24,}={0,2}/g) ?? [];
  return runs.map((run) => ({ by: `base64 in ${by}`, bytes: Buffer.from(run, 'base64') }));
}
