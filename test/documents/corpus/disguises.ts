/** Letters with blanks between them, wider ones between words. */
export function apart(text: string): string {
  return text
    .toUpperCase()
    .split(' ')
    .map((word) => Array.from(word).join(' '))
    .join('   ');
}

/** An address whose query says something. */
export function addressOf(query: string): string {
  return `https://example.org/?q=${encodeURIComponent(query)}&page=1`;
}

/** A text as a string of JSON in which every letter beyond ASCII is escaped. */
export function escapedJson(text: string): string {
  const escape = (letter: string): string => `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`;
  return JSON.stringify(text).replace(/[^\0-\x7f]/g, escape);
}
