/**
 * One line for each group of files, or of rooms, that import each other in a circle; `arrows`: what each one imports,
 * types included.
 */
export function cycles(arrows: ReadonlyMap<string, readonly string[]>, what: 'file' | 'room'): string[] {
  const found: string[] = [];
  const done = new Set<string>();
  const path: string[] = [];
  const visit = (file: string): void => {
    const at = path.indexOf(file);
    if (at >= 0) {
      found.push(
        `${file}: this ${what} imports itself in a circle, types included: ${[...path.slice(at), file].join(' -> ')}`,
      );
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
