/** Endings of files that can be anonymized: they show the format of a file, and nothing personal. */
const ENDING = /\.(?:pdf|do[ct]x|xl[st]x|png|jpe?g|gif|tiff?|webp|x?html?|csv|tsv|txt|json|md|markdown)$/i;
/** An ending of host names too: with it, the text before may be an address. */
const OF_HOSTS = /\.md$/i;

/** A file's name as it is searched for personal data, and what stays of it whatever is found. */
export interface FileName {
  readonly searched: string;
  /** The name with the searched part replaced. */
  readonly with: (searched: string) => string;
}

/** Takes the ending off a file's name. */
export function fileNameOf(name: string): FileName {
  const ending = ENDING.exec(name)?.[0] ?? '';
  const searched = OF_HOSTS.test(ending) ? name : name.slice(0, name.length - ending.length);
  return { searched, with: (left) => (searched === name && left.endsWith(ending) ? left : left + ending) };
}

const MOST_NAME = 255;

/** A name without its folders, and without what no name has. */
export function bareFileName(name: string): string {
  return name
    .replace(/^.*[/\\]/s, '')
    .replace(/\p{Cc}/gu, '')
    .slice(0, MOST_NAME);
}
