/** A text and the spans marked in it. */
export interface Marked {
  readonly text: string;
  readonly spans: readonly { readonly start: number; readonly end: number; readonly category: string }[];
}

/** Reads `Write to ‹EMAIL:ada@example.com›.` as the text without the marks and the spans they stood around. */
export function marked(source: string): Marked {
  let text = '';
  const spans: Marked['spans'][number][] = [];
  for (const part of source.split(/(‹[A-Z_]+:[^›]*›)/)) {
    const mark = /^‹([A-Z_]+):([^›]*)›$/.exec(part);
    const start = text.length;
    text += mark ? mark[2] : part;
    if (mark) spans.push({ start, end: text.length, category: mark[1] as string });
  }
  return { text, spans };
}
