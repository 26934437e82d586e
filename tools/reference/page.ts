/** A table of Markdown. Bars and line ends within a cell are escaped. */
export function table(columns: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.map(cell).join(' | ')} |`;
  return [line(columns), `|${'---|'.repeat(columns.length)}`, ...rows.map(line)].join('\n');
}

function cell(text: string): string {
  return text.replaceAll('|', '\\|').replaceAll('\n', ' ');
}

/** A generated page: a title, then paragraphs, headings and tables as they are given; last, what the page is written from. */
export function page(title: string, source: string, ...parts: readonly string[]): string {
  const origin = `This page is written by \`make docs\` from \`${source}\`.`;
  return `${[`# ${title}`, ...parts, origin].map((part) => part.trimEnd()).join('\n\n')}\n`;
}
