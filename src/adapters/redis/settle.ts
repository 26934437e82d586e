import { CountersUnavailable, type SettleResult, type Ended, type Settlement } from '#/ports/limit-counters.ts';
import { encodeOwner } from './open-hold.ts';
import { runOn, type Store } from './store.ts';

const MOST_AT_ONCE = 500;
const RESULTS: readonly SettleResult[] = ['unknown', 'settled'];

/**
 * Settles one script call an organization, at most 500 holds each. When only some of them fail their settlements are
 * `busy`: to be asked again, like all when all fail and the promise rejects.
 */
export async function settleHolds(
  store: Store,
  settlements: readonly Ended[],
  owner: string | undefined,
): Promise<readonly SettleResult[]> {
  const results = settlements.map((): SettleResult => 'busy');
  const chunks = chunksOf(settlements);
  let fault: unknown;
  let failed = 0;
  await Promise.all(
    chunks.map(async ({ organization, positions }) => {
      try {
        const codes = await settleChunk(store, organization, settlements, positions, owner);
        for (const [i, position] of positions.entries()) results[position] = RESULTS[codes[i] ?? 2] ?? 'busy';
      } catch (error) {
        if (!(error instanceof CountersUnavailable)) throw error;
        fault = error;
        failed++;
      }
    }),
  );
  if (failed > 0 && failed === chunks.length) throw fault;
  return results;
}

interface Chunk {
  readonly organization: string;
  /** Places in the batch. */
  readonly positions: number[];
}

function chunksOf(settlements: readonly Settlement[]): readonly Chunk[] {
  const chunks: Chunk[] = [];
  const open = new Map<string, Chunk>();
  for (const [position, { organization }] of settlements.entries()) {
    let chunk = open.get(organization);
    if (!chunk || chunk.positions.length === MOST_AT_ONCE) {
      open.set(organization, (chunk = { organization, positions: [] }));
      chunks.push(chunk);
    }
    chunk.positions.push(position);
  }
  return chunks;
}

/** 1: settled, 0: unknown, for each; a lone 2: busy. */
async function settleChunk(
  store: Store,
  organization: string,
  settlements: readonly Ended[],
  positions: readonly number[],
  owner: string | undefined,
): Promise<readonly number[]> {
  const args = [store.clock(), owner === undefined ? '' : encodeOwner(owner)];
  for (const position of positions) {
    const { callId, cost, tokens, stays } = settlements[position]!;
    args.push(`${stays ? '~' : ''}${cost} ${tokens} ${callId}`);
  }
  const codes = (await runOn(store, 'settle', organization, args)) as readonly number[];
  return codes[0] === 2 ? [] : codes;
}
