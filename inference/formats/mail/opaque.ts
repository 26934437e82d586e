/** Also in quotes. Signed text without encryption can be read. */
const BEGIN = /^[>| ]{0,20}-----BEGIN ((?!PGP SIGNED)[A-Z0-9 ]{1,40})-----\s*$/;
const UUENCODED = /^[>| ]{0,20}begin(?:-base64)? [0-7]{3,4} \S/;
const YENC = /^=ybegin /;
/** Readers must see that something is missing. */
const GONE = '[a part that cannot be inspected was removed here]';

/** A text without encrypted or encoded parts: blocks of PGP and keys, and uuencoded files. */
export function withoutOpaque(text: string): string {
  const kept: string[] = [];
  let end: ((line: string) => boolean) | undefined;
  for (const line of text.split('\n')) {
    if (end) {
      if (end(line)) end = undefined;
      continue;
    }
    const kind = BEGIN.exec(line)?.[1];
    if (kind !== undefined) end = (one) => one.includes(`-----END ${kind}-----`);
    else if (UUENCODED.test(line)) end = (one) => /^[>| ]{0,20}(?:end|====)\s*$/.test(one);
    else if (YENC.test(line)) end = (one) => one.startsWith('=yend ');
    kept.push(end ? GONE : line);
  }
  return kept.join('\n');
}
