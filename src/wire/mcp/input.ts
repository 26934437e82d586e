import { readDocument, type WireDocument } from '../document/document.ts';
import { isObject, type Json, type JsonObject } from '../document/json.ts';
import { member } from '../document/scan.ts';

/** What servers ask clients for: method -> the capability that a client must have. */
const ASKED: ReadonlyMap<string, 'elicitation' | 'sampling' | 'roots'> = new Map([
  ['elicitation/create', 'elicitation'],
  ['sampling/createMessage', 'sampling'],
  ['roots/list', 'roots'],
]);

/** What a server that may ask for these is said that a client can do: none of the client's extensions. */
export function capabilitiesFor(declared: Json | undefined, allowed: readonly string[]): JsonObject {
  const said = isObject(declared) ? declared : {};
  const can = allowed.filter((name) => Object.hasOwn(said, name) && isObject(said[name])).toSorted();
  const { roots } = said;
  const tells = isObject(roots) && roots['listChanged'] === true;
  return Object.fromEntries(can.map((name) => [name, name === 'roots' && tells ? { listChanged: true } : {}]));
}

/** Why a client is not asked this; undefined: it is. `can`: what its server was said that it can do. */
export function whyNotAsked(method: string, params: Json | undefined, can: JsonObject): string | undefined {
  const capability = ASKED.get(method);
  if (capability === undefined || can[capability] === undefined) return 'This client does not have the capability.';
  if (capability !== 'elicitation' || !isObject(params)) return undefined;
  // An address may lead anywhere.
  return params['mode'] === undefined || params['mode'] === 'form'
    ? undefined
    : 'Only forms can be filled in: this client does not open addresses.';
}

/**
 * Arguments together with what answers questions about them, to be inspected as one: a text that comes twice has one tag.
 * `args`: JSON source; undefined: a call without arguments. `answers`: JSON source of an object each, the oldest first.
 */
export function sayingDocument(args: string | undefined, answers: readonly string[]): WireDocument {
  return readDocument('mcp', `{"arguments":${args ?? '{}'},"answers":[${answers.join(',')}]}`);
}

/** The parts of such a document, as it was edited. */
export function partsOfSaying(text: string): { readonly arguments: string; readonly answers: readonly string[] } {
  const { root } = readDocument('mcp', text);
  const args = member(root, 'arguments');
  const answers = member(root, 'answers');
  return {
    arguments: args ? text.slice(args.start, args.end) : '{}',
    answers: answers?.kind === 'array' ? answers.items.map(({ start, end }) => text.slice(start, end)) : [],
  };
}
