import { posix } from 'node:path';
import { withoutFences, type Doc } from './prose.ts';

const SECTIONS = ['Context', 'Decision', 'Consequences'];
const LINKS = String.raw`(?:\[\d{4}\]\(\d{4}-[a-z0-9-]+\.md\)(?:, )?)+`;
const STATUS = new RegExp(`^- Status: (?:accepted(?:, amended by ${LINKS})?|superseded by ${LINKS})$`);
const DATE = /^- Date: 20\d\d-[01]\d-[0-3]\d$/;
/** The end of a sentence and the beginning of another one, on one line. */
const TWO_SENTENCES = /(?<!\b(?:e\.g|i\.e|etc|vs|No|St|J|Dr|Mr|Mrs))[.!?]["»)*]* +["«(*]*\p{Lu}/u;

/** What a decision lacks: title, status, date, sections in their order, one sentence a line. One readable line each. */
export function decisionFaults({ path, text }: Doc): string[] {
  const lines = withoutFences(text).split('\n');
  const faults: string[] = [];
  const [title = '', blank, status = '', date = ''] = lines;
  if (!/^# \d{4}\. \p{Lu}/u.test(title)) faults.push(`${path}:1: the title must be "# NNNN. What was decided"`);
  else if (title.slice(2, 6) !== posix.basename(path).slice(0, 4)) faults.push(`${path}:1: not the number of the file`);
  if (/[.]$/.test(title)) faults.push(`${path}:1: a title has no full stop`);
  if (blank !== '' || !STATUS.test(status)) {
    faults.push(`${path}:3: must be "- Status: accepted" or "- Status: superseded by [NNNN](file)"`);
  }
  if (!DATE.test(date)) faults.push(`${path}:4: must be "- Date: YYYY-MM-DD"`);
  const sections = lines.flatMap((line) => /^## (.+)$/.exec(line)?.[1] ?? []);
  if (SECTIONS.some((name, at) => sections[at] !== name)) {
    faults.push(`${path}: the sections must be ${SECTIONS.join(', ')}, in this order, then others`);
  }
  lines.forEach((line, index) => {
    const marked = line.replace(/^\s*(?:[-*]|\d+\.)\s+/, '');
    const prose = marked.replace(/^\*{1,2}[^*]+\*{1,2}\s*/, '').replace(/`[^`]*`/g, 'code');
    if (!/^\s*\||^#/.test(line) && TWO_SENTENCES.test(prose)) faults.push(`${path}:${index + 1}: one sentence a line`);
  });
  return faults;
}

/** Decisions that the index does not list under their title, and the other way around. One readable line each. */
export function indexFaults(index: Doc, decisions: readonly Doc[]): string[] {
  const listed = new Map(
    [...index.text.matchAll(/^- \[(.+)\]\((\d{4}-[^)]+)\)/gm)].map(([, title, file]) => [file, title]),
  );
  const faults = decisions.flatMap(({ path, text }) => {
    const file = posix.basename(path);
    const title = /^# (.+)$/m.exec(text)?.[1];
    return listed.get(file) === title ? [] : [`${index.path}: list ${file} as "${title}"`];
  });
  return faults;
}
