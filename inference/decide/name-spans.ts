import { ModelFault, type Manifest } from './manifest.ts';
import { decodeTags } from './tags.ts';

/** A name in a text: UTF-16 offsets, its kind as tags have it, and how sure the model is, 0 to 1. */
type NameSpan = readonly [start: number, end: number, kind: string, score: number];

/** Finds the names in each text. One call at a time: it blocks its thread. */
export type FindNames = (texts: readonly string[]) => Promise<readonly (readonly NameSpan[])[]>;

/** Kinds of names, by the labels that models have for them. */
const KINDS: Readonly<Record<string, string>> = {
  PER: 'PERSON_NAME',
  PERSON: 'PERSON_NAME',
  LOC: 'LOCATION',
  LOCATION: 'LOCATION',
  GPE: 'LOCATION',
  ORG: 'ORGANIZATION',
  ORGANIZATION: 'ORGANIZATION',
  ADDRESS: 'ADDRESS',
};

/** Reads the spans of a text off what the model says of its words: a row of logits each. */
export type ReadSpans = (
  text: string,
  words: readonly { readonly start: number; readonly end: number }[],
  logits: Float32Array,
) => readonly NameSpan[];

/**
 * How a model's labels are read: `O`, `B-PER`, `I-PER`, … Those that its manifest ignores are no names; any other unknown
 * one, or an inside without a beginning, is a `ModelFault`: what it stands for would be missed. A name that the model is
 * less sure of than the manifest requires is dropped.
 */
export function createReadSpans({ labels, ignored = [], least = {} }: Manifest): ReadSpans {
  const kinds = new Map<string, string | undefined>();
  for (const label of labels) {
    if (label === 'O') continue;
    const name = label.slice(2);
    const isIgnored = ignored.includes(name);
    if (!/^[BI]-/.test(label) || !(isIgnored || Object.hasOwn(KINDS, name)))
      throw new ModelFault(`the label ${label} is unknown`);
    if (!labels.includes(`B-${name}`)) throw new ModelFault(`names have a beginning: there is no label B-${name}`);
    kinds.set(name, isIgnored ? undefined : KINDS[name]);
  }
  if (!labels.includes('O')) throw new ModelFault('the label O, for words that are not names, is missing');
  return (text, words, logits) => {
    if (words.length === 0) return [];
    const spans: [start: number, end: number, name: string, score: number][] = [];
    for (const [index, { tag, score }] of decodeTags(logits, labels).entries()) {
      const word = words[index];
      if (tag === 'O' || !word) continue;
      const open = spans.at(-1);
      if (tag.startsWith('I') && open) {
        open[1] = word.end;
        open[3] = Math.min(open[3], score);
      } else spans.push([word.start, word.end, tag.slice(2), score]);
    }
    return spans.flatMap(([start, end, name, score]): readonly NameSpan[] => {
      const kind = kinds.get(name);
      if (kind === undefined || score < (least[kind] ?? 0)) return [];
      // A number alone may be a postcode, but not a name.
      const written = kind === 'ADDRESS' ? /[\p{L}\p{N}]/u : /\p{L}/u;
      return written.test(text.slice(start, end)) ? [[start, end, kind, score]] : [];
    });
  };
}
