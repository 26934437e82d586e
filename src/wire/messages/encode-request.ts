import { writeCacheMark } from '../hub/cache-mark.ts';
import type { Lose, ModelRequest, Tool } from '../hub/canonical.ts';
import type { JsonObject } from '../document/json.ts';
import { jsonInstruction } from '../hub/json-instruction.ts';
import { defined } from '../hub/defined-members.ts';
import { samplingOf, stopsOf } from '../hub/sampling.ts';
import type { Traits } from '../hub/traits.ts';
import { fitMarks, type Markable } from './cache-marks.ts';
import { closedSchema } from './closed-schema.ts';
import { encodeMessages } from './encode-messages.ts';
import { encodeThinking, type Thinking } from './encode-thinking.ts';

/** What an answer may have at most where neither the client nor the catalogue says. */
const ASSUMED_CEILING = 16_384;
/** The family's own limit for the id of an end user. */
const MAX_USER = 256;
/** Temperatures end here in this family, whatever the model. */
const MAX_TEMPERATURE = 1;

/** Asked-for tier -> this family's word. // wire-formats 2.7 */
const TIERS: Readonly<Record<string, string>> = {
  auto: 'auto',
  default: 'standard_only',
  standard_only: 'standard_only',
};

/** A messages body. Throws `BadRequestShape` for content that the model cannot be given. // wire-formats 2.1 */
export function encodeRequest(request: ModelRequest, traits: Traits, lose: Lose): JsonObject {
  loseTheRest(request, traits, lose);
  const maxTokens = ceilingOf(request, traits);
  const thinking = encodeThinking(request, maxTokens, traits, lose);
  const format = encodeFormat(request, traits, lose);
  const stops = stopsOf(request, traits, lose);
  const written: Markable = {
    tools: traits.tools ? request.tools.map(encodeTool) : [],
    system: [
      ...request.system
        .filter(({ text }) => text.trim() !== '')
        .map(({ text, cache }) => ({ type: 'text', text, ...writeCacheMark(cache) })),
      ...format.instructions,
    ],
    messages: encodeMessages(request, thinking, traits, lose),
  };
  const { tools, system, messages } = fitMarks(written, traits, lose);
  const outputConfig = { ...thinking.config, ...format.config };
  return defined({
    model: request.model,
    max_tokens: maxTokens,
    system: system.length > 0 ? system : undefined,
    messages,
    ...(tools.length > 0 ? { tools, tool_choice: encodeToolChoice(request, traits, lose) } : {}),
    ...encodeSampling(request, thinking, traits, lose),
    stop_sequences: stops.length > 0 ? stops : undefined,
    thinking: thinking.thinking,
    output_config: Object.keys(outputConfig).length > 0 ? outputConfig : undefined,
    metadata: encodeUser(request, lose),
    prompt_cache_key: traits.cacheMarks === 'as-written' ? request.promptCacheKey : undefined,
    service_tier: encodeTier(request, lose),
    stream: request.stream ? true : undefined,
  });
}

/** What this family has no word for, and tools where the model knows none. */
function loseTheRest(request: ModelRequest, traits: Traits, lose: Lose): void {
  if (request.tools.length > 0 && !traits.tools) lose('tools');
  if (request.seed !== undefined) lose('seed');
  if (request.presencePenalty !== undefined) lose('presence_penalty');
  if (request.frequencyPenalty !== undefined) lose('frequency_penalty');
  if (request.promptCacheKey !== undefined && traits.cacheMarks !== 'as-written') lose('prompt_cache_key');
}

/** The family wants one in every request; 0 warms the cache and nothing else. */
function ceilingOf({ maxOutputTokens }: ModelRequest, traits: Traits): number {
  const most = traits.maxOutputTokens;
  if (maxOutputTokens === undefined) return most ?? ASSUMED_CEILING;
  return Math.min(maxOutputTokens, most ?? maxOutputTokens);
}

function encodeTool({ name, description, parameters, strict, cache }: Tool): JsonObject {
  return {
    ...defined({ name, description, input_schema: { type: 'object', ...parameters }, strict }),
    ...writeCacheMark(cache),
  };
}

/** On some models no tool can be forced. // wire-formats 2.4 */
function encodeToolChoice(
  { toolChoice: choice, parallelTools }: ModelRequest,
  traits: Traits,
  lose: Lose,
): JsonObject | undefined {
  const single = parallelTools === false ? { disable_parallel_tool_use: true } : {};
  if (choice === undefined) return parallelTools === false ? { type: 'auto', ...single } : undefined;
  if (choice.type === 'none') return { type: 'none' };
  if (choice.type === 'auto') return { type: 'auto', ...single };
  if (!traits.forcedTools) {
    lose('tool_choice');
    return { type: 'auto', ...single };
  }
  return choice.type === 'tool' ? { type: 'tool', name: choice.name, ...single } : { type: 'any', ...single };
}

function encodeFormat(
  { format }: ModelRequest,
  traits: Traits,
  lose: Lose,
): { readonly config: JsonObject; readonly instructions: readonly JsonObject[] } {
  if (format === undefined) return { config: {}, instructions: [] };
  if (format.type === 'json-schema' && traits.json === 'schema') {
    return { config: { format: { type: 'json_schema', schema: closedSchema(format.schema) } }, instructions: [] };
  }
  if (format.type === 'json-schema') lose('response_format');
  return { config: {}, instructions: [{ type: 'text', text: jsonInstruction(format) }] };
}

function encodeSampling(request: ModelRequest, thinking: Thinking, traits: Traits, lose: Lose): JsonObject {
  const most = Math.min(traits.maxTemperature, MAX_TEMPERATURE);
  // In this family thinking goes with no sampling, whichever the model.
  const sampling = thinking.on && traits.sampling === 'free' ? 'either' : traits.sampling;
  const { temperature, topP, topK } = samplingOf(
    request,
    { ...traits, sampling, maxTemperature: most },
    thinking.on,
    lose,
  );
  return defined({ temperature, top_p: topP, top_k: topK });
}

function encodeUser({ user }: ModelRequest, lose: Lose): JsonObject | undefined {
  if (user === undefined) return undefined;
  if (user.length <= MAX_USER) return { user_id: user };
  lose('user');
  return undefined;
}

function encodeTier({ serviceTier }: ModelRequest, lose: Lose): string | undefined {
  if (serviceTier === undefined) return undefined;
  const word = Object.hasOwn(TIERS, serviceTier) ? TIERS[serviceTier] : undefined;
  if (word === undefined) lose('service_tier');
  return word;
}
