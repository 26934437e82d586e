import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  appendFileSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { HoldRequest, OpenHold } from '#/ports/limit-counters.ts';
import { openMemoryCounters, type MemoryLimitCounters } from './limit-counters.ts';

const ORGANIZATION = 'default/acme';
const COUNTERS = new URL('./limit-counters.ts', import.meta.url).href;
let folder: string;
let journal: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'gatewarden-journal-'));
  journal = join(folder, 'holds.journal');
});
afterEach(() => rmSync(folder, { recursive: true }));

function request(callId: string, overrides: Partial<HoldRequest> = {}): HoldRequest {
  return {
    callId,
    owner: 'gateway-1',
    organization: ORGANIZATION,
    workload: 'default/w1',
    at: 1_763_726_400_000,
    periods: { day: '2026-11-21', month: '2026-11' },
    amount: 2n ** 60n + 1n,
    tokens: 5,
    draft: '{"note":"ünï\n\u2028"}',
    ...overrides,
  };
}

const settlement = (callId: string) => ({ callId, organization: ORGANIZATION, cost: 1n, tokens: 0 });

/** The open holds after a restart. */
async function reopened(): Promise<readonly OpenHold[]> {
  const counters = openMemoryCounters({ journal });
  const { holds } = await counters.view(ORGANIZATION);
  await counters.close();
  return holds;
}

const ids = (holds: readonly OpenHold[]): string[] => holds.map((hold) => hold.callId);

async function placeAll(counters: MemoryLimitCounters, callIds: readonly string[]): Promise<void> {
  for (const callId of callIds) expect((await counters.hold(request(callId))).kind).toBe('granted');
}

describe('the journal', () => {
  test('keeps only open holds over a restart; the new process takes them over', async () => {
    const counters = openMemoryCounters({ journal });
    await counters.takeOver([ORGANIZATION], 'gateway-1', 60_000);
    await placeAll(counters, ['c1', 'c2', 'c3']);
    await counters.settle([settlement('c2'), settlement('c9')]);
    await counters.restore(ORGANIZATION, [request('c4')], async () => ({
      periods: { day: '2026-11-21', month: '2026-11' },
      organization: { total: 0n, day: 0n, month: 0n },
      workloads: new Map(),
    }));
    await counters.close();

    const next = openMemoryCounters({ journal });
    const { holds, spend } = await next.view(ORGANIZATION);
    expect(holds).toEqual(['c1', 'c3', 'c4'].map((callId) => request(callId)));
    expect(spend).toEqual([]);
    const budget = { workloadBudget: { amount: 2n ** 62n, period: 'total' } } as const;
    expect(await next.hold(request('c5', budget))).toEqual({ kind: 'cold' });
    expect(ids((await next.takeOver([ORGANIZATION], 'gateway-2', 60_000)).holds)).toEqual(['c1', 'c3', 'c4']);
    await next.close();
  });

  test('is private', async () => {
    await openMemoryCounters({ journal }).close();
    expect(statSync(journal).mode & 0o077).toBe(0);
  });

  test('a last line torn at any byte is as if never written', async () => {
    const counters = openMemoryCounters({ journal });
    await placeAll(counters, ['c1', 'c2']);
    await counters.close();
    const whole = readFileSync(journal);
    const secondLine = whole.indexOf('\n') + 1;
    for (let length = secondLine; length < whole.length; length++) {
      writeFileSync(journal, whole.subarray(0, length));
      expect(ids(await reopened())).toEqual(['c1']);
      // A torn line is lost: the next line does not continue it.
      const again = openMemoryCounters({ journal });
      await placeAll(again, ['c3']);
      await again.close();
      expect(ids(await reopened())).toEqual(['c1', 'c3']);
    }
  });

  test.each(['nonsense\n', '["hold","too short"]\n', '{}\n', '\n'])(
    'other damage is not passed over: %j',
    async (damage) => {
      const counters = openMemoryCounters({ journal });
      await placeAll(counters, ['c1']);
      await counters.close();
      appendFileSync(journal, damage);
      expect(() => openMemoryCounters({ journal })).toThrow('line 2');
      truncateSync(journal, statSync(journal).size - damage.length);
      expect(ids(await reopened())).toEqual(['c1']);
    },
  );

  test('knows what a call that is over has given back', async () => {
    const counters = openMemoryCounters({ journal });
    await placeAll(counters, ['c1', 'c2']);
    await counters.settle([{ ...settlement('c1'), stays: true }]);
    await counters.settle([settlement('c2')]);
    await counters.close();
    expect((await reopened()).map(({ callId, amount }) => [callId, amount])).toEqual([['c1', 1n]]);
  });

  test('does not grow for ever', async () => {
    const counters = openMemoryCounters({ journal });
    await placeAll(counters, ['stays']);
    const draft = 'x'.repeat(10_000);
    let largest = 0;
    for (let i = 0; i < 500; i++) {
      await counters.hold(request(`c${i}`, { draft }));
      await counters.settle([settlement(`c${i}`)]);
      largest = Math.max(largest, statSync(journal).size);
    }
    expect(largest).toBeLessThan(1.5 * 1024 * 1024);
    await placeAll(counters, ['last']);
    await counters.close();
    expect(ids(await reopened())).toEqual(['stays', 'last']);
    expect(existsSync(`${journal}.new`)).toBe(false);
  });

  test('a closed one takes no more holds', async () => {
    const counters = openMemoryCounters({ journal });
    await counters.close();
    await expect(counters.hold(request('c1'))).rejects.toMatchObject({ name: 'CountersUnavailable' });
    expect((await counters.view(ORGANIZATION)).holds).toEqual([]);
  });
});

/** A process of its own that places (and sometimes settles) holds, and says each decision once it has it. */
const PLACE_HOLDS = `
  const { openMemoryCounters } = await import(${JSON.stringify(COUNTERS)});
  const { writeSync } = await import('node:fs');
  const counters = openMemoryCounters({ journal: process.argv[1] });
  const base = { owner: 'o', organization: '${ORGANIZATION}', workload: 'w', at: 1, amount: 7n, tokens: 0,
    periods: { day: '2026-11-21', month: '2026-11' }, draft: 'd'.repeat(300) };
  for (let i = 0; ; i++) {
    try {
      await counters.hold({ ...base, callId: 'c' + i });
    } catch (error) {
      writeSync(1, error.name + '\\n');
      break;
    }
    writeSync(1, 'held c' + i + '\\n');
    if (i % 3 === 2) {
      await counters.settle([{ callId: 'c' + i, organization: base.organization, cost: 1n, tokens: 0 }]);
      writeSync(1, 'settled c' + i + '\\n');
    }
  }
`;

describe('the process', () => {
  test('killed at any moment: every hold that was granted is there, every one that was settled is not', async () => {
    for (const lines of [1, 20, 300]) {
      rmSync(journal, { force: true });
      const child = spawn(process.execPath, ['--input-type=module', '-e', PLACE_HOLDS, journal], {
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      const said: string[] = [];
      for await (const line of createInterface({ input: child.stdout })) {
        said.push(line);
        if (said.length === lines) child.kill('SIGKILL');
      }
      if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
      expect(child.signalCode).toBe('SIGKILL');
      const open = new Set(ids(await reopened()));
      const settled = new Set(said.filter((line) => line.startsWith('settled')).map((line) => line.split(' ')[1]!));
      const held = said.filter((line) => line.startsWith('held')).map((line) => line.split(' ')[1]!);
      for (const callId of held.slice(0, -1))
        expect([callId, open.has(callId)]).toEqual([callId, !settled.has(callId)]);
      // The last may have been settled without a word.
      const extra = [...open].filter((callId) => !held.includes(callId));
      expect(extra.length).toBeLessThanOrEqual(1);
    }
  });

  test('out of disk: the hold is refused, half a line is undone, granted holds stay', async () => {
    const script = `trap '' XFSZ; ulimit -f 5; exec "$0" --input-type=module -e "$1" "$2"`;
    const said = execFileSync('bash', ['-c', script, process.execPath, PLACE_HOLDS, journal], { encoding: 'utf8' })
      .trim()
      .split('\n');
    expect(said.at(-1)).toBe('CountersUnavailable');
    const settled = said.filter((line) => line.startsWith('settled')).map((line) => line.split(' ')[1]!);
    const held = said.filter((line) => line.startsWith('held')).map((line) => line.split(' ')[1]!);
    expect(held.length).toBeGreaterThan(5);
    expect(readFileSync(journal, 'utf8')).toMatch(/\n$/);
    expect(ids(await reopened())).toEqual(held.filter((callId) => !settled.includes(callId)));
  });
});
