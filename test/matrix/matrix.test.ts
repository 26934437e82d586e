import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { newKey, startGateway, type GatewayProcess } from '../harness/gateway.ts';
import { createDatabase } from '../harness/postgres.ts';
import { CASES, marked, markOf } from './cases.ts';
import { refusalOf, type Cell } from './cell.ts';
import { expectAsked } from './expect-asked.ts';
import { RowBook } from './expect-rows.ts';
import { expectFailure, expectTold, isOverloaded } from './expect-told.ts';
import { KINDS, matrixResources } from './kinds/kinds.ts';
import { startStandIn, type StandIn } from './stand-in/stand-in.ts';
import { chat } from './surfaces/chat.ts';
import { messages } from './surfaces/messages.ts';
import { responses } from './surfaces/responses.ts';

/** Every surface, buffered and streamed, to every kind of provider, in every case: no cell is empty. */

const SURFACES = [chat, messages, responses];
const MODES = [false, true];
const key = newKey();
const rows = new RowBook();
const ran = new Set<string>();
let standIn: StandIn;
let gateway: GatewayProcess;
let databaseUrl: string;

beforeAll(async () => {
  standIn = await startStandIn();
  databaseUrl = await createDatabase(inject('databaseUrl'));
  gateway = await startGateway({ resources: matrixResources(standIn.url, key), databaseUrl });
});

afterAll(async () => {
  await gateway?.stop();
  await standIn?.close();
});

const CELLS = SURFACES.flatMap((surface) =>
  MODES.flatMap((stream) => KINDS.flatMap((kind) => CASES.map((one) => ({ surface, stream, kind, one })))),
).map(({ surface, stream, kind, one }, index): Cell => {
  const mark = markOf(index);
  const cell = { surface, stream, kind, one: marked(one, mark), mark };
  const refusal = refusalOf(cell);
  const name = [surface.name, stream ? 'stream' : 'buffered', kind.name, one.name].join(' · ');
  return { ...cell, name: refusal ? `${name} · refused: ${refusal.why}` : name };
});

describe('cells', () => {
  test.for(CELLS)('$name', async (cell) => {
    ran.add(cell.mark);
    standIn.cast(cell.mark, cell);
    if (refusalOf(cell)) await expectRefusal(cell);
    else if (cell.one.ending === 'hang-up') await expectHangUp(cell);
    else await expectAnswer(cell);
  });
});

test('no cell is empty', () => {
  expect(ran.size).toBe(SURFACES.length * MODES.length * KINDS.length * CASES.length);
});

test('every call left the row it should', async () => {
  expect(await rows.differences(databaseUrl)).toEqual([]);
});

function ask({ surface, stream, kind, one }: Cell, signal?: AbortSignal): Promise<Response> {
  return fetch(gateway.url + surface.path, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...surface.headers(key) },
    body: JSON.stringify(surface.ask(one, `${kind.name}/${kind.model}`, stream, kind.budget && 'budget')),
    ...(signal && { signal }),
  });
}

async function expectAnswer(cell: Cell): Promise<void> {
  const { surface, stream, one } = cell;
  const answer = await ask(cell);
  const bytes = await answer.bytes();
  const said = Buffer.from(bytes).toString('utf8');
  expect(standIn.arrivals(cell.mark), said).toHaveLength(1);
  for (const arrival of standIn.arrivals(cell.mark)) expectAsked(cell, arrival, key);
  const isStream = answer.headers.get('content-type')?.startsWith('text/event-stream') === true;
  if (one.ending === 'error' || one.ending === 'truncated') {
    expect(isStream).toBe(stream);
    const told = isStream ? surface.readStream(bytes) : undefined;
    expectFailure(cell, answer.status, isStream ? undefined : JSON.parse(said), told);
    const [status, code] = isOverloaded(cell) ? [503, 'upstream_overloaded'] : [502, 'upstream_error'];
    rows.expect(answer, cell, { outcome: 'failed', status, code });
    return;
  }
  expect(answer.status, said).toBe(200);
  expect(isStream).toBe(stream);
  expectTold(cell, stream ? surface.readStream(bytes) : surface.read(bytes));
  rows.expect(answer, cell, { outcome: 'served', status: 200, code: null });
}

/** A cell that cannot be served says so itself, in the surface's words, and asks nobody. */
async function expectRefusal(cell: Cell): Promise<void> {
  const { surface } = cell;
  const refusal = refusalOf(cell);
  const answer = await ask(cell);
  const body: unknown = await answer.json();
  expect(answer.status).toBe(refusal?.status);
  expect(surface.error(body).type).toBe(surface.errorType[answer.status]);
  expect(surface.error(body).message).toMatch(refusal?.message ?? '');
  expect(standIn.arrivals(cell.mark)).toHaveLength(0);
  rows.expect(answer, cell, { outcome: 'refused', status: answer.status, code: refusal?.code ?? null });
}

/** A client that leaves takes its provider's connection with it. */
async function expectHangUp(cell: Cell): Promise<void> {
  const gone = new AbortController();
  const asking = ask(cell, gone.signal);
  const arrival = await Promise.race([standIn.arrival(cell.mark), asking.then(({ status }) => status)]);
  if (typeof arrival === 'number') throw new Error(`answered with ${arrival} before the provider was asked`);
  expectAsked(cell, arrival, key);
  if (cell.stream) {
    const answer = await asking;
    await readUntil(answer, cell.one.answer.text?.slice(0, 5) ?? '');
    rows.expect(answer, cell, { outcome: 'hung_up', status: 499, code: null });
    gone.abort();
  } else {
    gone.abort();
    await expect(asking).rejects.toThrow('abort');
    rows.expectHungUp(cell);
  }
  expect(await arrival.ended).toBe('left');
}

async function readUntil(answer: Response, words: string): Promise<void> {
  let said = '';
  const reader = answer.body?.pipeThrough(new TextDecoderStream()).getReader();
  while (!said.includes(words)) {
    const piece = await reader?.read();
    if (!piece || piece.done) throw new Error(`the stream ended before it said ${words}: ${said}`);
    said += piece.value;
  }
}
