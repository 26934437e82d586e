const BEGIN = /^-----BEGIN PGP (MESSAGE|PUBLIC KEY BLOCK|PRIVATE KEY BLOCK|SIGNATURE)-----\s*$/;
const UUENCODED = /^begin(?:-base64)? [0-7]{3,4} \S/;
/** Whoever reads it must see that something is missing. */
const GONE = '[a part that cannot be looked into was removed here]';

/** A text without what is locked or in an encoding of its own in it: PGP's blocks, and files as mail carried them once. */
export function withoutOpaque(text: string): string {
  const kept: string[] = [];
  let end: ((line: string) => boolean) | undefined;
  for (const line of text.split('\n')) {
    if (end) {
      if (end(line)) end = undefined;
      continue;
    }
    const kind = BEGIN.exec(line)?.[1];
    if (kind !== undefined) end = (one) => one.startsWith(`-----END PGP ${kind}-----`);
    else if (UUENCODED.test(line)) end = (one) => /^(?:end|====)\s*$/.test(one);
    kept.push(end ? GONE : line);
  }
  return kept.join('\n');
}
