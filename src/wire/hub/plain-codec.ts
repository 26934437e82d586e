import { NO_FACTS } from '../answer/frame.ts';
import type { Ask, Codec } from './codec.ts';
import type { WireDocument } from '../document/document.ts';
import type { Json } from '../document/json.ts';
import { modelOf, refuseLookalikes } from '../request/request-shape.ts';
import { isTold, NO_USAGE, toldCount, type Usage } from '../answer/usage.ts';
import { TOKEN_LISTS, type Places } from '../request/collect-contents.ts';

/** Parts that differ between families without streams and translation. */
type PlainParts = Pick<Codec, 'family' | 'contents' | 'ask' | 'readAnswer'> &
  Partial<Pick<Codec, 'answerLeaves' | 'checkLocal' | 'tellApart' | 'fitAnswer' | 'tellUsage'>>;

/** A codec of a family whose answers come whole, and from providers of that family only. */
export function plainCodec(parts: PlainParts): Codec {
  return {
    answerLeaves: () => [],
    streamReader: () => ({ read: () => NO_FACTS, finished: true }),
    streamEnd: '',
    outputBytes: () => 0,
    deltas: () => [],
    ends: () => [],
    deltaFrame: (like) => like,
    usageFrame: () => undefined,
    askForUsage: () => [],
    hideCacheCounts: () => [],
    ...parts,
  };
}

/** The places of a request that is all text, of which the model reads `promptOrder` first. */
export function textPlaces(...promptOrder: readonly string[]): Places {
  return {
    promptOrder,
    roleOf: () => undefined,
    mediaOf: () => undefined,
    isBareMedia: () => false,
    isTokens: (name, parent) => parent === '' && (promptOrder.includes(name) || TOKEN_LISTS.has(name)),
  };
}

/**
 * What routing needs of a request for one whole answer without a ceiling. `controls`: the members that decide about the
 * call. Throws `BadRequestShape`.
 */
export function plainAsk(document: WireDocument, controls: readonly string[]): Ask {
  refuseLookalikes(document, ['model', ...controls]);
  return {
    ...modelOf(document),
    stream: false,
    includeUsage: false,
    maxOutputTokens: undefined,
    answers: 1,
    jsonAnswer: false,
    jsonSchema: false,
  };
}

/** A usage of input and output without details; undefined without an input. */
export function simpleUsage(input: Json | undefined, output: Json | undefined): Usage | undefined {
  return isTold(input) ? { ...NO_USAGE, input: toldCount(input), output: toldCount(output) } : undefined;
}
