import type { Lose, ModelRequest } from './canonical.ts';
import type { Traits } from './traits.ts';

/** The sampling parameters that a model takes. */
export interface Sampling {
  readonly temperature?: number;
  readonly topP?: number;
  readonly topK?: number;
}

/**
 * The sampling parameters that a model takes; `thinking`: it is on. The others are named as losses. // wire-formats 2.4
 */
export function samplingOf(request: ModelRequest, traits: Traits, thinking: boolean, lose: Lose): Sampling {
  const { temperature, topP, topK } = request;
  const none = traits.sampling === 'fixed' || (traits.sampling !== 'free' && thinking);
  const either = traits.sampling === 'either' && temperature !== undefined;
  const kept = {
    ...(temperature === undefined || none ? {} : { temperature: Math.min(temperature, traits.maxTemperature) }),
    ...(topP === undefined || none || either ? {} : { topP }),
    ...(topK === undefined || none ? {} : { topK }),
  };
  if (temperature !== undefined && kept.temperature !== temperature) lose('temperature');
  if (topP !== undefined && kept.topP === undefined) lose('top_p');
  if (topK !== undefined && kept.topK === undefined) lose('top_k');
  return kept;
}

/** The stop strings that a model takes: blank ones are rejected, and too many. The rest is lost by name. */
export function stopsOf({ stop }: ModelRequest, { maxStops }: Traits, lose: Lose): readonly string[] {
  const kept = stop.filter((text) => text.trim() !== '').slice(0, maxStops);
  if (kept.length < stop.length) lose('stop');
  return kept;
}

/** The ceiling of an answer within what the model can give at most. */
export function ceilingOf({ maxOutputTokens }: ModelRequest, traits: Traits): number | undefined {
  if (maxOutputTokens === undefined) return undefined;
  return Math.max(1, Math.min(maxOutputTokens, traits.maxOutputTokens ?? maxOutputTokens));
}

/** The request as a model gets it that cannot call tools: without them, which is a loss. */
export function withoutTools(request: ModelRequest, traits: Traits, lose: Lose): ModelRequest {
  if (traits.tools || request.tools.length === 0) return request;
  lose('tools');
  return { ...request, tools: [] };
}
