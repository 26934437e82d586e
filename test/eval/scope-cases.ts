import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import type { Places } from './evaluation.ts';
import { rollOfId } from './held-out.ts';

/**
 * What was said beside a stated purpose, in one language. `within`: requests that belong to it; `near`: such as share
 * words or a subject with it and do not belong; `goesOn`, `turns`: two texts of one person, of which the second goes on,
 * or asks for something else. `anything` belongs to none of the purposes. Purposes stand in the same order in every
 * language, and one that is `FAR` places away is about something else.
 */
export interface Written {
  readonly anything: readonly string[];
  readonly purposes: readonly {
    readonly theme: string;
    readonly purpose: string;
    readonly within: readonly string[];
    readonly near: readonly string[];
    readonly goesOn: readonly (readonly string[])[];
    readonly turns: readonly (readonly string[])[];
  }[];
}

/** What somebody said, in turn, to a workload with a purpose. */
export interface Case {
  readonly group: string;
  readonly language: string;
  readonly purpose: string;
  readonly said: readonly string[];
  readonly isInside: boolean;
}

const FAR = 4;
/** A purpose that training has, for prompts that it left out: `code` in inference/training/data/purposes.json. */
const PROGRAMMING: Readonly<Record<string, string>> = {
  en: 'Help for software developers: writing, explaining and repairing code.',
  de: 'Hilfe beim Programmieren.',
  fr: 'Aide à la programmation.',
  es: 'Ayuda con código y programación.',
  it: 'Aiuto nella programmazione.',
  nl: 'Hulp bij programmeren.',
  pl: 'Pomoc w programowaniu.',
  pt: 'Ajuda com programação.',
};

/** What nothing may learn from: purposes, and what somebody says first beside them. */
export function unlearnedIn(written: ReadonlyMap<string, Written>): readonly string[] {
  return [...written.values()].flatMap(({ anything, purposes }) => [
    ...anything,
    ...purposes.flatMap(({ purpose, within, near }) => [purpose, ...within, ...near]),
  ]);
}

/** What was written to judge the guard, by language. */
export function readWritten(): ReadonlyMap<string, Written> {
  const folder = path.join(import.meta.dirname, 'scope');
  return new Map(
    globSync('*.json', { cwd: folder })
      .toSorted()
      .map((file) => [
        path.basename(file, '.json'),
        JSON.parse(readFileSync(path.join(folder, file), 'utf8')) as Written,
      ]),
  );
}

/** Every text beside the purpose it was written for, another one, and that purpose stated in English. */
export function casesOf(written: ReadonlyMap<string, Written>): readonly Case[] {
  const english = written.get('en')?.purposes ?? [];
  return [...written].flatMap(([language, { anything, purposes }]) =>
    purposes.flatMap(({ purpose, within, near, goesOn, turns }, at): readonly Case[] => {
      const far = purposes[(at + FAR) % purposes.length]?.within ?? [];
      const all = (group: string, isInside: boolean, said: readonly (readonly string[])[], of = purpose): Case[] =>
        said.map((texts) => ({ group, language, purpose: of, said: texts, isInside }));
      const alone = (texts: readonly string[]): readonly (readonly string[])[] => texts.map((text) => [text]);
      const stated = english[at]?.purpose ?? '';
      return [
        ...all('within', true, alone(within)),
        ...all('within, going on', true, goesOn),
        ...all('near', false, alone(near)),
        ...all('far', false, alone(far)),
        ...all('anything', false, alone(anything)),
        ...all('within, turning away', false, turns),
        ...(language === 'en'
          ? []
          : [...all('in English', true, alone(within), stated), ...all('in English', false, alone(near), stated)]),
      ];
    }),
  );
}

/** Prompts of our own that training leaves out, beside help with programming. */
export function promptsOf({ own }: Pick<Places, 'own'>): readonly Case[] {
  return Object.entries(PROGRAMMING).flatMap(([language, purpose]) =>
    readFileSync(path.join(own, `prompts.${language}.jsonl`), 'utf8')
      .split('\n')
      .filter(Boolean)
      .map(
        (line) =>
          JSON.parse(line) as { readonly id: string; readonly task: string; readonly state: { request: string } },
      )
      .filter(({ id }) => rollOfId(id) < 6)
      .map(({ task, state }) => ({
        group: 'programming',
        language,
        purpose,
        said: [state.request],
        isInside: task === 'code',
      })),
  );
}
