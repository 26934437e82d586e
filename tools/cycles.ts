/** One line for each group of files that import each other in a circle; `arrows`: what each file imports, types too. */
export function cycles(arrows: ReadonlyMap<string, readonly string[]>): string[] {
  const found: string[] = [];
  const done = new Set<string>();
  const path: string[] = [];
  const visit = (file: string): void => {
    const at = path.indexOf(file);
    if (at >= 0) {
      found.push(`${file}: imports itself in a circle, types included: ${[...path.slice(at), file].join(' -> ')}`);
      return;
    }
    if (done.has(file)) return;
    path.push(file);
    for (const next of arrows.get(file) ?? []) visit(next);
    path.pop();
    done.add(file);
  };
  for (const file of arrows.keys()) visit(file);
  return found;
}
