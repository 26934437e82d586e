import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Asker } from '#/runtime/fair-places.ts';
import type { Detection, Matches } from '../detection.ts';
import type { Match } from '../match.ts';
import { CleanTexts } from './clean-texts.ts';

/** So many code units are digested at once. */
const AT_ONCE = 256 * 1024;
const NOTHING: readonly Match[] = Object.freeze([]);

/** A search whose finds in a text depend on that text and the categories alone. */
type Searched = Pick<Detection, 'find' | 'findNow'>;

/**
 * A detection that searches no text again in which it found nothing for the same asker and the same categories; without an
 * asker it searches every text. It goes below `withNames`: names are carried on from one text to the next.
 */
export function withMemory<T extends Searched>(searched: T): T {
  const clean = new CleanTexts();
  return {
    ...searched,
    findNow: (text, categories, asker) => {
      const digest = asker && clean.digestOf(ownerOf(asker), categories, text);
      if (digest !== undefined && clean.has(digest)) return NOTHING;
      const found = searched.findNow(text, categories, asker);
      if (digest !== undefined && found.length === 0) clean.add(digest);
      return found;
    },
    async find(texts, categories, signal, asker): Promise<Matches> {
      if (asker === undefined) return searched.find(texts, categories, signal);
      const digests = await digestsOf(clean, asker, texts, categories, signal);
      const isClean = digests.map((digest) => digest !== undefined && clean.has(digest));
      const rest = texts.filter((_, at) => !isClean[at]);
      const found = rest.length === 0 ? [] : await searched.find(rest, categories, signal, asker);
      let at = 0;
      return texts.map((_, index) => {
        if (isClean[index]) return NOTHING;
        const own = found[at++]!;
        const digest = digests[index];
        if (digest !== undefined && own.length === 0) clean.add(digest);
        return own;
      });
    },
  };
}

function ownerOf({ organization, workload }: Asker): string {
  return `${organization}\0${workload}`;
}

async function digestsOf(
  clean: CleanTexts,
  asker: Asker,
  texts: readonly string[],
  categories: ReadonlySet<string> | undefined,
  signal: AbortSignal | undefined,
): Promise<readonly (string | undefined)[]> {
  const owner = ownerOf(asker);
  const digests: (string | undefined)[] = [];
  let read = 0;
  for (const text of texts) {
    if (read > AT_ONCE) {
      read = 0;
      await nextTurn();
      signal?.throwIfAborted();
    }
    digests.push(clean.digestOf(owner, categories, text));
    read += text.length;
  }
  return digests;
}
