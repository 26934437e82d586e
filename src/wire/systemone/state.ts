import { BadRequestShape } from '../codec.ts';
import { isObject, type Json, type JsonObject } from '../json.ts';
import { isArray } from '../request-shape.ts';

/** What a decision is about. */
export type State = string | readonly Json[] | JsonObject;

/** What the router reads of a state. // spec 4.4.3 */
export interface RouterState {
  readonly request: string;
  readonly previous?: string;
  readonly system?: string;
  readonly attachments?: readonly string[];
}

const MOST_BYTES = 131_072;

/**
 * The state of a request. `bounded`: as it was sent; data protection may have made it longer since. Throws
 * `BadRequestShape`: 422 where there is none, 413 where it is too large. // spec 4.4.4
 */
export function readState(value: Json | undefined, bounded = true): State {
  const isState = typeof value === 'string' || isArray(value) || isObject(value);
  if (!isState) throw invalid('state is required: an object, an array or a string', 'state');
  if (bounded && Buffer.byteLength(JSON.stringify(value)) > MOST_BYTES) {
    throw new BadRequestShape(`state may be at most ${MOST_BYTES} bytes of JSON`, 'state', 413);
  }
  return value;
}

/** The state of a question to the router: a text is the request. Throws `BadRequestShape` (422). // spec 4.4.3 */
export function readRouterState(state: State): RouterState {
  if (typeof state === 'string') return { request: state };
  const request = isArray(state) ? undefined : state['request'];
  if (isArray(state) || typeof request !== 'string')
    throw invalid('state.request is required: a string', 'state.request');
  const object = state;
  const previous = optionalText(object, 'previous');
  const system = optionalText(object, 'system');
  const attachments = attachmentsOf(object['attachments'] ?? undefined);
  return {
    request,
    ...(previous !== undefined && { previous }),
    ...(system !== undefined && { system }),
    ...(attachments && { attachments }),
  };
}

function optionalText(state: JsonObject, name: string): string | undefined {
  const value = state[name] ?? undefined;
  if (value !== undefined && typeof value !== 'string')
    throw invalid(`state.${name} must be a string`, `state.${name}`);
  return value;
}

function attachmentsOf(value: Json | undefined): readonly string[] | undefined {
  if (value === undefined) return undefined;
  if (typeof value === 'string') return [value];
  if (isArray(value) && value.every((item) => typeof item === 'string')) return value;
  throw invalid('state.attachments must be a string or strings: name (mime)', 'state.attachments');
}

function invalid(message: string, param: string): BadRequestShape {
  return new BadRequestShape(message, param, 422);
}
