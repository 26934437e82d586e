import { hash } from 'node:crypto';

/** The link before the first row of a strand: SHA-256 of `gatewarden strand v1`, a line feed and the strand's id. */
export function genesis(strand: string): string {
  return hash('sha256', `gatewarden strand v1\n${strand}`, 'hex');
}

/** What a link is the hash of; filled and hashed at once, never kept. */
const both = Buffer.alloc(64);

/** The link of a row: SHA-256(link before || SHA-256(row)), both 32 bytes; links are passed as 64 hex digits. */
export function link(previousLink: string, canonicalRowText: string): string {
  writePrevious(previousLink);
  // As text of one byte a character: a buffer would cost more to make than to fill.
  both.write(hash('sha256', canonicalRowText, 'binary'), 32, 'latin1');
  return hash('sha256', both, 'hex');
}

/** As `link`, of a row of which nothing is known but its SHA-256 (32 bytes). */
export function linkOfHash(previousLink: string, rowHash: Uint8Array): string {
  if (rowHash.length !== 32) throw new RangeError('the hash of a row is 32 bytes');
  writePrevious(previousLink);
  both.set(rowHash, 32);
  return hash('sha256', both, 'hex');
}

function writePrevious(previousLink: string): void {
  if (previousLink.length !== 64 || both.write(previousLink, 0, 32, 'hex') !== 32) {
    throw new RangeError('a link is 64 hexadecimal digits');
  }
}
