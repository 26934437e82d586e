/**
 * Phrases that read as translated, or as riddles. The check refuses new ones; those that are there are counted in
 * tools/ratchet.json, where numbers only fall.
 */
export const PHRASES: readonly { readonly name: string; readonly pattern: RegExp; readonly better: string }[] = [
  {
    name: 'none that',
    pattern: /\b(?:is|are|was|were) none\b|\bnone that\b/gi,
    better: 'say it directly: "must be one of …", "is unknown"',
  },
  { name: 'whoever', pattern: /\bwho(?:so)?ever\b/gi, better: 'name who: the caller, an operator' },
  { name: 'nobody', pattern: /\bnobody\b/gi, better: 'name who does not: "no caller", "the gateway does not"' },
  {
    name: 'what is',
    pattern: /\bwhat (?:is|was|are|were|has|does|comes|came|goes|stands)\b/gi,
    better: 'name the thing',
  },
  { name: 'beside', pattern: /\bbeside\b/gi, better: 'next to, besides, together with, in the background' },
  {
    name: 'is told',
    pattern: /\b(?:is|are|was|were|be|being|been) told\b/gi,
    better: 'learns, receives, is reported, logs',
  },
  { name: 'lets expect', pattern: /\blets? (?:one )?expect\b/gi, better: 'than expected' },
  { name: 'any more', pattern: /\bany more\b/gi, better: 'no longer' },
  { name: 'as ever', pattern: /\bas ever\b/gi, better: 'as before' },
  { name: 'all the same', pattern: /\ball the same\b/gi, better: 'still, anyway' },
  { name: 'at the worst', pattern: /\bat the (?:worst|latest|most)\b/gi, better: 'at worst, at most, no later than' },
  { name: 'to the byte', pattern: /\bto the byte\b/gi, better: 'byte for byte' },
  { name: 'goes by', pattern: /\b(?:go|goes|went|gone) by\b/gi, better: 'uses, follows' },
  { name: 'anew', pattern: /\banew\b/gi, better: 'again' },
  { name: 'becomes of', pattern: /\b(?:becomes?|became|comes?|came) of\b/gi, better: 'what happens to, results from' },
  { name: 'for want of', pattern: /\bfor want of\b/gi, better: 'without, because … is missing' },
  { name: 'given up', pattern: /\b(?:is|are|was|were|been) given up\b/gi, better: 'fails, is dropped' },
  { name: 'of before', pattern: /\bof (?:before|late|old)\b/gi, better: 'earlier, recent' },
  { name: 'the house', pattern: /\bthe house\b/gi, better: 'the code, the repository' },
  { name: 'by its own', pattern: /\bby (?:its|their) own\b/gi, better: 'by itself, on its own' },
  { name: 'somebody', pattern: /\b(?:somebody|anybody|everybody)\b/gi, better: 'name who' },
  { name: 'there is no such', pattern: /\bno such\b/gi, better: '… not found' },
  { name: 'which it has not', pattern: /\b(?:has|have|had) not to\b|\bneed not be\b/gi, better: 'does not have to' },
  { name: 'will do', pattern: /\bwill do\b/gi, better: 'is enough' },
  { name: 'out of its', pattern: /\bits like\b/gi, better: 'and similar' },
];

/** Text that people read in a file: comments and texts with a blank in code, everything in a document. */
export function proseOf(path: string, text: string): string {
  if (!path.endsWith('.ts')) return text;
  const found: string[] = [];
  const parts = /\/\*[\s\S]*?\*\/|\/\/[^\n]*|'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"|`(?:[^`\\]|\\.)*`/g;
  for (const [part] of text.matchAll(parts)) {
    if (part.startsWith('/') || / /.test(part)) found.push(part);
  }
  return found.join('\n');
}

/** How often each phrase occurs in a text; those that do not are left out. */
export function phrasesIn(text: string): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const { name, pattern } of PHRASES) {
    const count = text.match(pattern)?.length ?? 0;
    if (count > 0) counts.set(name, count);
  }
  return counts;
}
