import { hash } from 'node:crypto';
import { isFreeHeader } from '#/config/compile/api-operations.ts';
import { placeholdersOf } from '#/values/path-template.ts';
import { isObject, type Json, type JsonObject } from '#/wire/document/json.ts';
import { Unusable, type ApiDocument } from './api-document.ts';
import { inputSchema, shortText, type ArgumentSchema } from './input-schema.ts';

/** An operation of a document. */
export interface FoundOperation {
  /** As the document writes them. */
  readonly method: string;
  readonly path: string;
  readonly value: JsonObject;
  /** The tool's name: unique, and of the letters that names may have. */
  readonly name: string;
  readonly tags: readonly string[];
  /** Parameters of the path, then its own, which take the place of those. */
  readonly parameters: readonly Json[];
}

/** `spec.operations[]` of one operation, and what had to be left out of it. */
export interface WrittenOperation {
  readonly operation: JsonObject;
  readonly notes: readonly string[];
}

const MOST_DESCRIPTION = 1024;
const MOST_NAME = 64;
/** Of a name that is longer only the beginning is read: it ends in a digest of all. */
const MOST_LETTERS = 512;
const DIGEST = 6;
const MOST_PARAMETERS = 64;
const PLACES = { path: 'Path', query: 'Query', header: 'Header' } as const;
const STYLES = { spaceDelimited: 'Space', pipeDelimited: 'Pipe', deepObject: 'Deep' } as const;
/** Of these a document says nothing: HTTP itself and security do. // OpenAPI 3.1, 4.8.12.1 */
const OF_HTTP = ['accept', 'content-type', 'authorization'];

/** Letters that every model takes in names of tools and arguments. */
export function plainName(text: string): string {
  const plain = text
    .slice(0, MOST_LETTERS)
    .replace(/[^A-Za-z0-9_.-]+/g, '_')
    .replace(/^_+|_+$/g, '');
  if (plain.length <= MOST_NAME && text.length <= MOST_LETTERS) return plain;
  const digest = hash('sha256', text, 'hex').slice(0, DIGEST);
  return `${plain.slice(0, MOST_NAME - DIGEST - 1)}_${digest}`;
}

/** A name that is not taken yet, and is from now on. */
export function uniqueName(wanted: string, taken: Names): string {
  const base = wanted === '' ? 'operation' : wanted;
  let count = taken.get(base) ?? 0;
  let name = base;
  while (taken.has(name)) name = `${base.slice(0, MOST_NAME - 7)}_${++count + 1}`;
  taken.set(base, count);
  taken.set(name, 0);
  return name;
}

/** Names that are taken, each with how often it was wanted once more. */
type Names = Map<string, number>;

/**
 * An operation as a resource has it. `credential`: the header of the credential, which no argument is sent in. Throws `Unusable` where it cannot be called with what a resource can say.
 */
export function toOperation(found: FoundOperation, document: ApiDocument, credential?: string): WrittenOperation {
  const { method, path, value, name } = found;
  const notes: string[] = [];
  if (Array.isArray(value['servers'])) throw new Unusable('has a server of its own');
  const set = new Set([...OF_HTTP, credential?.toLowerCase()]);
  const parameters = parametersOf(found, document, set, notes);
  const taken: Names = new Map(parameters.map(({ argument }) => [argument.name, 0]));
  const body = method === 'get' ? undefined : bodyOf(value['requestBody'], document, taken);
  if (method === 'get' && isRequired(value['requestBody'], document))
    throw new Unusable('has a body, which GET cannot have');
  const members = [...parameters.map(({ argument }) => argument), ...(body ? [body.argument] : [])];
  const { schema, notes: cut } = inputSchema(members, document);
  const description = descriptionOf(value);
  return {
    operation: {
      name,
      ...(description !== '' && { description }),
      method: method.toUpperCase(),
      path: literal(path),
      ...(parameters.length > 0 && { parameters: parameters.map(({ written }) => written) }),
      ...(body && { body: body.written }),
      inputSchema: schema,
    },
    notes: [...notes, ...cut],
  };
}

function descriptionOf({ summary, description, deprecated }: JsonObject): string {
  const texts = [wordOf(summary), wordOf(description)].filter((text) => text.trim() !== '');
  const whole = [...new Set(texts)].join('\n\n');
  return shortText(deprecated === true ? `Deprecated. ${whole}` : whole, MOST_DESCRIPTION);
}

/** Letters that an address has no place for are encoded. */
function literal(path: string): string {
  if (/[?#]/.test(path)) throw new Unusable('has a path with a query');
  if (!path.startsWith('/')) throw new Unusable('has a path that does not begin with a slash');
  return encodeURI(path.toWellFormed()).replaceAll('%7B', '{').replaceAll('%7D', '}').replaceAll('%25', '%');
}

interface WrittenParameter {
  readonly written: JsonObject;
  readonly argument: ArgumentSchema;
}

function parametersOf(
  { parameters, path }: FoundOperation,
  document: ApiDocument,
  set: ReadonlySet<string | undefined>,
  notes: string[],
): readonly WrittenParameter[] {
  const taken: Names = new Map();
  const byPlace = new Map<string, JsonObject>();
  for (const one of parameters) {
    const { value } = document.follow(one);
    byPlace.set(`${wordOf(value['in'])} ${wordOf(value['name'])}`, value);
  }
  if (byPlace.size > MOST_PARAMETERS) throw new Unusable(`has more than ${MOST_PARAMETERS} parameters`);
  const written = [...byPlace.values()].flatMap((value) => {
    const isSet = value['in'] === 'header' && set.has(wordOf(value['name']).toLowerCase());
    const one = isSet ? undefined : parameterOf(value, taken, document);
    if (typeof one !== 'string') return one ? [one] : [];
    if (value['required'] === true || value['in'] === 'path') throw new Unusable(one);
    notes.push(`the parameter ${shortText(wordOf(value['name']), 64)} is left out: ${one}`);
    return [];
  });
  const known = new Set(
    written.filter(({ written: { in: place } }) => place === 'Path').map(({ written: { name } }) => name),
  );
  for (const name of placeholdersOf(path)) {
    if (!known.has(name)) throw new Unusable(`does not say what {${shortText(name, 64)}} in its path is`);
  }
  return written;
}

/** A text of a document; empty of anything else, which may have a toString of its own. */
function wordOf(value: Json | undefined): string {
  return typeof value === 'string' ? value : '';
}

/** A text: why it cannot be sent, which completes "the operation". */
function parameterOf(value: JsonObject, taken: Names, document: ApiDocument): WrittenParameter | string {
  const { in: place, name, description, content } = value;
  if (typeof name !== 'string' || !/^[!-~]{1,128}$/.test(name)) return 'has a parameter whose name is not plain ASCII';
  if (place === 'cookie') return 'has a parameter in a cookie, which is not supported';
  if (place !== 'path' && place !== 'query' && place !== 'header') return 'has a parameter in an unknown place';
  if (place === 'header' && !isFreeHeader(name.toLowerCase()))
    return 'has a parameter in a header that only the gateway sets';
  const json = isObject(content) ? content['application/json'] : undefined;
  if (isObject(content) && (!isObject(json) || place !== 'query'))
    return 'has a parameter in a form that is not supported';
  const schema = isObject(json) ? json['schema'] : value['schema'];
  const style = isObject(json) ? 'JSON' : styleOf(value, place, typeOf(schema, document));
  if (style === undefined) return 'has a parameter in a style that is not supported';
  const argument = uniqueName(plainName(name), taken);
  return {
    written: {
      name,
      in: PLACES[place],
      ...(argument !== name && { argument }),
      ...(style !== 'Repeated' && { style }),
    },
    argument: {
      name: argument,
      schema,
      description: typeof description === 'string' ? description : undefined,
      isRequired: place === 'path' || value['required'] === true,
    },
  };
}

function styleOf(
  { style, explode }: JsonObject,
  place: keyof typeof PLACES,
  type: Json | undefined,
): 'Repeated' | 'Comma' | 'Space' | 'Pipe' | 'Deep' | undefined {
  if (place !== 'query')
    return (style === undefined || style === 'simple') && type !== 'object' ? 'Repeated' : undefined;
  if (style === 'deepObject') return 'Deep';
  if (type === 'object') return undefined;
  if (style === undefined || style === 'form') return explode === false ? 'Comma' : 'Repeated';
  return style === 'spaceDelimited' || style === 'pipeDelimited' ? STYLES[style] : undefined;
}

function typeOf(schema: Json | undefined, document: ApiDocument): Json | undefined {
  try {
    return document.follow(schema).value['type'];
  } catch (thrown) {
    if (thrown instanceof Unusable) return undefined;
    throw thrown;
  }
}

function isRequired(body: Json | undefined, document: ApiDocument): boolean {
  return body !== undefined && document.follow(body).value['required'] === true;
}

const BODY_TYPES = /^(?:application\/(?:[a-z0-9.+-]+\+)?json|application\/x-www-form-urlencoded|text\/plain)$/;

function bodyOf(body: Json | undefined, document: ApiDocument, taken: Names) {
  if (body === undefined) return undefined;
  const { value } = document.follow(body);
  const content = isObject(value['content']) ? value['content'] : {};
  const types = Object.keys(content);
  const rank = (type: string): number => (type.endsWith('json') ? Number(type !== 'application/json') : 2);
  const usable = types
    .map((type) => [type, (type.split(';', 1)[0] ?? '').trim().toLowerCase()] as const)
    .filter(([, type]) => BODY_TYPES.test(type) && type.length <= 128)
    .toSorted(([, a], [, b]) => rank(a) - rank(b));
  const [chosen] = usable;
  if (!chosen) {
    if (value['required'] !== true && types.length === 0) return undefined;
    throw new Unusable(`has a body of ${shortText(types.join(', '), 128) || 'no type'}, which is not supported`);
  }
  const [key, contentType] = chosen;
  const media = content[key];
  const argument = uniqueName('body', taken);
  const { description } = value;
  return {
    written: { argument, contentType },
    argument: {
      name: argument,
      schema: isObject(media) ? media['schema'] : undefined,
      description: typeof description === 'string' ? description : undefined,
      isRequired: value['required'] === true,
    },
  };
}
