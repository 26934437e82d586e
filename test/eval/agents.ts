import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { NAME_CATEGORIES } from '#/inspect/names/detect-names.ts';
import type { Match } from '#/inspect/match.ts';
import { marked } from '../harness/marked-text.ts';
import { openModel, type Evaluation, type Places, type Table } from './evaluation.ts';
import { inspectionWith } from './inspection.ts';
import { rounded } from './score.ts';

/** A prompt of an agent, and what in it is personal: nearly nothing. */
interface AgentPrompt {
  readonly name: string;
  readonly text: string;
  readonly spans: readonly Match[];
}

/** Prompts in the style of agents' instructions, by file: `<what>.<language>.txt`, personal stretches marked. */
function agentPrompts(): readonly AgentPrompt[] {
  const folder = path.join(import.meta.dirname, 'agents');
  const files = globSync('*.txt', { cwd: folder }).toSorted();
  return files.map((name) => ({ name, ...marked(readFileSync(path.join(folder, name), 'utf8')) }));
}

/** What a prompt loses that is nobody's, and what of it that is somebody's stays. */
function judgedPrompt(
  { text, spans }: AgentPrompt,
  found: readonly Match[],
): {
  readonly words: number;
  readonly wrong: readonly Match[];
  readonly missed: readonly Match[];
} {
  const overlaps = (a: Match, b: Match): boolean => a.start < b.end && b.start < a.end;
  return {
    words: text.match(/\S+/g)?.length ?? 0,
    wrong: found.filter((find) => !spans.some((span) => overlaps(find, span))),
    missed: spans.filter((span) => !found.some((find) => overlaps(find, span))),
  };
}

/** What is replaced in agents' own instructions, with the kinds that are looked for where a policy names none. */
export async function evaluateAgents(places: Places): Promise<Evaluation> {
  const { answer, about } = await openModel('names', places);
  const inspection = inspectionWith(answer);
  const rows: Table['rows'][number][] = [];
  const wrongs: Table['rows'][number][] = [];
  const all = { words: 0, wrong: 0, names: 0, missed: 0 };
  for (const prompt of agentPrompts()) {
    const [found = []] = await inspection.find([prompt.text], inspection.byDefault);
    const { words, wrong, missed } = judgedPrompt(prompt, found);
    for (const { start, end, category } of wrong) {
      const said = prompt.text.slice(Math.max(0, start - 20), end + 10).replaceAll('\n', ' ');
      wrongs.push({ prompt: prompt.name, category, said });
    }
    all.words += words;
    all.wrong += wrong.length;
    all.names += wrong.filter(({ category }) => NAME_CATEGORIES.has(category)).length;
    all.missed += missed.length;
  }
  rows.push({ prompts: 'all', ...all, wrongPerThousandWords: rounded((all.wrong / all.words) * 1000) });
  return {
    about,
    tables: [
      { title: 'Replaced in instructions of agents', rows },
      { title: 'Replaced, and nobody’s', rows: wrongs },
    ],
  };
}
