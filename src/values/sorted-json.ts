/** JSON with the members of every object in alphabetical order, so that equal values are equal texts. */
export function sortedJson(value: unknown): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(sortedJson).join(',')}]`;
  const members = value as Readonly<Record<string, unknown>>;
  let text = '';
  for (const key of Object.keys(members).sort()) {
    if (members[key] === undefined) continue;
    text += `${text === '' ? '' : ','}${JSON.stringify(key)}:${sortedJson(members[key])}`;
  }
  return `{${text}}`;
}
