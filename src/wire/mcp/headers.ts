import { isObject, type Json, type JsonObject } from '../document/json.ts';

/** An argument that a header repeats, as the tool's `inputSchema` declares it with `x-mcp-header`. */
export interface ParamHeader {
  /** The header, in lower case: `mcp-param-region`. */
  readonly header: string;
  /** Members from the arguments down to the value. */
  readonly path: readonly string[];
}

/** An input schema whose declared headers break the protocol's rules: its tool is not offered. */
export class BadParamHeader extends Error {
  override readonly name = 'BadParamHeader';
}

const KEYWORD = 'x-mcp-header';
const TOKEN = /^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,128}$/;
const TYPES: ReadonlySet<unknown> = new Set(['string', 'integer', 'boolean']);
/** Most headers of one tool. */
const MOST_HEADERS = 32;

/**
 * The headers that an input schema declares: on values that a chain of `properties` leads to, each of a simple type and a
 * name of its own. Throws `BadParamHeader`. The schema nests no deeper than any document may.
 */
export function paramHeaders(schema: JsonObject): readonly ParamHeader[] {
  const found: ParamHeader[] = [];
  const seen = new Set<string>();
  const visit = (node: Json | undefined, path: readonly string[] | undefined): void => {
    if (Array.isArray(node)) for (const item of node as readonly Json[]) visit(item, undefined);
    if (!isObject(node)) return;
    const declared = node[KEYWORD];
    // A property may itself be called so: a declaration is no schema.
    if (declared !== undefined && !isObject(declared)) found.push(read(declared, node, path, seen));
    if (found.length > MOST_HEADERS) throw new BadParamHeader(`more than ${MOST_HEADERS} headers`);
    for (const [name, value] of Object.entries(node)) {
      if (name === 'properties' && isObject(value)) {
        for (const [key, child] of Object.entries(value)) visit(child, path && [...path, key]);
      } else if (!DATA.has(name)) visit(value, undefined);
    }
  };
  visit(schema, []);
  return found;
}

/** Keywords whose values are data, not schemas. */
const DATA: ReadonlySet<string> = new Set(['default', 'const', 'enum', 'examples', 'required', KEYWORD]);

function read(declared: Json, node: JsonObject, path: readonly string[] | undefined, seen: Set<string>): ParamHeader {
  if (path === undefined || path.length === 0) throw new BadParamHeader('a header of no property');
  if (typeof declared !== 'string' || !TOKEN.test(declared)) throw new BadParamHeader('no name of a header');
  if (!TYPES.has(node['type'])) throw new BadParamHeader('a header of a value that is not simple');
  const header = `mcp-param-${declared.toLowerCase()}`;
  if (seen.has(header)) throw new BadParamHeader('a header declared twice');
  seen.add(header);
  return { header, path };
}

/** The headers that repeat these arguments. A value that has no text, such as null, has no header. */
export function headersOf(declared: readonly ParamHeader[], args: JsonObject): Readonly<Record<string, string>> {
  const headers: Record<string, string> = {};
  for (const { header, path } of declared) {
    const said = textOf(valueAt(args, path));
    if (said !== undefined) headers[header] = encodeHeader(said);
  }
  return headers;
}

/** The name of the first header that does not repeat what the arguments say; undefined: all do. */
export function unlikeHeader(
  declared: readonly ParamHeader[],
  args: JsonObject,
  headers: Readonly<Record<string, string | readonly string[] | undefined>>,
): string | undefined {
  for (const { header, path } of declared) {
    const value = valueAt(args, path);
    const said = textOf(value);
    if (said === undefined) continue;
    const given = headers[header];
    const decoded = typeof given === 'string' ? decodeHeader(given) : undefined;
    const alike =
      decoded === said || (typeof value === 'number' && DECIMAL.test(decoded ?? '') && Number(decoded) === value);
    if (!alike) return header;
  }
  return undefined;
}

const DECIMAL = /^-?\d{1,32}(?:\.\d{1,32})?$/;

function valueAt(args: JsonObject, path: readonly string[]): Json | undefined {
  let value: Json | undefined = args;
  for (const name of path) value = isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;
  return value;
}

function textOf(value: Json | undefined): string | undefined {
  if (typeof value === 'string') return value;
  if (typeof value === 'boolean') return String(value);
  if (typeof value !== 'number' || !Number.isFinite(value)) return undefined;
  return Number.isInteger(value) && !Number.isSafeInteger(value) ? undefined : String(value);
}

const PREFIX = '=?base64?';
const SUFFIX = '?=';
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;
/** What a header may have without being encoded. */
const PLAIN = /^(?:[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?)?$/;

/** A text as the value of a header: as it is, or base64 of its UTF-8 between `=?base64?` and `?=`. */
export function encodeHeader(text: string): string {
  if (PLAIN.test(text) && !text.startsWith(PREFIX)) return text;
  return PREFIX + Buffer.from(text, 'utf8').toString('base64') + SUFFIX;
}

/** The text of a header; undefined where it is not what `encodeHeader` can give. */
export function decodeHeader(value: string): string | undefined {
  if (!value.startsWith(PREFIX) || !value.endsWith(SUFFIX)) return value;
  const base64 = value.slice(PREFIX.length, value.length - SUFFIX.length);
  if (!BASE64.test(base64)) return undefined;
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(Buffer.from(base64, 'base64'));
  } catch {
    return undefined;
  }
}
