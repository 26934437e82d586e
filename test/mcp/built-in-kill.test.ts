import { afterAll, beforeAll, expect, test } from 'vitest';
import { expectBooksToAgree, startStack, type Stack } from '../failure/stack.ts';
import { ledgerRows } from '../harness/ledger-rows.ts';
import { REVISION, startModelsServer, type ModelsServer } from '../harness/models-server.ts';
import { ask } from './world.ts';

/** A gateway that dies while its own tools work. */

const ANSWER = { body: { answers: [{ probabilities: [0.75, 0.25], answer_confidence: 0.5 }], revision: REVISION } };
const ARGUMENTS = { state: 'It burns', questions: { urgent: { type: 'noul', instructions: 'It is urgent.' } } };
const CALLS = 20;

const cleanup = new AsyncDisposableStack();
let models: ModelsServer;
let stack: Stack;

beforeAll(async () => {
  models = cleanup.use(await startModelsServer());
  models.models.set('typed', () => ANSWER);
  stack = cleanup.use(await startStack({ env: { GW_INFERENCE: 'on', GW_INFERENCE_URL: models.url } }));
}, 60_000);
afterAll(() => cleanup.disposeAsync());

test('one row for every call, every hold settled, and the same call is served by the next process', async () => {
  const call = async (): Promise<unknown> =>
    (await ask(stack, 'modern', '/v1/mcp/gw', 'tools/call', { name: 'decide', arguments: ARGUMENTS })).status;
  const half = Promise.withResolvers<void>();
  let asked = 0;
  models.models.set('typed', () => {
    asked += 1;
    if (asked === CALLS) half.resolve();
    // Every other one is answered.
    return asked % 2 === 0 ? ANSWER : undefined;
  });
  const calling = Promise.allSettled(Array.from({ length: CALLS }, call));
  await half.promise;
  await stack.gateway.kill();
  await calling;
  models.models.set('typed', () => ANSWER);
  stack.gateway = await stack.another();
  expect(await call()).toBe(200);
  await expectBooksToAgree(stack, 1);
  const rows = (await ledgerRows(stack.databaseUrl)).filter(({ surface }) => surface === 'mcp');
  expect(new Set(rows.map(({ call_id: id }) => id)).size).toBe(rows.length);
  expect(rows.length).toBe(CALLS + 1);
  expect(new Set(rows.map(({ outcome }) => outcome))).toEqual(new Set(['served', 'abandoned']));
  for (const { model, outcome, cost_nano_eur: cost, held_nano_eur: held } of rows)
    expect([model, outcome === 'abandoned' ? cost : held]).toEqual(['gw/typed', held]);
}, 120_000);
