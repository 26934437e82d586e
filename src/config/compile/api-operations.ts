import { hash } from 'node:crypto';
import type { Check } from '#/values/json-schema/check.ts';
import { compileSchema, SchemaFault } from '#/values/json-schema/compile-schema.ts';
import { isPathTemplate, placeholdersOf } from '#/values/path-template.ts';
import type { FaultyObject } from '../fault.ts';
import type { ApiOperationSpec } from '../resources/api-operation.ts';
import { join } from '../resources/messages.ts';
import { toSnapshot } from '../resources/names.ts';
import type { ApiConfig, ApiOperation, ApiParameter } from '../snapshot.ts';
import type { Resource } from './catalog.ts';
import type { Compilation } from './context.ts';

type Fault = (field: string, message: string) => void;

/** Of all definitions together, as JSON: what a server of tools may list, and less than a resource of a cluster may have. */
const MOST_CHARACTERS = 768 * 1024;
/** Told to clients, and checked by the API itself. */
const UNCHECKED = ['format'];
/** Headers that are HTTP's, the gateway's or those of proxies: no argument is sent there. */
const TAKEN: ReadonlySet<string> = new Set([
  ...['accept', 'accept-encoding', 'authorization', 'connection', 'content-encoding', 'content-length', 'content-type'],
  ...['cookie', 'date', 'expect', 'forwarded', 'host', 'keep-alive', 'origin', 'proxy-authorization', 'referer', 'te'],
  ...['trailer', 'transfer-encoding', 'upgrade', 'user-agent', 'via'],
]);
const HEADER = /^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/;

/** Compiles the operations of an API; undefined where the resource has none. An operation with a fault takes no call. */
export function compileApi(
  { faults }: Pick<Compilation, 'faults'>,
  resource: FaultyObject & Pick<Resource<'MCPServer'>, 'body'>,
): ApiConfig | undefined {
  const { operations, auth } = resource.body.spec;
  if (!operations) return undefined;
  const own = auth.type === 'Header' ? auth.header?.toLowerCase() : undefined;
  const compiled = operations.map((operation, index) => {
    const fault: Fault = (field, message) =>
      faults.add(resource, field === '' ? `spec.operations[${index}]` : `spec.operations[${index}].${field}`, message);
    return [operation.name, compileOperation(operation, own, fault)] as const;
  });
  const text = JSON.stringify(operations);
  if (text.length > MOST_CHARACTERS)
    faults.add(resource, 'spec.operations', `must have at most ${MOST_CHARACTERS} characters as JSON: leave some out`);
  return Object.freeze({ operations: new Map(compiled), digest: hash('sha256', text, 'base64url') });
}

function compileOperation(spec: ApiOperationSpec, taken: string | undefined, fault: Fault): ApiOperation {
  const { method, path, inputSchema } = spec;
  const parameters = (spec.parameters ?? []).map((one): ApiParameter =>
    Object.freeze({
      name: one.name,
      place: toSnapshot('parameterPlace', one.in),
      argument: one.argument ?? one.name,
      style: toSnapshot('parameterStyle', one.style ?? 'Repeated'),
      slashes: one.slashes === 'Encode',
    }),
  );
  const check = compileArguments(inputSchema, (steps, message) => fault(steps.reduce(join, 'inputSchema'), message));
  checkPath(path, parameters, fault);
  checkHeaders(parameters, taken, fault);
  checkArguments(spec, parameters, fault);
  if (spec.body && method === 'GET') fault('body', 'must not be set: GET has no body');
  return Object.freeze({
    method,
    path,
    parameters: Object.freeze(parameters),
    body: spec.body && Object.freeze({ ...spec.body }),
    definition: definitionOf(spec),
    arguments: check,
  });
}

function compileArguments(schema: unknown, found: (path: readonly string[], message: string) => void): Check {
  try {
    return compileSchema(schema, UNCHECKED);
  } catch (thrown) {
    if (!(thrown instanceof SchemaFault)) throw thrown;
    found(thrown.path, thrown.message);
    return compileSchema(false);
  }
}

function checkPath(path: string, parameters: readonly ApiParameter[], fault: Fault): void {
  if (!isPathTemplate(path)) {
    fault('path', 'must have no empty or nested {}, no steps such as .., and no encoded slashes');
    return;
  }
  const names = new Set(placeholdersOf(path));
  const sent = new Set(parameters.filter(({ place }) => place === 'path').map(({ name }) => name));
  for (const name of names) if (!sent.has(name)) fault('parameters', `must have the parameter ${name} of the path`);
  for (const name of sent) if (!names.has(name)) fault('path', `must have {${name}}, which is a parameter in the path`);
}

/** Whether an argument may be sent in a header of this name, in lower case. */
export function isFreeHeader(name: string): boolean {
  return HEADER.test(name) && !TAKEN.has(name);
}

function checkHeaders(parameters: readonly ApiParameter[], own: string | undefined, fault: Fault): void {
  for (const [index, { name, place }] of parameters.entries()) {
    const lower = name.toLowerCase();
    if (place !== 'header' || (isFreeHeader(lower) && lower !== own)) continue;
    fault(`parameters[${index}].name`, 'must be the name of a header that the gateway does not set itself');
  }
}

/** Arguments that the schema names are sent once, and those that are sent are in the schema. */
function checkArguments(
  { inputSchema, body }: ApiOperationSpec,
  parameters: readonly ApiParameter[],
  fault: Fault,
): void {
  const { type, properties = {}, required = [] } = inputSchema;
  const isUsable =
    type === 'object' && typeof properties === 'object' && properties !== null && Array.isArray(required);
  if (!isUsable) return fault('inputSchema', 'must have the type object, and properties');
  const known = new Set(Object.keys(properties));
  const sent = new Set<string>();
  const places = parameters.map(({ argument, place }, index) => ({ argument, place, field: `parameters[${index}]` }));
  const all = body ? [...places, { argument: body.argument, place: 'body', field: 'body' }] : places;
  for (const { argument, place, field } of all) {
    if (sent.has(argument)) fault(field, `must not send the argument ${argument}, which is sent already`);
    if (!known.has(argument)) fault(field, `sends the argument ${argument}, which is not in properties of inputSchema`);
    else if (place === 'path' && !(required as readonly unknown[]).includes(argument))
      fault('inputSchema.required', `must have ${argument}, which is in the path`);
    sent.add(argument);
  }
  for (const name of known) {
    if (!sent.has(name))
      fault('inputSchema.properties', `has ${name.slice(0, 64)}, which is sent nowhere: add a parameter`);
  }
}

/** Of a method other than GET nothing is known: it may do harm. */
function definitionOf({
  name,
  description,
  method,
  inputSchema,
  ...hints
}: ApiOperationSpec): ApiOperation['definition'] {
  const { readOnly = method === 'GET', destructive = !readOnly } = hints;
  return Object.freeze({
    name,
    ...(description !== undefined && { description }),
    inputSchema,
    annotations: {
      readOnlyHint: readOnly,
      destructiveHint: destructive,
      idempotentHint: method !== 'POST' && method !== 'PATCH',
    },
  });
}
