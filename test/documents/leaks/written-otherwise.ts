const BASE64_LINES = /(?:^[A-Za-z0-9+/]{1,76}={0,2}\r?\n)+(?:^[A-Za-z0-9+/]{1,76}={0,2}(?:\r?\n)?)?/gm;

/** Everything in a mail that is written in an encoding of its own, by how it looks: parts, words of heads, quoted letters. */
export function partsOfMail(bytes: Uint8Array): readonly Buffer[] {
  const text = Buffer.from(bytes).toString('latin1');
  const parts = (text.match(BASE64_LINES) ?? []).map((lines) => Buffer.from(lines.replace(/\s+/g, ''), 'base64'));
  const words = [...text.matchAll(/=\?utf-8\?B\?([A-Za-z0-9+/=]+)\?=/gi)].map(([, word = '']) =>
    Buffer.from(word, 'base64'),
  );
  const joined = Buffer.concat(words);
  const quoted = text
    .replace(/=\r?\n/g, '')
    .replace(/=([\dA-F]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
  const inner = parts.flatMap((part) => (part.includes('Content-Type:') ? partsOfMail(part) : []));
  return [...parts, ...words, joined, ...(quoted === text ? [] : [Buffer.from(quoted, 'latin1')]), ...inner];
}

/** Rich text without its words: letters that are written by number put in their places. */
export function richTextOf(text: string): string {
  return text
    .replace(/\r?\n/g, '')
    .replace(/\\u(-?\d{1,6}) ?(?:\\'[\da-f]{2}|\?)?/gi, (_, code: string) =>
      String.fromCharCode((Number(code) + 0x1_0000) & 0xffff),
    )
    .replace(/\\'([\da-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
    .replace(/\\(?:par|cell|row|line|tab)\b ?/g, '\n')
    .replace(/\\[a-z]{1,32}-?\d{0,10} ?|[{}]/gi, '');
}

/** Pictures and files in rich text, which are written as digits; a number may stand right before them. */
export function digitsOf(text: string): readonly Buffer[] {
  const runs = (text.match(/[\da-f][\da-f\s]{32,}/gi) ?? []).map((digits) => digits.replace(/\s+/g, ''));
  return runs.flatMap((run) => [Buffer.from(run, 'hex'), Buffer.from(run.slice(1), 'hex')]);
}
