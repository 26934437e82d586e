import { hash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const SPECIFICATION = join(import.meta.dirname, '../../../shared/spec.md');

/** Why the table is not held against the specification here. */
export const NO_SPECIFICATION = 'no specification beside the repository';

/** A sentence, or a row of a table. */
export interface Sentence {
  /** Section, and its running number within it: `4.3/7`. */
  readonly id: string;
  readonly text: string;
  /** Of the text, white space aside: another wording is another sentence. */
  readonly hash: string;
}

/** Every sentence of sections 1 to 9; empty where there is no specification. */
export function readSentences(): readonly Sentence[] {
  return existsSync(SPECIFICATION) ? sentencesOf(readFileSync(SPECIFICATION, 'utf8')) : [];
}

/** The sentences of a specification. Headings and heads of tables announce what follows and are not counted. */
export function sentencesOf(specification: string): readonly Sentence[] {
  const found: Sentence[] = [];
  let section = '';
  let count = 0;
  const lines = specification.split('\n');
  for (const [index, line] of lines.entries()) {
    const opening = /^#+ (\d(?:\.\d)?)[. ]/.exec(line) ?? /^(\d\.\d) \S/.exec(line);
    if (opening) [section, count] = [opening[1] ?? '', 0];
    if (section === '' || line.startsWith('#') || isRule(line) || isRule(lines[index + 1])) continue;
    for (const text of line.startsWith('|') ? [line] : inProse(line)) {
      count += 1;
      found.push({ id: `${section}/${count}`, text, hash: hashOf(text) });
    }
  }
  return found;
}

/** The line between the head of a table and its rows. */
const isRule = (line = ''): boolean => /^\|[-| ]+\|$/.test(line);

function inProse(line: string): readonly string[] {
  const text = line.replace(/^\s*(?:- |\d+\. |\d\.\d )/, '').trim();
  return text === '' ? [] : text.split(/(?<=[.!?]) (?=[A-Z`])/);
}

const hashOf = (text: string): string => hash('sha256', text.replace(/\s+/g, ' ').trim(), 'hex').slice(0, 12);
