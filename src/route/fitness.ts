import type { Ask, Media } from '#/wire/hub/codec.ts';
import { isDenial } from './offer.ts';
import type { Considered } from './decision.ts';
import type { Target } from '#/call/target.ts';

/** What a request plainly shows of what a model must be able to do. */
export interface RequiredCapabilities {
  readonly images: boolean;
  readonly audio: boolean;
  readonly documents: boolean;
  readonly tools: boolean;
  readonly json: 'none' | 'object' | 'schema';
  /** Input tokens, estimated. */
  readonly inputTokens: number;
  /** Output tokens that the caller named, for one answer. */
  readonly outputTokens: number;
}

/** What a request requires. `inputTokens`: as `estimatedInput` counts them. */
export function requiredCapabilitiesOf(
  ask: Ask,
  media: readonly Media[],
  tools: boolean,
  inputTokens: number,
): RequiredCapabilities {
  const has = (kind: Media['kind']): boolean => media.some((item) => item.kind === kind);
  return {
    images: has('image'),
    audio: has('audio'),
    documents: has('file'),
    tools,
    json: ask.jsonSchema ? 'schema' : ask.jsonAnswer ? 'object' : 'none',
    inputTokens,
    outputTokens: (ask.maxOutputTokens ?? 0) / ask.answers,
  };
}

/** The demands in words, those on size left out; empty for a request of nothing but text. */
export function capabilitiesInWords({
  images,
  audio,
  documents,
  tools,
  json,
}: RequiredCapabilities): readonly string[] {
  return [
    ...(tools ? ['tools'] : []),
    ...(images ? ['images'] : []),
    ...(audio ? ['audio'] : []),
    ...(documents ? ['documents'] : []),
    ...(json === 'none' ? [] : [json === 'schema' ? 'a JSON schema' : 'JSON']),
  ];
}

/** Required capabilities that a target lacks. */
function lacks({ provider, model, settings }: Target, required: RequiredCapabilities): readonly string[] {
  const traits = provider.traits(model);
  const missing: string[] = [];
  if (required.tools && !traits.tools) missing.push('it takes no tools');
  if (required.images && !traits.vision) missing.push('it takes no images');
  if (required.audio && !traits.audio) missing.push('it takes no audio');
  if (required.documents && !traits.documents) missing.push('it takes no documents');
  if (required.json === 'schema' && (traits.json === 'object' || traits.json === 'none')) {
    missing.push('it takes no JSON schema');
  }
  if (required.json === 'object' && traits.json === 'none') missing.push('it has no JSON mode');
  const { contextTokens = Infinity } = settings ?? {};
  if (required.inputTokens + required.outputTokens > contextTokens) missing.push(`it holds ${contextTokens} tokens`);
  return missing;
}

/**
 * Leaves out the targets that can do less of what a request demands than others can; where all of them lack as much, all
 * stay. So a model that cannot see is not asked about an image while one that can is there.
 */
export function leaveOutUnfit(
  considered: readonly Considered[],
  required: RequiredCapabilities,
): readonly Considered[] {
  const missing = considered.map(({ found }) => (isDenial(found) ? undefined : lacks(found, required)));
  const least = Math.min(...missing.map((reasons) => reasons?.length ?? Infinity));
  return considered.map((one, index) => {
    const reasons = missing[index];
    if (reasons === undefined || reasons.length === least) return one;
    return { ...one, leftOut: `${reasons.join(', ')}, but another does` };
  });
}
