import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { fraction } from '#/meter/pricing/fraction.ts';
import { signSnapshot } from '#/meter/pricing/price-snapshot.ts';
import { openSnapshotFile, type PricesEvent, type SnapshotFile } from './price-snapshot-file.ts';

const { privateKey, publicKey } = generateKeyPairSync('ed25519');
const stranger = generateKeyPairSync('ed25519');
const DAY = 86_400_000;

let folder: string;
let events: PricesEvent[];
let opened: SnapshotFile | undefined;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'gatewarden-prices-'));
  events = [];
  writeFileSync(at('key.pub'), publicKey.export({ type: 'spki', format: 'pem' }));
});
afterEach(() => {
  opened?.close();
  opened = undefined;
  rmSync(folder, { recursive: true, force: true });
});

const at = (name: string): string => join(folder, name);
const told = (): readonly string[] => events.map(({ name }) => name);

function snapshot(input: string, builtAt = Date.now(), key: KeyObject = privateKey): string {
  const prices = new Map([['openai/a', [{ usd: new Map([['input', fraction(input)]]) }]]]);
  return signSnapshot({ builtAt, sources: [], tolerance: '0', differences: [], prices }, key);
}

function put(text: string): void {
  writeFileSync(at('next'), text);
  renameSync(at('next'), at('prices.json'));
}

async function open(): Promise<SnapshotFile> {
  opened = await openSnapshotFile({
    file: at('prices.json'),
    publicKeyFile: at('key.pub'),
    lastGoodFile: at('last-good'),
    maxAgeDays: 30,
    onEvent: (event) => events.push(event),
    pollMs: 5,
  });
  return opened;
}

const rate = (file: SnapshotFile): unknown => file.current().prices.get('openai/a')?.[0]?.usd.get('input');

test('a replaced file is taken over; one that does not verify is not, and the last good one stays', async () => {
  put(snapshot('1'));
  const file = await open();
  expect(rate(file)).toEqual(fraction('1'));
  put(snapshot('2'));
  await expect.poll(() => rate(file)).toEqual(fraction('2'));
  put(snapshot('3').replace('"3"', '"0.3"'));
  await expect.poll(told).toContain('prices.rejected');
  put(snapshot('4', Date.now(), stranger.privateKey));
  await expect.poll(() => told().filter((name) => name === 'prices.rejected')).toHaveLength(2);
  rmSync(at('prices.json'));
  await expect.poll(() => events.at(-1)).toEqual({ name: 'prices.rejected', why: 'ENOENT' });
  expect(rate(file)).toEqual(fraction('2'));
  put(snapshot('5'));
  await expect.poll(() => rate(file)).toEqual(fraction('5'));
});

test('a start without a good file uses the last good one, which is verified too', async () => {
  put(snapshot('1'));
  (await open()).close();
  put('{}');
  events = [];
  expect(rate(await open())).toEqual(fraction('1'));
  expect(told()).toEqual(['prices.rejected', 'prices.loaded']);
  expect(events.at(-1)).toMatchObject({ lastGood: true });
  opened?.close();
  writeFileSync(at('last-good'), snapshot('1').replace('"1"', '"0.1"'));
  await expect(open()).rejects.toThrow('no usable price snapshot');
});

test('a start without any good snapshot fails', async () => {
  await expect(open()).rejects.toThrow('no usable price snapshot');
  put(snapshot('1', Date.now(), stranger.privateKey));
  await expect(open()).rejects.toThrow('no usable price snapshot');
  put(snapshot('1'));
  writeFileSync(at('key.pub'), 'no key');
  await expect(open()).rejects.toThrow('no usable price snapshot');
});

test('either of several keys may have signed it', async () => {
  const pem = [stranger.publicKey, publicKey].map((key) => key.export({ type: 'spki', format: 'pem' })).join('');
  writeFileSync(at('key.pub'), pem);
  put(snapshot('1'));
  expect(rate(await open())).toEqual(fraction('1'));
});

test('an old one is reported once, and is used', async () => {
  put(snapshot('1', Date.now() - 31 * DAY - 1000));
  const file = await open();
  expect(events.at(-1)).toMatchObject({ name: 'prices.old', days: 31 });
  put(snapshot('2', Date.now() - 30 * DAY));
  await expect.poll(() => rate(file)).toEqual(fraction('2'));
  expect(told().filter((name) => name === 'prices.old')).toHaveLength(1);
});
