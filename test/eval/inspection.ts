import { createDecodedScanner } from '#/inspect/decoding/decoded-scanner.ts';
import { withNames } from '#/inspect/names/detect-names.ts';
import type { Detection } from '#/inspect/detection.ts';
import { searching } from '#/inspect/search/searches.ts';
import { finish } from '#/wire/document/steps.ts';
import type { Answerer } from '../../inference/decide/loaders.ts';

interface Find {
  readonly start: number;
  readonly end: number;
  readonly category: string;
}

/** All that inspection looks for, with a model of names, in this process and on this thread. */
export function inspectionWith(answer: Answerer): Detection {
  const detection = createDecodedScanner();
  return withNames(
    {
      categories: detection.categories,
      longestNow: Infinity,
      findNow: (text, categories) => detection.find(text, categories),
      find: (texts, categories) => Promise.resolve(texts.map((text) => detection.find(text, categories))),
      search: (search) => Promise.resolve(finish(searching(search, detection))),
    },
    { find: async (texts) => spansOf(await answer({ texts })) },
    () => true,
  );
}

function spansOf(answered: unknown): readonly (readonly Find[])[] {
  const { spans } = answered as { readonly spans: readonly (readonly (readonly [number, number, string])[])[] };
  return spans.map((found) => found.map(([start, end, category]) => ({ start, end, category })));
}
