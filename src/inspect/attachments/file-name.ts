/** Ends of the names of files that can be anonymized: they say what a file is, and nothing of anybody. */
const ENDING = /\.(?:pdf|do[ct]x|xl[st]x|png|jpe?g|gif|tiff?|webp|x?html?|csv|tsv|txt|json|md|markdown)$/i;
/** An ending of the names of hosts, too: what stands before it may be an address only together with it. */
const OF_HOSTS = /\.md$/i;

/** A file's name as it is searched for personal data, and what stays of it whatever is found. */
export interface FileName {
  readonly searched: string;
  /** The name, of what became of the searched part. */
  readonly with: (searched: string) => string;
}

/** Takes the ending off a file's name. */
export function fileNameOf(name: string): FileName {
  const ending = ENDING.exec(name)?.[0] ?? '';
  const searched = OF_HOSTS.test(ending) ? name : name.slice(0, name.length - ending.length);
  return { searched, with: (left) => (searched === name && left.endsWith(ending) ? left : left + ending) };
}
