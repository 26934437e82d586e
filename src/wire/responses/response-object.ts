import type { Finish } from '../hub/canonical.ts';
import type { AnswerContext } from '../hub/codec.ts';
import { isObject, type Json, type JsonObject } from '../document/json.ts';
import type { Usage } from '../answer/usage.ts';
import { idOf } from './output-items.ts';
import { writeUsage } from './usage.ts';

/** What of a response its progress decides. */
export interface Progress {
  readonly status: 'in_progress' | 'completed' | 'incomplete' | 'failed';
  readonly output: readonly JsonObject[];
  readonly usage?: Usage | undefined;
  readonly incompleteReason?: 'max_output_tokens' | 'content_filter';
}

/** How an answer that ended so is called here. `hasRefused`: it says itself that the model declined. // wire-formats 3.1 */
export function progressOf({ reason }: Finish, hasRefused: boolean): Omit<Progress, 'output' | 'usage'> {
  switch (reason) {
    case 'length':
    case 'context':
      return { status: 'incomplete', incompleteReason: 'max_output_tokens' };
    case 'filter':
      return { status: 'incomplete', incompleteReason: 'content_filter' };
    case 'refusal':
      return hasRefused ? { status: 'completed' } : { status: 'incomplete', incompleteReason: 'content_filter' };
    case 'malformed':
      return { status: 'failed' };
    default:
      return { status: 'completed' };
  }
}

/** The response as it is at some point. Like the vendor's own it repeats the settings of the request. // wire-formats 5.1 */
export function responseObject(context: AnswerContext, progress: Progress): JsonObject {
  const { status, output, usage, incompleteReason } = progress;
  return {
    id: idOf('resp', context),
    object: 'response',
    created_at: context.createdAt,
    status,
    error: status === 'failed' ? { code: 'server_error', message: 'The output of the model could not be read.' } : null,
    incomplete_details: incompleteReason === undefined ? null : { reason: incompleteReason },
    model: context.model,
    output: status === 'incomplete' ? withLastCut(output) : output,
    ...settings(context.request.body),
    usage: usage === undefined ? null : writeUsage(usage),
  };
}

/** The item that was being written when the answer was cut off. */
function withLastCut(output: readonly JsonObject[]): readonly JsonObject[] {
  const last = output.at(-1);
  if (last?.['status'] !== 'completed' || last['type'] === 'image_generation_call') return output;
  return [...output.slice(0, -1), { ...last, status: 'incomplete' }];
}

function settings(body: JsonObject): JsonObject {
  const reasoning = isObject(body['reasoning']) ? body['reasoning'] : {};
  const or = (name: string, byDefault: Json): Json => body[name] ?? byDefault;
  return {
    access_programs: null,
    background: false,
    instructions: or('instructions', null),
    max_output_tokens: or('max_output_tokens', null),
    max_tool_calls: or('max_tool_calls', null),
    metadata: or('metadata', {}),
    parallel_tool_calls: or('parallel_tool_calls', true),
    previous_response_id: null,
    prompt_cache_key: or('prompt_cache_key', null),
    reasoning: { effort: reasoning['effort'] ?? null, summary: reasoning['summary'] ?? null },
    safety_identifier: or('safety_identifier', null),
    service_tier: or('service_tier', 'default'),
    store: false,
    temperature: or('temperature', null),
    text: { format: { type: 'text' }, ...(isObject(body['text']) ? body['text'] : {}) },
    tool_choice: or('tool_choice', 'auto'),
    tools: or('tools', []),
    top_logprobs: 0,
    top_p: or('top_p', null),
    truncation: 'disabled',
    user: or('user', null),
  };
}
