import { createHash, generateKeyPairSync, sign, type KeyObject } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import type { Checkpoint, StrandHead } from '#/ports/checkpoints.ts';
import { StrandBuilder, storedRows, stream } from '../../../test/contract/ledger-rows.ts';
import { headsRoot, keyId, makeCheckpoint, NO_CHECKPOINT, spkiOf, statementHash, statementOf } from './checkpoint.ts';
import { createCheckpointer, signerAfter } from './checkpointer.ts';
import { auditPath, leafHash, merkleRoot, rootOfPath } from './merkle.ts';
import { verifyCheckpoints } from '../verify/checkpoint-check.ts';
import { verify } from '../verify/ledger-check.ts';

const { privateKey, publicKey } = generateKeyPairSync('ed25519');
const stranger = generateKeyPairSync('ed25519');
const publicKeys = [publicKey];

const sha256 = (...parts: Uint8Array[]) => createHash('sha256').update(Buffer.concat(parts)).digest();
const leaf = (text: string) => sha256(Buffer.from([0]), Buffer.from(text));
const node = (left: Buffer, right: Buffer) => sha256(Buffer.from([1]), left, right);

describe('merkleRoot', () => {
  const leaves = 'abcdefg'.split('').map((text) => Buffer.from(text));
  const [a, b, c, d, e, f, g] = 'abcdefg'.split('').map(leaf) as [
    Buffer,
    Buffer,
    Buffer,
    Buffer,
    Buffer,
    Buffer,
    Buffer,
  ];

  test.each([
    [0, createHash('sha256').digest()],
    [1, a],
    [2, node(a, b)],
    [3, node(node(a, b), c)],
    [5, node(node(node(a, b), node(c, d)), e)],
    // The tree of RFC 6962, section 2.1.3.
    [7, node(node(node(a, b), node(c, d)), node(node(e, f), g))],
  ])('of %i leaves is that of RFC 6962', (count, root) => {
    expect(merkleRoot(leaves.slice(0, count).map(leafHash)).toString('hex')).toBe(root.toString('hex'));
  });

  test('of eight leaves is balanced', () => {
    const eighth = Buffer.from('h');
    const right = node(node(e, f), node(g, leaf('h')));
    expect(merkleRoot([...leaves, eighth].map(leafHash))).toEqual(node(node(node(a, b), node(c, d)), right));
  });
});

describe('auditPath', () => {
  test('leads from each leaf to the root, for trees of every size, and from nothing else', () => {
    for (let size = 1; size <= 17; size++) {
      const leaves = Array.from({ length: size }, (_, index) => leafHash(Buffer.from([index])));
      const root = merkleRoot(leaves);
      for (let index = 0; index < size; index++) {
        const path = auditPath(leaves, index);
        expect(rootOfPath(leaves[index]!, index, size, path)).toEqual(root);
        expect(rootOfPath(leafHash(Buffer.from('x')), index, size, path)).not.toEqual(root);
        expect(rootOfPath(leaves[index]!, index, size, [...path, root])).not.toEqual(root);
        expect(rootOfPath(leaves[index]!, index + 1, size, path)).not.toEqual(root);
        if (path.length > 0) expect(rootOfPath(leaves[index]!, index, size, path.slice(1))).not.toEqual(root);
      }
    }
  });
});

/** Checkpoints over strands that grow by ten rows between them. */
function history(count: number): { checkpoints: Checkpoint[]; strands: StrandBuilder[]; heads: StrandHead[][] } {
  const strands = [
    new StrandBuilder('019aa000-0000-7000-8000-000000000001'),
    new StrandBuilder('019aa000-0000-7000-8000-000000000002'),
  ];
  const checkpoints: Checkpoint[] = [];
  const heads: StrandHead[][] = [];
  for (let index = 0; index < count; index++) {
    const grown = strands.map((strand) => {
      const { sequence, link } = strand.sealMany(10).at(-1)!;
      return { strand: strand.strand, sequence, link };
    });
    heads.push(grown);
    checkpoints.push(
      makeCheckpoint({ last: checkpoints.at(-1), heads: grown }, Date.UTC(2026, 10, 21, 9, index), privateKey),
    );
  }
  return { checkpoints, strands, heads };
}

describe('makeCheckpoint', () => {
  test('says what it is over, and names the one before', () => {
    const { checkpoints, heads } = history(2);
    const [first, second] = checkpoints as [Checkpoint, Checkpoint];
    expect(first).toMatchObject({ number: 1, previous: NO_CHECKPOINT, key: keyId(publicKey), heads: heads[0] });
    expect(second).toMatchObject({ number: 2, previous: createHash('sha256').update(first.statement).digest('hex') });
    expect(JSON.parse(first.statement)).toEqual({
      at: '2026-11-21T09:00:00.000Z',
      heads: 2,
      number: 1,
      previous: NO_CHECKPOINT,
      root: first.root,
      v: 1,
    });
    const leaves = heads[0]!.map(({ link, sequence, strand }) =>
      leaf(`{"link":"${link}","sequence":${sequence},"strand":"${strand}"}`),
    );
    expect(first.root).toBe(node(leaves[0]!, leaves[1]!).toString('hex'));
  });
});

describe('verifyCheckpoints', () => {
  test('finds nothing wrong with an intact chain', async () => {
    const { checkpoints, heads } = history(3);
    const last = checkpoints[2]!;
    const report = await verifyCheckpoints(stream(checkpoints), { publicKeys: [stranger.publicKey, publicKey] });
    expect(report).toMatchObject({ intact: true, count: 3, signaturesChecked: true });
    expect(report).not.toHaveProperty('fault');
    expect(report.last).toEqual({ number: 3, at: last.at, hash: statementHash(last.statement) });
    expect(report.vouched.get(heads[0]![0]!.strand)).toEqual(heads.map(([head]) => head));
  });

  test('takes an empty chain for intact, unless it is anchored', async () => {
    expect(await verifyCheckpoints(stream([]), { publicKeys })).toMatchObject({ intact: true, count: 0 });
    const report = await verifyCheckpoints(stream([]), { publicKeys, anchor: 'f'.repeat(64) });
    expect(report).toMatchObject({ intact: false, fault: { kind: 'removed', number: 0 } });
  });

  test('names a checkpoint that is missing', async () => {
    const { checkpoints } = history(4);
    for (const missing of [0, 1, 2]) {
      const report = await verifyCheckpoints(stream(checkpoints.toSpliced(missing, 1)), { publicKeys });
      expect(report.fault).toMatchObject({ kind: 'removed', number: missing + 2 });
    }
  });

  test('does not notice the last one missing but with an anchor', async () => {
    const { checkpoints } = history(4);
    const cut = checkpoints.slice(0, 3);
    expect((await verifyCheckpoints(stream(cut), { publicKeys })).intact).toBe(true);
    const anchor = statementHash(checkpoints[3]!.statement);
    expect((await verifyCheckpoints(stream(checkpoints), { publicKeys, anchor })).intact).toBe(true);
    expect((await verifyCheckpoints(stream(cut), { publicKeys, anchor })).fault).toMatchObject({
      kind: 'removed',
      number: 3,
    });
  });

  test.each([
    ['its time', (checkpoint: Checkpoint) => ({ ...checkpoint, at: checkpoint.at + 1 })],
    ['its time and its statement', (checkpoint: Checkpoint) => restated({ ...checkpoint, at: checkpoint.at + 1 })],
    ['its statement', (checkpoint: Checkpoint) => ({ ...checkpoint, statement: `${checkpoint.statement} ` })],
    ['its time, to none', (checkpoint: Checkpoint) => ({ ...checkpoint, at: Number.NaN })],
    [
      'a head',
      (checkpoint: Checkpoint) => ({
        ...checkpoint,
        heads: checkpoint.heads.map((head) => ({ ...head, sequence: 1 })),
      }),
    ],
    [
      'a head, root and statement',
      (checkpoint: Checkpoint) =>
        rerooted(
          checkpoint,
          checkpoint.heads.map((head) => ({ ...head, sequence: 1 })),
        ),
    ],
    ['a head left out', (checkpoint: Checkpoint) => ({ ...checkpoint, heads: checkpoint.heads.slice(1) })],
    ['the order of its heads', (checkpoint: Checkpoint) => ({ ...checkpoint, heads: checkpoint.heads.toReversed() })],
    ['its signature', (checkpoint: Checkpoint) => ({ ...checkpoint, signature: '00'.repeat(64) })],
    ['its signature, to none', (checkpoint: Checkpoint) => ({ ...checkpoint, signature: '' })],
  ])('names a checkpoint in which was edited %s, and does not let it vouch', async (_, edit) => {
    const { checkpoints, heads } = history(4);
    checkpoints[1] = edit(checkpoints[1]!);
    const report = await verifyCheckpoints(stream(checkpoints), { publicKeys });
    expect(report.fault).toMatchObject({ kind: 'edited', number: 2 });
    const trusted = [0, 2, 3].map((index) => heads[index]![0]);
    expect(report.vouched.get(heads[0]![0]!.strand)).toEqual(trusted);
  });

  test('names a checkpoint that somebody else signed', async () => {
    const { checkpoints } = history(3);
    const forged = {
      ...checkpoints[1]!,
      key: keyId(stranger.publicKey),
      publicKey: spkiOf(stranger.publicKey),
    };
    forged.signature = sign(null, Buffer.from(forged.statement), stranger.privateKey).toString('hex');
    const report = await verifyCheckpoints(stream(checkpoints.with(1, forged)), { publicKeys });
    expect(report.fault).toMatchObject({ kind: 'unsigned', number: 2 });
  });

  test('names the place where an older state was built upon anew', async () => {
    const { checkpoints, heads } = history(3);
    const other = makeCheckpoint({ last: checkpoints[0], heads: heads[1]!.slice(1) }, checkpoints[1]!.at, privateKey);
    const report = await verifyCheckpoints(stream(checkpoints.with(1, other)), { publicKeys });
    expect(report.fault).toMatchObject({ kind: 'replaced', number: 3 });
  });

  test('without keys checks all but the signatures, and says so', async () => {
    const { checkpoints } = history(3);
    const forged = { ...checkpoints[1]!, signature: '00'.repeat(64) };
    const report = await verifyCheckpoints(stream(checkpoints.with(1, forged)));
    expect(report).toMatchObject({ intact: true, signaturesChecked: false });
    const edited = restated({ ...checkpoints[1]!, at: 5 });
    expect((await verifyCheckpoints(stream(checkpoints.with(1, edited)))).fault).toMatchObject({
      kind: 'replaced',
      number: 3,
    });
  });

  test('keeps a bounded number of heads of a strand, its last among them', async () => {
    const strand = new StrandBuilder();
    const rows = strand.sealMany(3_001);
    const checkpoints: Checkpoint[] = [];
    for (const { sequence, link } of rows) {
      const heads = [{ strand: strand.strand, sequence, link }];
      checkpoints.push(makeCheckpoint({ last: checkpoints.at(-1), heads }, sequence, privateKey));
    }
    const report = await verifyCheckpoints(stream(checkpoints));
    const kept = report.vouched.get(strand.strand)!;
    expect(kept.length).toBeLessThanOrEqual(1_024);
    expect(kept.length).toBeGreaterThan(500);
    expect(kept.at(-1)!.sequence).toBe(3_001);
    expect(await verify(storedRows(rows), report)).toMatchObject({ intact: true, afterCheckpoints: 0 });
    expect((await verify(storedRows(rows.slice(0, 3_000)), report)).faults).toMatchObject([
      { kind: 'removed', missing: { from: 3_001, to: 3_001 } },
    ]);
  });
});

describe('a key that replaces another', () => {
  const newer = generateKeyPairSync('ed25519');

  /** Ten rows a checkpoint, signed as a gateway with these keys would. */
  function signedWith(checkpoints: Checkpoint[], strand: StrandBuilder, keys: readonly KeyObject[]): void {
    const { sequence, link } = strand.sealMany(10).at(-1)!;
    const input = { last: checkpoints.at(-1), heads: [{ strand: strand.strand, sequence, link }] };
    const { signer, introduces } = signerAfter(input.last, keys);
    checkpoints.push(makeCheckpoint(input, sequence, signer, introduces && { introduces }));
  }

  function rotated(): Checkpoint[] {
    const checkpoints: Checkpoint[] = [];
    const strand = new StrandBuilder();
    for (const keys of [[privateKey], [privateKey]]) signedWith(checkpoints, strand, keys);
    for (let more = 0; more < 3; more++) signedWith(checkpoints, strand, [newer.privateKey, privateKey]);
    return checkpoints;
  }

  test('is named by the one before, and signs from then on', async () => {
    const checkpoints = rotated();
    const [old, next] = [keyId(publicKey), keyId(newer.publicKey)];
    expect(checkpoints.map(({ key }) => key)).toEqual([old, old, old, next, next]);
    expect(checkpoints.map(({ introduces }) => introduces !== undefined)).toEqual([false, false, true, false, false]);
    expect(JSON.parse(checkpoints[2]!.statement)).toMatchObject({ v: 2, introduces: spkiOf(newer.publicKey) });
    for (const known of [publicKey, newer.publicKey]) {
      const report = await verifyCheckpoints(stream(checkpoints), { publicKeys: [known] });
      expect(report).toMatchObject({ intact: true, count: 5 });
      expect([...report.vouched.values()][0]).toHaveLength(5);
    }
  });

  test('is not trusted where nobody who is named it', async () => {
    const checkpoints: Checkpoint[] = [];
    const strand = new StrandBuilder();
    signedWith(checkpoints, strand, [privateKey]);
    signedWith(checkpoints, strand, [newer.privateKey]);
    for (const [known, number] of [
      [publicKey, 2],
      [newer.publicKey, 1],
      [stranger.publicKey, 2],
    ] as const) {
      const report = await verifyCheckpoints(stream(checkpoints), { publicKeys: [known] });
      expect(report.fault).toMatchObject({ kind: 'unsigned', number });
    }
    const both = [publicKey, newer.publicKey];
    expect(await verifyCheckpoints(stream(checkpoints), { publicKeys: both })).toMatchObject({ intact: true });
  });

  test('leaves the one before no word about anything after it', async () => {
    const checkpoints = rotated();
    const strand = new StrandBuilder();
    signedWith(checkpoints, strand, [privateKey]);
    for (const known of [[publicKey], [newer.publicKey], [publicKey, newer.publicKey], undefined]) {
      const report = await verifyCheckpoints(stream(checkpoints), known && { publicKeys: known });
      expect(report.fault).toMatchObject({ kind: 'unsigned', number: 6 });
      expect(report.vouched.has(strand.strand)).toBe(false);
    }
  });

  test('lets the one before sign until it signs itself, and may hand over to it again', async () => {
    const checkpoints: Checkpoint[] = [];
    const strand = new StrandBuilder();
    const [old, next] = [privateKey, newer.privateKey];
    // Gateways are restarted one after the other; then all of them are taken back to the first key.
    for (const keys of [[old], [next, old], [old], [next, old], [next, old], [old, next], [old, next], [old]])
      signedWith(checkpoints, strand, keys);
    const signers = checkpoints.map(({ key }) => (key === keyId(publicKey) ? 'old' : 'next'));
    expect(signers).toEqual(['old', 'old', 'old', 'old', 'next', 'next', 'old', 'old']);
    expect(await verifyCheckpoints(stream(checkpoints), { publicKeys })).toMatchObject({ intact: true, count: 8 });
    signedWith(checkpoints, strand, [next]);
    const report = await verifyCheckpoints(stream(checkpoints), { publicKeys: [publicKey, newer.publicKey] });
    expect(report.fault).toMatchObject({ kind: 'unsigned', number: 9 });
  });

  test('is not taken from a statement that was not signed', async () => {
    const checkpoints = rotated();
    const forged = { ...checkpoints[2]!, introduces: spkiOf(stranger.publicKey) };
    checkpoints[2] = restated(forged);
    const report = await verifyCheckpoints(stream(checkpoints), { publicKeys });
    expect(report.fault).toMatchObject({ kind: 'edited', number: 3 });
  });

  test('silences a gateway that has the old one alone', async () => {
    const strand = new StrandBuilder();
    const saved: Checkpoint[] = [];
    const faults: unknown[] = [];
    const again: unknown[] = [];
    const grow = () => {
      const { sequence, link } = strand.sealMany(1)[0]!;
      return [{ strand: strand.strand, sequence, link }];
    };
    const store = {
      heads: () => Promise.resolve({ last: saved.at(-1), heads: grow() }),
      saveCheckpoint: (checkpoint: Checkpoint) => Promise.resolve(void saved.push(checkpoint)),
      checkpoints: () => stream(saved),
    };
    const onFault = (error: unknown): void => void faults.push(error);
    const old = createCheckpointer({ store, keys: [privateKey], onFault });
    const updated = createCheckpointer({ store, keys: [newer.privateKey, privateKey], onFault });
    for (const each of [old, updated, updated, old, updated]) await each.make();
    // One that was started anew knows no more than what is stored.
    await createCheckpointer({ store, keys: [privateKey], onFault: (error) => again.push(error) }).make();
    expect(again).toHaveLength(1);
    expect(saved.map(({ key }) => key === keyId(newer.publicKey))).toEqual([false, false, true, true]);
    expect(faults).toMatchObject([{ message: expect.stringContaining('newer checkpoint key') as string }]);
    expect(await verifyCheckpoints(stream(saved), { publicKeys })).toMatchObject({ intact: true });
  });
});

function restated(checkpoint: Checkpoint): Checkpoint {
  return { ...checkpoint, statement: statementOf(checkpoint) };
}

function rerooted(checkpoint: Checkpoint, heads: readonly StrandHead[]): Checkpoint {
  return restated({ ...checkpoint, heads, root: headsRoot(heads) });
}
