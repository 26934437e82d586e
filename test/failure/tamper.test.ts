import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { evidenceOf } from '#/adapters/postgres/snapshot.ts';
import { exportLines } from '#/seal/export/export-lines.ts';
import type { CheckpointTrust } from '#/seal/verify/checkpoint-check.ts';
import { verifyExport } from '#/seal/verify/export-check.ts';
import { verifyEvidence } from '../../src/cli/audit/verify.ts';
import { collect, stream } from '../contract/ledger-rows.ts';
import { CHANGES } from './tamper-changes.ts';
import { locates, type Place } from './tamper-places.ts';
import { Chance, tamperWorld, type TamperWorld } from './tamper-world.ts';

/** Whoever can write to every table, past every trigger, but has no key: one change, and it is found where it was made. */

const CASES = Number(process.env['TAMPER_CASES'] ?? 1_000);
const SEED = Number(process.env['TAMPER_SEED'] ?? Date.now() % 1e9);

let world: TamperWorld;
let trust: CheckpointTrust;
beforeAll(async () => {
  world = await tamperWorld(inject('databaseUrl'));
  const anchored = new Map<number, string[]>();
  for await (const { number, statement } of world.ledger.checkpoints()) anchored.set(number, [statement]);
  trust = { publicKeys: world.publicKeys, anchored };
});
afterAll(() => world[Symbol.asyncDispose]());

describe('the ledger', () => {
  test('is intact before, with everything in it that is tampered with', async () => {
    const { rows, checkpoints, sums, credit } = await verifyEvidence(evidenceOf(world.client), trust);
    expect(credit).toEqual({
      intact: true,
      entries: 10,
      organizations: 2,
      adopted: 0,
      afterCheckpoints: 0,
      faults: [],
    });
    expect({ faults: rows.faults, fault: checkpoints.fault, sums }).toEqual({ faults: [], fault: undefined, sums: [] });
    expect(rows).toMatchObject({ strands: 4, superseded: 1, withheld: 6, afterCheckpoints: 0 });
    expect(checkpoints.dropped).toMatchObject({ before: '2026-08', strands: 4, rows: 106 });
    expect(rows.rows).toBe(4 * 76 + 1 - 6);
  });

  test(
    `${CASES} single changes are found, each where it was made (TAMPER_SEED=${SEED})`,
    { timeout: 900_000 },
    async () => {
      const missed: string[] = [];
      for (let index = 0; index < CASES; index++) {
        const chance = new Chance(SEED + index * 7_919);
        const outcome = await tried(chance, index);
        if (outcome !== undefined) missed.push(`TAMPER_SEED=${SEED}, number ${index}: ${outcome}`);
      }
      expect(missed).toEqual([]);
    },
  );
});

/** What went wrong with one case; undefined when it was found. */
async function tried(chance: Chance, index: number): Promise<string | undefined> {
  const { client } = world;
  const [name, change] = CHANGES[index % CHANGES.length]!;
  let places: readonly Place[] | undefined;
  while (places === undefined) {
    await client.query('BEGIN');
    try {
      await client.query('SET LOCAL session_replication_role = replica');
      places = await change(client, chance);
      if (places === undefined) continue;
      const findings = await verifyEvidence(evidenceOf(client), trust);
      if (locates(findings, places)) return undefined;
      const { rows, checkpoints, sums, credit } = findings;
      const found = { faults: rows.faults, checkpoint: checkpoints.fault, sums, credit: credit?.faults };
      return `${name}, at ${JSON.stringify(places.slice(0, 3))}; found: ${JSON.stringify(found)}`;
    } finally {
      await client.query('ROLLBACK');
    }
  }
  return undefined;
}

describe('an export', () => {
  let lines: string[];
  beforeAll(async () => {
    lines = (await collect(exportLines(evidenceOf(world.client), 'team/acme', Date.UTC(2026, 10, 21)))).map((line) =>
      line.slice(0, -1),
    );
  });

  test('is intact, shows what is theirs and nothing of others', async () => {
    const report = await verifyExport(stream(lines), trust);
    expect(report).toMatchObject({ intact: true, organization: 'team/acme' });
    expect(report.rows.withheld).toBeGreaterThan(90);
    expect(report.rows.rows + report.rows.withheld).toBe(4 * 76 + 1);
    expect(lines.join('\n')).not.toContain('team/other');
    for await (const row of world.ledger.rows()) {
      if (row.organization !== 'team/other' || row.superseded) continue;
      const shown = lines.some((line) => line.includes(`call_id\\":\\"${row.callId}`));
      expect(shown).toBe(false);
    }
  });

  test('in which a checkpoint was written another way, the end made anew, is not', { timeout: 600_000 }, async () => {
    const line = lines[1]!;
    // The statement is signed. What comes after it is only told to be right by being read in one way alone.
    const from = line.indexOf('"key"');
    expect(from).toBeGreaterThan(0);
    for (let at = from; at < line.length; at++) {
      const was = line[at]!;
      const other = was === was.toUpperCase() ? was.toLowerCase() : was.toUpperCase();
      if (other === was) continue;
      const changed = lines.with(1, line.slice(0, at) + other + line.slice(at + 1));
      const report = await verifyExport(stream(redigested(changed)), trust);
      expect(report.intact, `${line.slice(0, at)}>${other}`).toBe(false);
    }
  });

  test('in which a single character or line was changed is not', { timeout: 600_000 }, async () => {
    for (let index = 0; index < 400; index++) {
      const chance = new Chance(SEED + index);
      const at = chance.below(lines.length);
      const line = lines[at]!;
      const kinds = [
        () => lines.with(at, chance.character(line)),
        () => lines.toSpliced(at, 1),
        () => lines.toSpliced(at, 0, line),
        () => lines.slice(0, at),
        () => lines.with(at, lines[(at + 1) % lines.length]!).with((at + 1) % lines.length, line),
      ];
      const changed = kinds[index % kinds.length]!();
      if (changed.length === lines.length && changed.every((each, place) => each === lines[place])) continue;
      const report = await verifyExport(stream(changed), trust);
      expect(report.intact, `TAMPER_SEED=${SEED}, number ${index}, line ${at + 1}`).toBe(false);
    }
  });

  test('of which the end was made anew after a change is not, either', { timeout: 600_000 }, async () => {
    for (let index = 0; index < 400; index++) {
      const chance = new Chance(SEED - index);
      // The first line is its maker's own word; the last one is made anew.
      const at = 1 + chance.below(lines.length - 2);
      const changed = lines.with(at, chance.character(lines[at]!));
      const report = await verifyExport(stream(redigested(changed)), trust);
      expect(report.intact, `TAMPER_SEED=${SEED}, number ${index}, line ${at + 1}: ${changed[at]}`).toBe(false);
    }
  });
});

function redigested(lines: readonly string[]): string[] {
  const body = lines.slice(0, -1);
  const sha256 = createHash('sha256')
    .update(body.map((line) => `${line}\n`).join(''))
    .digest('hex');
  const last = JSON.parse(lines.at(-1)!) as { end: object };
  return [...body, JSON.stringify({ end: { ...last.end, sha256 } })];
}
