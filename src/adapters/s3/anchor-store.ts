import { createHash } from 'node:crypto';
import type { AnchorRecord, AnchorStore } from '#/ports/checkpoints.ts';
import { S3Client, S3Error, type S3Address } from './signed-request.ts';
import { listed, type ListedVersion } from './versions.ts';

export interface S3AnchorOptions extends S3Address {
  /** Before the names, without slashes at its ends; may be empty. */
  readonly prefix: string;
  /** COMPLIANCE: not even the account's owner can shorten it. GOVERNANCE: users with a special permission can. */
  readonly mode: 'COMPLIANCE' | 'GOVERNANCE';
  /** How long a copy is locked from when it is put. */
  readonly retentionDays: number;
}

export interface S3AnchorStore extends AnchorStore {
  close(): Promise<void>;
}

const DAY_MS = 86_400_000;
const DIGITS = 8;

/** Copies of checkpoints in a bucket with object lock, `prefix/00000123.json` each. */
export function openS3Anchors(options: S3AnchorOptions): S3AnchorStore {
  const client = new S3Client(options);
  const folder = options.prefix === '' ? '' : `${options.prefix}/`;
  return {
    put: (record) => put(client, options, folder, record),
    numbers: (after) => numbers(client, folder, after),
    records: () => records(client, folder),
    close: () => client.close(),
  };
}

async function put(
  client: S3Client,
  { mode, retentionDays }: S3AnchorOptions,
  folder: string,
  { number, body }: AnchorRecord,
): Promise<void> {
  const { status, bytes } = await client.send({
    method: 'PUT',
    key: keyOf(folder, number),
    headers: {
      'content-type': 'application/json',
      // Asked for wherever a lock is set.
      'content-md5': createHash('md5').update(body).digest('base64'),
      'if-none-match': '*',
      'x-amz-object-lock-mode': mode,
      'x-amz-object-lock-retain-until-date': new Date(Date.now() + retentionDays * DAY_MS).toISOString(),
    },
    body,
  });
  // 412: another gateway was quicker.
  if (status !== 200 && status !== 412) throw new S3Error(status, bytes.toString('utf8'));
}

async function* numbers(client: S3Client, folder: string, after: number): AsyncGenerator<number> {
  let token: string | undefined;
  do {
    const query = {
      'list-type': '2',
      prefix: folder,
      'start-after': keyOf(folder, after),
      ...(token !== undefined && { 'continuation-token': token }),
    };
    const { status, bytes } = await client.send({ method: 'GET', key: '', query });
    if (status !== 200) throw new S3Error(status, bytes.toString('utf8'));
    const page = listed(bytes.toString('utf8'));
    for (const { key } of page.versions) {
      const number = numberOf(folder, key);
      if (number !== undefined) yield number;
    }
    token = page.next['NextContinuationToken'];
  } while (token !== undefined);
}

async function* records(client: S3Client, folder: string): AsyncGenerator<AnchorRecord> {
  let same: ListedVersion[] = [];
  for await (const version of versions(client, folder)) {
    if (same[0] && same[0].key !== version.key) {
      yield* fetched(client, folder, same);
      same = [];
    }
    same.push(version);
  }
  yield* fetched(client, folder, same);
}

async function* versions(client: S3Client, folder: string): AsyncGenerator<ListedVersion> {
  let marker: Readonly<Record<string, string>> = {};
  for (;;) {
    const query = { versions: '', prefix: folder, ...marker };
    const { status, bytes } = await client.send({ method: 'GET', key: '', query });
    if (status !== 200) throw new S3Error(status, bytes.toString('utf8'));
    const { versions: page, next } = listed(bytes.toString('utf8'));
    yield* page;
    const { NextKeyMarker: key, NextVersionIdMarker: id } = next;
    if (key === undefined) return;
    marker = { 'key-marker': key, ...(id !== undefined && { 'version-id-marker': id }) };
  }
}

/** The bodies of an object's versions, which are listed newest first. */
async function* fetched(
  client: S3Client,
  folder: string,
  list: readonly ListedVersion[],
): AsyncGenerator<AnchorRecord> {
  for (const { key, versionId } of list.toReversed()) {
    const number = numberOf(folder, key);
    if (number === undefined) continue;
    const query = versionId === undefined ? {} : { versionId };
    const { status, bytes } = await client.send({ method: 'GET', key, query });
    if (status !== 200) throw new S3Error(status, bytes.toString('utf8'));
    yield { number, body: bytes.toString('utf8') };
  }
}

function keyOf(folder: string, number: number): string {
  return `${folder}${String(number).padStart(DIGITS, '0')}.json`;
}

function numberOf(folder: string, key: string): number | undefined {
  if (!key.startsWith(folder)) return undefined;
  const digits = /^(\d{8,15})\.json$/.exec(key.slice(folder.length))?.[1];
  return digits === undefined ? undefined : Number(digits);
}
