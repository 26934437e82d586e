/** The README of a folder; undefined: it has none. */
export interface FolderReadme {
  /** `src/meter`, `test/matrix`. */
  readonly folder: string;
  readonly text: string | undefined;
}

const MAX_LINES = 12;
/** The parts of the README of a room, each in bold. */
const PARTS = ['**Never:**', '**In, out:**', '**Start at:**', '**Tests:**'];

/** What READMEs of rooms under src/ and of suites under test/ lack, one readable line each. */
export function readmeFaults(readmes: readonly FolderReadme[]): string[] {
  return readmes.flatMap(({ folder, text }) => {
    const path = `${folder}/README.md`;
    if (text === undefined) return [`${path}: missing; say in a few lines what the folder is for`];
    return folder.startsWith('src/') ? roomFaults(path, text) : [];
  });
}

function roomFaults(path: string, text: string): string[] {
  const lines = text.trimEnd().split('\n').length;
  return [
    ...(lines > MAX_LINES ? [`${path}: ${lines} lines; at most ${MAX_LINES}`] : []),
    ...PARTS.filter((part) => !text.includes(part)).map((part) => `${path}: lacks ${part}`),
  ];
}
