import { BrokenAnswer, CutOff } from '#/providers/http/http1/broken-answer.ts';
import { AnswerReader } from '#/providers/http/http1/answer-reader.ts';
import { randomFor, type Random } from '../harness/random.ts';
import { madeAnswer } from './http1-made.ts';
import { readSlowly, type Told } from './http1-reference.ts';
import type { FuzzLimits, FuzzReport } from './http-targets.ts';
import { mutateBytes } from './mutate.ts';
import { law } from './pure-target.ts';

const MOST_FAULTS = 10;
const LONGEST_MS = 5_000;
/** Attempts between two looks at the clock and at the memory. */
const LOOK = 1_000;
const MOST_HEAP = 400 * 1024 * 1024;

/**
 * Answers of hostile servers, well-formed, flawed, changed at random, cut off and with more behind them, cut into pieces
 * anywhere: what is read of them is what they say, or a typed error, the same wherever they are cut.
 */
export async function fuzzHttp1Answers({ seed, seconds, attempts }: FuzzLimits): Promise<FuzzReport> {
  const faults = new Map<string, string>();
  const outcomes: Record<string, number> = {};
  const end = performance.now() + seconds * 1000;
  let made = 0;
  for (; made < attempts && faults.size < MOST_FAULTS; made++) {
    if (made % LOOK === 0) {
      if (performance.now() > end) break;
      law(process.memoryUsage().heapUsed < MOST_HEAP, 'the heap grows');
      // Others of this process have their turn.
      await new Promise((resolve) => setImmediate(resolve));
    }
    const random = randomFor(seed, `answer ${made}`);
    const start = performance.now();
    let bytes: Buffer = Buffer.alloc(0);
    try {
      const method = random.pick(['POST', 'POST', 'GET', 'HEAD']);
      const answer = madeAnswer(random, method);
      const change = random.pick([undefined, undefined, undefined, mutateBytes, mutateFraming]);
      bytes = change ? change(answer.bytes, random) : answer.bytes;
      const closed = random.chance(0.5);
      const told = readCut(method, piecesOf(bytes, random), closed);
      const wanted = readSlowly(method, bytes, closed);
      law(
        JSON.stringify(told) === JSON.stringify(wanted),
        `${JSON.stringify(told)} instead of ${JSON.stringify(wanted)}`,
      );
      if (!change) answer.check(told, closed);
      outcomes[told.outcome] = (outcomes[told.outcome] ?? 0) + 1;
    } catch (thrown) {
      const text = thrown instanceof Error ? (thrown.stack ?? thrown.message) : String(thrown);
      const [first = ''] = text.split('\n');
      if (!faults.has(first)) {
        const what = bytes.toString('base64').slice(0, 4_000);
        faults.set(first, `http1-answers, input ${made} of seed ${seed}: ${text.slice(0, 2_000)}\n${what}`);
      }
    }
    law(performance.now() - start < LONGEST_MS, `input ${made} of seed ${seed} took longer than ${LONGEST_MS} ms`);
  }
  return { attempts: made, faults: [...faults.values()], outcomes };
}

/** Bytes that framing is made of, or that look as if. */
const MARKS = [
  '\r',
  '\n',
  '\r\n',
  '\r\n\r\n',
  ':',
  ';',
  ' ',
  '\t',
  ',',
  '0',
  '1',
  'f',
  '\0',
  '\x0b',
  '\x85',
  '"',
  '-',
] as const;

/** `bytes` with a few marks put in, or in the place of others, where framing is. */
function mutateFraming(bytes: Buffer, random: Random): Buffer {
  let text = bytes.toString('latin1');
  for (let left = random.whole(1, 3); left > 0; left--) {
    const places = [...text.slice(0, 4_000).matchAll(/[\r\n:;]/g)].map(({ index }) => index);
    const at = (places[random.whole(0, places.length - 1)] ?? 0) + random.whole(0, 1);
    text = text.slice(0, at) + random.pick(['', ...MARKS]) + text.slice(at + random.whole(0, 2));
  }
  return Buffer.from(text, 'latin1');
}

/** What the gateway's reader says of an answer in these pieces. */
export function readCut(method: string, pieces: Iterable<Buffer>, closed: boolean): Told {
  let status = 0;
  let body = '';
  const onHead = (head: { status: number }): void => void (status = head.status);
  const onData = (data: Buffer): void => void (body += data.toString('latin1'));
  const reader = new AnswerReader(method, { onHead, onData });
  let rest = 0;
  try {
    for (const piece of pieces) rest += piece.length - (reader.complete ? 0 : reader.read(piece));
    if (closed) reader.end();
  } catch (error) {
    if (error instanceof BrokenAnswer) return { outcome: 'broken', status, body, keeps: false, rest: 0 };
    if (error instanceof CutOff) return { outcome: 'cut', status, body, keeps: false, rest: 0 };
    throw error;
  }
  if (!reader.complete) return { outcome: 'waiting', status, body, keeps: false, rest: 0 };
  return { outcome: 'answer', status, body, keeps: reader.keeps, rest };
}

/** The same bytes whole, byte by byte, or cut at random. */
function piecesOf(bytes: Buffer, random: Random): Buffer[] {
  const how = random.whole(0, 5);
  if (how === 0) return [bytes];
  if (how === 1 && bytes.length < 2_000) return Array.from(bytes, (_, at) => bytes.subarray(at, at + 1));
  const longest = random.pick([3, 40, 400, 4_000, 40_000]);
  const pieces: Buffer[] = [];
  for (let at = 0; at < bytes.length && pieces.length < 5_000;) {
    const end = pieces.length === 4_999 ? bytes.length : at + random.whole(1, longest);
    pieces.push(bytes.subarray(at, end));
    at = end;
  }
  return pieces;
}
