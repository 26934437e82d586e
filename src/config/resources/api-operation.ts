import Type, { type Static } from 'typebox';
import { anyObject, closed, mapOf, oneOf, text, values } from './schema.ts';

/** Operations of one API: models are offered no more tools than this in one request. */
export const MOST_OPERATIONS = 256;

const parameter = closed({
  name: text('plainName', {
    maxLength: 128,
    description: 'Name in the path, of the query parameter or of the header.',
  }),
  in: oneOf('parameterPlace', { description: 'Where the argument is sent.' }),
  argument: Type.Optional(
    text('argument', { maxLength: 64, description: 'The argument that is sent there. Default: the one of this name.' }),
  ),
  style: Type.Optional(
    oneOf('parameterStyle', {
      description:
        'How a list or an object is written in the query. Repeated (the default): once for each item. Comma, Space, Pipe: ' +
        'items separated so. Deep: name[member]. JSON: as JSON. In paths and headers, items are separated by commas.',
    }),
  ),
  slashes: Type.Optional(
    values(['Refuse', 'Encode'], {
      description:
        'Slashes in an argument in the path. Refuse (the default): the call is refused, since many servers take an encoded ' +
        'slash for a separator. Encode: sent as %2F. Steps such as .. are refused in both.',
    }),
  ),
});

const body = closed(
  {
    argument: text('argument', {
      maxLength: 64,
      default: 'body',
      description: 'The argument that is sent as the body.',
    }),
    contentType: text('mediaType', {
      maxLength: 128,
      default: 'application/json',
      description:
        'Its media type: JSON (application/json or …+json), application/x-www-form-urlencoded or text/plain.',
    }),
  },
  { description: 'Absent: the request has no body.' },
);

const operation = closed({
  name: text('toolName', { maxLength: 64, description: 'Name of the tool.' }),
  description: Type.Optional(
    Type.String({ maxLength: 4096, description: 'What it does, as models and people read it.' }),
  ),
  method: values(['GET', 'POST', 'PUT', 'PATCH', 'DELETE'], { description: 'Method of the request.' }),
  path: text('apiPath', {
    maxLength: 1024,
    description: 'Path below endpoint.url, with {name} for each parameter in it.',
  }),
  parameters: Type.Optional(
    mapOf(parameter, ['name', 'in'], {
      maxItems: 64,
      description: 'Where arguments are sent. Those that are named nowhere are refused.',
    }),
  ),
  body: Type.Optional(body),
  readOnly: Type.Optional(Type.Boolean({ description: 'It changes nothing. Default: true of GET.' })),
  destructive: Type.Optional(
    Type.Boolean({ description: 'It may delete or overwrite. Default: true of all but GET.' }),
  ),
  inputSchema: anyObject({
    description:
      'JSON Schema (2020-12) of its arguments, which every call must keep: an object with a property for each argument. ' +
      'Without $ref; at most 16384 characters. Clients learn of format; the API checks it.',
  }),
});

/** Operations of an HTTP API that are offered as tools. */
export const operations = mapOf(operation, ['name'], {
  minItems: 1,
  maxItems: MOST_OPERATIONS,
  description: 'The operations that are its tools, when type is OpenAPI: gwctl mcp from-openapi writes them.',
});

/** One operation as a resource has it. */
export type ApiOperationSpec = Static<typeof operation>;
