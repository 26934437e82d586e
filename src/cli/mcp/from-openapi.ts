import { createReadStream } from 'node:fs';
import { basename } from 'node:path';
import { parseArgs } from 'node:util';
import { compileApi } from '#/config/compile/api-operations.ts';
import { createFaultLog } from '#/config/fault.ts';
import { MOST_OPERATIONS } from '#/config/resources/api-operation.ts';
import { API_VERSION } from '#/config/resources/schema.ts';
import { validate } from '#/config/resources/validate.ts';
import { showHidden } from '#/values/hidden-characters.ts';
import { isObject, type Json, type JsonObject } from '#/wire/document/json.ts';
import type { Output } from '../terminal/output.ts';
import { UsageError } from '../terminal/usage-error.ts';
import { readApiDocument, Unusable, type ApiDocument } from './openapi/api-document.ts';
import { findOperations, METHODS, type Wanted } from './openapi/find-operations.ts';
import { shortText } from './openapi/input-schema.ts';
import { authOf } from './openapi/security.ts';
import { toOperation } from './openapi/to-operation.ts';
import { misleads, writeYaml } from './openapi/write-yaml.ts';

export const MCP_FROM_OPENAPI_HELP = `gwctl mcp from-openapi FILE --jurisdiction PLACE [--name NAME] [--url URL]
    [--only NAME,…] [--methods METHOD,…] [--tags TAG,…] [--secret NAME/KEY] [--client-id ID]

Writes an MCPServer whose tools are the operations of an HTTP API, as an OpenAPI description (3.0 or 3.1, JSON or YAML) has
them. The resource goes to standard output; omissions and the steps that are left to you go to standard error. No other
document is read and nothing is fetched: read the result before you use it, since models read its descriptions.

  FILE                 The description; - reads standard input
  --jurisdiction PLACE Where the API processes data, such as EU or US
  --name NAME          Name of the MCPServer (default: from the title of the API)
  --url URL            Base address of the API (default: the first of its servers)
  --only NAME,…        Only the operations with these names of tools; * stands for any characters
  --methods METHOD,…   Only the operations with these methods, such as GET
  --tags TAG,…         Only the operations with one of these tags
  --secret NAME/KEY    Secret and key of the credential (default: the name of the MCPServer, and token)
  --client-id ID       Client id, where the API takes OAuth client credentials
`;

const MOST_BYTES = 32 * 1024 * 1024;
const NAME = /^[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?$/;
const MOST_NOTES = 100;
/** Characters of a title or a path that is shown. */
const MOST_LINE = 128;

interface Options extends Wanted {
  readonly name: string | undefined;
  readonly url: string | undefined;
  readonly jurisdiction: string;
  readonly secret: string | undefined;
  readonly clientId: string | undefined;
}

/** Writes an MCPServer. Resolves with the exit status, 0; rejects with UsageError where none can be written. */
export async function mcpFromOpenApi(args: readonly string[], { out, err }: Output): Promise<number> {
  const { file, options } = readOptions(args);
  const document = await readApiDocument(file, await textOf(file));
  const { resource, notes } = serverFrom(document, options);
  refuseFaults(resource);
  out(`# From ${oneLine(basename(file))}: ${titleOf(document)}`);
  out(writeYaml(resource));
  for (const note of notes.slice(0, MOST_NOTES)) err(showHidden(note));
  if (notes.length > MOST_NOTES) err(`and ${notes.length - MOST_NOTES} more`);
  return 0;
}

function readOptions(args: readonly string[]): { readonly file: string; readonly options: Options } {
  const text = { type: 'string' } as const;
  const list = { type: 'string', multiple: true } as const;
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      ...{ name: text, url: text, jurisdiction: text, secret: text, 'client-id': text },
      ...{ only: list, methods: list, tags: list },
    },
  });
  const [file, ...more] = positionals;
  if (file === undefined || more.length > 0) throw new UsageError('give one file');
  if (values.jurisdiction === undefined) throw new UsageError('say where the API processes data: --jurisdiction EU');
  const split = (all: readonly string[] | undefined) => all?.flatMap((one) => one.split(','));
  const methods = split(values.methods)?.map((one) => one.toLowerCase());
  const unknown = methods?.find((one) => !METHODS.some((method) => method === one));
  if (unknown !== undefined) throw new UsageError(`--methods takes ${METHODS.join(', ').toUpperCase()}`);
  const { name, url, jurisdiction, secret, 'client-id': clientId } = values;
  if (name !== undefined && !NAME.test(name))
    throw new UsageError('--name takes lower-case letters, digits and dashes');
  const options = {
    name,
    url,
    jurisdiction,
    secret,
    clientId,
    methods,
    only: split(values.only),
    tags: split(values.tags),
  };
  return { file, options };
}

async function textOf(file: string): Promise<string> {
  const parts: Buffer[] = [];
  let size = 0;
  try {
    for await (const part of file === '-' ? process.stdin : createReadStream(file)) {
      size += (part as Buffer).length;
      if (size > MOST_BYTES) throw new UsageError(`${file} is larger than ${MOST_BYTES / 1024 / 1024} MiB`);
      parts.push(part as Buffer);
    }
  } catch (thrown) {
    if (thrown instanceof UsageError) throw thrown;
    throw new UsageError(`${file} cannot be read`);
  }
  return Buffer.concat(parts)
    .toString('utf8')
    .replace(/^\uFEFF/, '');
}

function serverFrom(
  document: ApiDocument,
  options: Options,
): { readonly resource: JsonObject; readonly notes: readonly string[] } {
  const name = options.name ?? nameOf(document);
  const notes: string[] = [];
  const found = findOperations(document, options);
  const [secretName = name, key = 'token'] = options.secret?.split('/') ?? [];
  const { auth, notes: more } = authOf(
    document,
    found.map(({ value }) => value),
    { secretKeyRef: { name: secretName, key }, clientId: options.clientId },
  );
  const credential = typeof auth?.['header'] === 'string' ? auth['header'] : undefined;
  const written: JsonObject[] = [];
  for (const one of found) {
    const place = `${one.name} (${one.method.toUpperCase()} ${oneLine(one.path)})`;
    try {
      const { operation, notes: own } = toOperation(one, document, credential);
      written.push(operation);
      for (const note of own) notes.push(`${place}: ${note}`);
    } catch (thrown) {
      if (!(thrown instanceof Unusable)) throw thrown;
      notes.push(`${place} is left out: it ${thrown.message}`);
    }
  }
  if (written.length === 0) throw new UsageError(noneLeft(found.length, notes));
  if (written.length > MOST_OPERATIONS)
    throw new UsageError(
      `${written.length} operations are more than the ${MOST_OPERATIONS} that an MCPServer has: choose with --only, --methods or --tags`,
    );
  const spec = {
    type: 'OpenAPI',
    endpoint: { url: baseOf(document, options.url) },
    jurisdiction: options.jurisdiction,
    ...(auth && { auth }),
    operations: written,
  };
  return {
    resource: { apiVersion: API_VERSION, kind: 'MCPServer', metadata: { name }, spec },
    notes: [...notes, ...more],
  };
}

function noneLeft(found: number, notes: readonly string[]): string {
  if (found === 0) return 'the description has no operations that --only, --methods and --tags name';
  return `no operation can be used: ${notes.slice(0, 3).join('; ')}`;
}

function titleOf({ root }: ApiDocument): string {
  const { info } = root;
  const said = isObject(info) ? [info['title'], info['version']] : [];
  return oneLine(said.filter((one) => typeof one === 'string').join(' '));
}

/** A short text of a document on one line, whatever a terminal or a parser takes for the end of one. */
function oneLine(text: string): string {
  return showHidden(shortText(text.slice(0, MOST_LINE + 1).replaceAll(/\s/g, ' '), MOST_LINE));
}

function nameOf(document: ApiDocument): string {
  const { info } = document.root;
  const title = isObject(info) && typeof info['title'] === 'string' ? info['title'] : '';
  const name = title
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, 40)
    .replace(/^-+|-+$/g, '');
  if (!NAME.test(name)) throw new UsageError('the API has no title that makes a name: give one with --name');
  return name;
}

/** Variables in it have their defaults. */
function baseOf({ root }: ApiDocument, given: string | undefined): string {
  const first = Array.isArray(root['servers']) ? (root['servers'] as readonly Json[])[0] : undefined;
  const { url, variables } = isObject(first) ? first : {};
  const named = typeof url === 'string' ? url : '';
  const valueOf = (name: string): string => {
    const one = isObject(variables) && Object.hasOwn(variables, name) ? variables[name] : undefined;
    return isObject(one) && typeof one['default'] === 'string' ? one['default'] : '';
  };
  const address = given ?? named.replace(/\{([^{}]*)\}/g, (_all, name: string) => valueOf(name));
  if (/^https?:\/\//.test(address) && URL.canParse(address)) return address.replace(/\/$/, '');
  throw new UsageError('the description names no whole address of the API: give it with --url https://…');
}

/** The resource as a gateway checks it, and as its author reads it. */
function refuseFaults(resource: JsonObject): void {
  if (misleads(resource))
    throw new UsageError(
      'the resource would have a text or name that is not read as it stands, such as one with hidden characters: change it in the description',
    );
  const found: string[] = [];
  const body = validate('MCPServer', resource, (field, message) => found.push(`${field} ${message}`));
  if (body) {
    const faults = createFaultLog();
    compileApi({ faults }, { file: '', object: body.metadata.name, order: 0, body });
    for (const { field, message } of faults.list()) found.push(`${field} ${message}`);
  }
  if (found.length > 0)
    throw new UsageError(`the resource would not be valid: ${showHidden(found.slice(0, 5).join('; '))}`);
}
