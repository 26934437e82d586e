const SERIES = /^([a-zA-Z_:][a-zA-Z0-9_:]*)(\{)?/;

/**
 * Scrapes of several processes as one: each series has the label `process` with the number of its own, so that one that
 * starts again is a counter that starts again, and no other moves. Help and type stand once.
 */
export function joinScrapes(scrapes: ReadonlyMap<number, string>): string {
  const heads = new Map<string, string[]>();
  const series = new Map<string, string[]>();
  for (const [number, text] of scrapes) {
    for (const line of text.split('\n')) {
      if (line.startsWith('# ')) {
        const name = line.split(' ', 3)[2] ?? '';
        const head = heads.get(name) ?? [];
        if (!head.includes(line)) heads.set(name, [...head, line]);
        continue;
      }
      const [start, name, open] = SERIES.exec(line) ?? [];
      if (start === undefined || name === undefined) continue;
      const rest = line.slice(start.length);
      const labelled = `${name}{process="${number}"${open ? `,${rest}` : `}${rest}`}`;
      // The series of a histogram stand together, after its head.
      const base = name.replace(/_(?:bucket|sum|count)$/, '');
      const family = heads.has(base) ? base : name;
      const found = series.get(family);
      if (found) found.push(labelled);
      else series.set(family, [labelled]);
    }
  }
  const names = new Set([...heads.keys(), ...series.keys()]);
  return [...names].flatMap((name) => [...(heads.get(name) ?? []), ...(series.get(name) ?? [])]).join('\n') + '\n';
}
