import { leadsAway, readingsOf } from '../document/address-steps.ts';
import { isObject, type Json, type JsonObject } from '../document/json.ts';
import { member, type JsonNode } from '../document/scan.ts';

/** An operation as its requests are made. */
export interface ApiOperation {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Path below the address of the API, with `{name}` for parameters. */
  readonly path: string;
  readonly parameters: readonly ApiParameter[];
  readonly body: { readonly argument: string; readonly contentType: string } | undefined;
}

/** Where one argument is sent. */
interface ApiParameter {
  readonly name: string;
  readonly place: 'path' | 'query' | 'header';
  readonly argument: string;
  readonly style: 'repeated' | 'comma' | 'space' | 'pipe' | 'deep' | 'json';
  /** Slashes in a path are sent as %2F; else they are refused. */
  readonly slashes: boolean;
}

/** A request of an API, below its address. */
export interface ApiRequest {
  readonly method: ApiOperation['method'];
  /** Path and query: begins with a slash. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
}

/** Arguments that no request can be made of. The message completes "must", and never quotes a value. */
export class UnfitArgument extends Error {
  override readonly name = 'UnfitArgument';
  readonly argument: string;

  constructor(argument: string, message: string) {
    super(message);
    this.argument = argument;
  }
}

/** Characters of path and query: longer addresses are refused by many servers. */
const MOST_ADDRESS = 16 * 1024;
/** Members of objects and items of lists in path, query, headers and form of one request. An empty list counts as its member. */
const MOST_VALUES = 10_000;
/** Characters of one header. */
const MOST_HEADER = 4096;
/** What HTTP lets a header hold without a doubt: no line ends, no spaces at its ends. */
const HEADER = /^(?:[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?)?$/;

/**
 * Makes the request of a call. `source`: the JSON of the arguments, so that numbers and bodies are sent as they are written.
 * Throws `UnfitArgument`. Each value is encoded where it is put: it cannot lead to another path, host or header.
 */
export function writeApiRequest(operation: ApiOperation, args: JsonObject, source?: ArgumentSource): ApiRequest {
  refuseUnknown(operation, args);
  const steps = new Map<string, string>();
  const query: string[] = [];
  const headers: Record<string, string> = {};
  const count = new Count();
  for (const parameter of operation.parameters) {
    const { place, name, argument } = parameter;
    const value = valueOf(args, argument, source, count);
    if (place === 'path') steps.set(name, pathText(value, parameter));
    else if (value.json === undefined || value.json === null) continue;
    else if (place === 'query') for (const pair of queryPairs(value, parameter)) query.push(pair);
    else headers[name.toLowerCase()] = headerText(value, argument);
  }
  const path = fillPath(operation.path, steps);
  const address = query.length === 0 ? path : `${path}?${query.join('&')}`;
  if (address.length > MOST_ADDRESS)
    throw new UnfitArgument('', `make an address of at most ${MOST_ADDRESS} characters`);
  const { body } = operation;
  const content = body && bodyText(valueOf(args, body.argument, source, count), body);
  if (content !== undefined && body) headers['content-type'] = body.contentType;
  return { method: operation.method, path: address, headers, body: content };
}

/** Arguments as JSON, and the place of each value in it. */
export interface ArgumentSource {
  readonly text: string;
  readonly root: JsonNode;
}

/** A value of an argument, and its JSON as it is written. */
interface Value {
  readonly argument: string;
  readonly json: Json | undefined;
  readonly node: JsonNode | undefined;
  readonly text: string | undefined;
  /** Of the whole request. */
  readonly count: Count;
}

/** How many values a request is made of. */
class Count {
  #values = 0;

  /** Throws `UnfitArgument`. */
  add(values: number, argument: string): void {
    this.#values += values;
    if (this.#values > MOST_VALUES)
      throw new UnfitArgument(argument, `have at most ${MOST_VALUES} values, with those of the other arguments`);
  }
}

function valueOf(args: JsonObject, argument: string, source: ArgumentSource | undefined, count: Count): Value {
  const json = Object.hasOwn(args, argument) ? args[argument] : undefined;
  return { argument, json, node: source && member(source.root, argument), text: source?.text, count };
}

/** The members of an object by their names, without those that say nothing. */
function membersOf(value: Value, object: JsonObject): readonly (readonly [string, Value])[] {
  const { argument, text, node, count } = value;
  const entries = Object.entries(object);
  count.add(entries.length, argument);
  const nodes = new Map(node?.kind === 'object' ? node.members.map((one) => [one.key.value, one.value]) : []);
  return entries.flatMap(([name, json]) =>
    json === undefined || json === null
      ? []
      : [[name, { argument, json, node: nodes.get(name), text, count }] as const],
  );
}

function refuseUnknown({ parameters, body }: ApiOperation, args: JsonObject): void {
  const known = new Set(parameters.map(({ argument }) => argument));
  if (body) known.add(body.argument);
  const unknown = Object.keys(args).find((name) => !known.has(name));
  if (unknown === undefined) return;
  const list = known.size === 0 ? 'there are no arguments' : `there are ${[...known].slice(0, 32).join(', ')}`;
  throw new UnfitArgument('', `have no members but arguments of the tool: ${list}`);
}

/** A text, a number or a boolean as it is written; a list or an object is refused. */
function plain({ argument, json, node, text }: Value): string {
  if (typeof json === 'string') {
    if (!json.isWellFormed()) throw new UnfitArgument(argument, 'be Unicode text');
    return json;
  }
  if (typeof json === 'boolean') return String(json);
  if (typeof json !== 'number')
    throw new UnfitArgument(argument, 'be a text, a number or a boolean, or a list of them');
  return node && text !== undefined ? text.slice(node.start, node.end) : String(json);
}

function items(value: Value): readonly Value[] {
  const { json, argument, text, node, count } = value;
  if (!Array.isArray(json)) return [value];
  count.add(json.length, argument);
  const nodes = node?.kind === 'array' ? node.items : [];
  return (json as readonly Json[]).map((item, index) => ({ argument, json: item, node: nodes[index], text, count }));
}

function pathText(value: Value, { slashes, argument }: ApiParameter): string {
  const said = items(value).map(plain).join(',');
  if (said === '') throw new UnfitArgument(argument, 'not be empty: it is in the path');
  if (said.length > MOST_ADDRESS) throw new UnfitArgument(argument, `have at most ${MOST_ADDRESS} characters`);
  for (const reading of readingsOf(said)) {
    if (leadsAway(reading)) throw new UnfitArgument(argument, 'have no control characters and no steps such as ..');
    if (!slashes && /[/\\]/.test(reading))
      throw new UnfitArgument(argument, 'have no slashes: it is one step of the path');
  }
  return encodeURIComponent(said);
}

/** The whole path is looked at once more: several parameters may be in one step. */
function fillPath(template: string, values: ReadonlyMap<string, string>): string {
  const steps = template
    .split('/')
    .map((step) => step.replace(/\{([^{}]+)\}/g, (_all, name: string) => values.get(name) ?? ''));
  const path = steps.join('/');
  if (readingsOf(path).some((reading) => leadsAway(reading)))
    throw new UnfitArgument('', 'make no step such as .. in the path');
  return path;
}

const SEPARATORS = { comma: ',', space: '%20', pipe: '%7C' } as const;

function queryPairs(value: Value, { name, style }: ApiParameter): readonly string[] {
  const { json, argument } = value;
  const key = encodeURIComponent(name);
  const pair = (text: string): string => `${key}=${text}`;
  if (style === 'json') return [pair(encodeURIComponent(sourceOf(value).toWellFormed()))];
  if (isObject(json)) {
    if (style !== 'deep') throw new UnfitArgument(argument, 'not be an object');
    return membersOf(value, json).flatMap(([inner, one]) => {
      const values = items(one);
      const innerKey = encodeURIComponent(`${name}[${inner.toWellFormed()}]`);
      return values.map((each) => `${innerKey}=${encodeURIComponent(plain(each))}`);
    });
  }
  const texts = items(value).map((one) => encodeURIComponent(plain(one)));
  if (style === 'repeated' || style === 'deep') return texts.map(pair);
  return texts.length === 0 ? [] : [pair(texts.join(SEPARATORS[style]))];
}

function headerText(value: Value, argument: string): string {
  const text = items(value).map(plain).join(',');
  if (text.length > MOST_HEADER || !HEADER.test(text))
    throw new UnfitArgument(argument, `be at most ${MOST_HEADER} printable ASCII characters: it is sent as a header`);
  return text;
}

function bodyText(value: Value, { argument, contentType }: NonNullable<ApiOperation['body']>): string | undefined {
  const { json } = value;
  if (json === undefined) return undefined;
  if (contentType === 'text/plain') return plain(value);
  if (contentType !== 'application/x-www-form-urlencoded') return sourceOf(value);
  if (!isObject(json)) throw new UnfitArgument(argument, 'be an object: it is sent as a form');
  const form = new URLSearchParams();
  for (const [name, one] of membersOf(value, json)) for (const each of items(one)) form.append(name, plain(each));
  return form.toString();
}

function sourceOf({ json, node, text }: Value): string {
  return node && text !== undefined ? text.slice(node.start, node.end) : JSON.stringify(json ?? null);
}
