import type { PublishedHead } from '#/config/published/config-store.ts';
import { sortedJson } from '#/values/sorted-json.ts';
import type { ConfigKeys } from './config-keys.ts';

/** Digests of segments, by name: SHA-256 (hex) of their texts. */
export type Manifest = ReadonlyMap<string, string>;

const VERSION = 1;
const NAME = /^[a-z]+(?:-[0-9a-f]{1,2})?$/;
const DIGEST = /^[0-9a-f]{64}$/;

/** A head that names these segments, signed for its position. */
export function signHead(epoch: number, seq: number, segments: Manifest, keys: ConfigKeys): PublishedHead {
  const manifest = sortedJson({ version: VERSION, segments: Object.fromEntries(segments) });
  return { epoch, seq, manifest, signature: keys.sign(signedText(epoch, seq, manifest)) };
}

/** The segments of a head, or undefined when it was not signed with a key of ours, for this position, as it is. */
export function readHead({ epoch, seq, manifest, signature }: PublishedHead, keys: ConfigKeys): Manifest | undefined {
  if (!keys.verify(signedText(epoch, seq, manifest), signature)) return undefined;
  const { version, segments } = JSON.parse(manifest) as { version: unknown; segments: Record<string, string> };
  if (version !== VERSION) return undefined;
  const entries = Object.entries(segments);
  return entries.every(([name, digest]) => NAME.test(name) && DIGEST.test(digest)) ? new Map(entries) : undefined;
}

function signedText(epoch: number, seq: number, manifest: string): string {
  return `${epoch} ${seq} ${manifest}`;
}
