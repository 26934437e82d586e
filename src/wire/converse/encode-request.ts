import type { Lose, ModelRequest } from '../hub/canonical.ts';
import type { JsonObject } from '../document/json.ts';
import { jsonInstruction } from '../hub/json-instruction.ts';
import { defined } from '../hub/defined-members.ts';
import { closedSchema } from '../messages/closed-schema.ts';
import { ceilingOf, samplingOf, stopsOf, withoutTools } from '../hub/sampling.ts';
import type { Traits } from '../hub/traits.ts';
import { CachePoints } from './cache-points.ts';
import { toolConfig } from './encode-tools.ts';
import { messages } from './encode-turns.ts';
import { singleCallField, thinkingOf, topKField, type Thinking } from './model-fields.ts';

/** Asked-for tier -> this family's word. `auto` is what it does anyway. // wire-formats 2.7 */
const TIERS: Readonly<Record<string, string>> = {
  default: 'default',
  standard: 'default',
  standard_only: 'default',
  flex: 'flex',
  priority: 'priority',
  reserved: 'reserved',
};
/** What a value of the request's metadata may look like. */
const METADATA = /^[\w\s:@$#=/+,.-]{1,256}$/;

/**
 * A body for `converse` and `converse-stream`: the model and whether to stream are in the address, not in it. Throws
 * `BadRequestShape` for content that the model cannot be given. // wire-formats 2.1
 */
export function encodeRequest(asked: ModelRequest, traits: Traits, lose: Lose): JsonObject {
  const request = withoutTools(asked, traits, lose);
  loseTheRest(request, lose);
  const points = new CachePoints(request, traits, lose);
  const thinking = thinkingOf(request, traits, lose);
  // Claude does not go on with an answer while it thinks.
  const prefill = traits.prefill && !(traits.claude && thinking.isOn);
  const { inferenceConfig, topK } = inference(request, traits, thinking, lose);
  const format = answerFormat(request, traits, lose);
  const system = [...spoken(request, points), ...format.instructions];
  const fields = {
    ...thinking.fields,
    ...topKField(topK, traits, lose),
    ...singleCallField(request, traits, lose),
  };
  return {
    messages: messages(request, { ...traits, prefill }, points, lose),
    ...(system.length > 0 ? { system } : {}),
    ...(Object.keys(inferenceConfig).length > 0 ? { inferenceConfig } : {}),
    ...toolConfig(request, traits, points, lose),
    ...format.config,
    ...(Object.keys(fields).length > 0 ? { additionalModelRequestFields: fields } : {}),
    ...stopField(request, traits),
    ...metadata(request, lose),
    ...tier(request, lose),
  };
}

/** What this family has no word for, whichever the model. */
function loseTheRest(request: ModelRequest, lose: Lose): void {
  if (request.seed !== undefined) lose('seed');
  if (request.presencePenalty !== undefined) lose('presence_penalty');
  if (request.frequencyPenalty !== undefined) lose('frequency_penalty');
  if (request.promptCacheKey !== undefined) lose('prompt_cache_key');
}

function spoken({ system }: ModelRequest, points: CachePoints): readonly JsonObject[] {
  return system.flatMap((part) => (part.text.trim() === '' ? [] : [{ text: part.text }, ...points.after(part)]));
}

function inference(
  request: ModelRequest,
  traits: Traits,
  { isOn, isBare }: Thinking,
  lose: Lose,
): { readonly inferenceConfig: JsonObject; readonly topK?: number } {
  const maxTokens = ceilingOf(request, traits);
  const fitting: Traits = isBare ? { ...traits, sampling: 'fixed' } : traits;
  const { topK, ...sampling } = samplingOf(request, fitting, isOn, lose);
  const stopSequences = stopsOf(request, traits, lose);
  if (isBare && maxTokens !== undefined) lose('max_tokens');
  return {
    inferenceConfig: {
      ...(maxTokens === undefined || isBare ? {} : { maxTokens }),
      ...sampling,
      ...(stopSequences.length > 0 ? { stopSequences } : {}),
    },
    ...(topK === undefined ? {} : { topK }),
  };
}

function answerFormat(
  { format }: ModelRequest,
  traits: Traits,
  lose: Lose,
): { readonly config: JsonObject; readonly instructions: readonly JsonObject[] } {
  if (format === undefined) return { config: {}, instructions: [] };
  if (format.type === 'json-schema' && traits.json === 'schema') {
    const { name, description, schema } = format;
    // The one place where this family wants a schema as source text.
    const jsonSchema = defined({ schema: JSON.stringify(closedSchema(schema)), name, description });
    return {
      config: { outputConfig: { textFormat: { type: 'json_schema', structure: { jsonSchema } } } },
      instructions: [],
    };
  }
  if (format.type === 'json-schema') lose('response_format');
  return { config: {}, instructions: [{ text: jsonInstruction(format) }] };
}

/** Claude tells which stop string it met, in a member that must be asked for. // wire-formats 3.1 */
function stopField({ stop, stream }: ModelRequest, { claude }: Traits): JsonObject {
  if (!claude || stop.length === 0) return {};
  return { additionalModelResponseFieldPaths: [stream ? '/delta/stop_sequence' : '/stop_sequence'] };
}

function metadata({ user }: ModelRequest, lose: Lose): JsonObject {
  if (user === undefined) return {};
  if (METADATA.test(user)) return { requestMetadata: { user } };
  lose('user');
  return {};
}

function tier({ serviceTier }: ModelRequest, lose: Lose): JsonObject {
  if (serviceTier === undefined || serviceTier === 'auto') return {};
  const type = Object.hasOwn(TIERS, serviceTier) ? TIERS[serviceTier] : undefined;
  if (type === undefined) lose('service_tier');
  return type === undefined ? {} : { serviceTier: { type } };
}
