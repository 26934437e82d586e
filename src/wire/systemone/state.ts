import { BadRequestShape } from '../hub/codec.ts';
import { isObject, type Json, type JsonObject } from '../document/json.ts';
import { isArray } from '../request/request-shape.ts';

/** What a decision is about. */
export type State = string | readonly Json[] | JsonObject;

/** What the router reads of a state. // spec 4.4.3 */
export interface RouterState {
  readonly request: string;
  readonly previous?: string;
  readonly system?: string;
  readonly attachments?: readonly string[];
}

/** The parts of a request as they were said, empty or absent where there is none. */
type Said = { readonly request: string } & {
  readonly [P in Exclude<keyof RouterState, 'request'>]?: RouterState[P] | undefined;
};

const MOST_BYTES = 131_072;
/** The router reads the beginning and the end of a text. */
const MOST_CHARACTERS = { head: 48_000, tail: 16_000 };
/** Names of more files say no more. */
const MOST_ATTACHMENTS = 1000;

/**
 * The state of a request. `bounded`: as it was sent; data protection may have made it longer since. Throws
 * `BadRequestShape`: 422 where there is none, 413 where it is too large. // spec 4.4.4
 */
export function readState(value: Json | undefined, bounded = true): State {
  const isState = typeof value === 'string' || isArray(value) || isObject(value);
  if (!isState) throw invalid('state is required and must be an object, an array or a string', 'state');
  if (bounded && Buffer.byteLength(JSON.stringify(value)) > MOST_BYTES) {
    throw new BadRequestShape(`state may have at most ${MOST_BYTES} bytes of JSON`, 'state', 413);
  }
  return value;
}

/** The state of a question to the router: a text is the request. Throws `BadRequestShape` (422). // spec 4.4.3 */
export function readRouterState(state: State): RouterState {
  if (typeof state === 'string') return routerState({ request: state });
  const request = isArray(state) ? undefined : state['request'];
  if (isArray(state) || typeof request !== 'string')
    throw invalid('state.request is required and must be a string', 'state.request');
  return routerState({
    request,
    previous: optionalText(state, 'previous'),
    system: optionalText(state, 'system'),
    attachments: attachmentsOf(state['attachments'] ?? undefined),
  });
}

/**
 * What the router is shown of a text, whether `gw/typed/router` is asked about it or an automatic alias is to send it
 * somewhere: the words as they were said, without what is empty. // spec 4.4.3
 */
export function routerState({ request, previous = '', system = '', attachments = [] }: Said): RouterState {
  return {
    request: endsOf(request),
    ...(previous !== '' && { previous: endsOf(previous) }),
    ...(system !== '' && { system: endsOf(system) }),
    ...(attachments.length > 0 && { attachments: attachments.slice(0, MOST_ATTACHMENTS) }),
  };
}

/** Whether there is anything to route by: the automatic alias does without the router where nothing is said. */
export function saysSomething({ request }: RouterState): boolean {
  return request.trim() !== '';
}

/** A long text by its beginning and its end. */
function endsOf(text: string): string {
  const { head, tail } = MOST_CHARACTERS;
  return text.length <= head + tail ? text : `${text.slice(0, head)}\n${text.slice(-tail)}`;
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
  throw invalid(
    'state.attachments must be a string or an array of strings of the form name (mime)',
    'state.attachments',
  );
}

function invalid(message: string, param: string): BadRequestShape {
  return new BadRequestShape(message, param, 422);
}
