import Type, { type TObject, type TProperties, type TSchema, type TSchemaOptions } from 'typebox';
import { PLACES } from '#/values/places.ts';
import { SPELLINGS, type Enumeration, type ResourceSpelling } from './names.ts';

/** The API group of our kinds. */
export const GROUP = 'gatewarden.dev';

/** `apiVersion` of our kinds. */
export const API_VERSION = `${GROUP}/v1alpha1`;

/** Patterns of the fields, each with what a fault says about a value that does not match. RE2 syntax, for CRDs. */
export const PATTERNS = {
  name: ['^[a-z0-9]([-a-z0-9]*[a-z0-9])?$', 'must be lower-case letters, digits and dashes'],
  objectName: ['^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$', 'must be lower-case letters, digits, dashes and dots'],
  // No `.`, `..` or anything that starts with `..`: a key is also the name of a file.
  secretKey: [
    '^([-_a-zA-Z0-9]|\\.[-_a-zA-Z0-9])[-._a-zA-Z0-9]*$',
    'must be letters, digits, dashes, dots and underscores',
  ],
  model: ['^[a-z0-9][a-z0-9-]{0,62}/[A-Za-z0-9*][A-Za-z0-9._:/@*-]*$', 'must be <provider>/<model>'],
  alias: ['^gw/[a-z0-9][a-z0-9._/-]*$', 'must be gw/ and a lower-case name'],
  money: ['^[0-9]{1,12}(\\.[0-9]{1,9})?$', 'must be a decimal amount in quotes, at most nine digits after the point'],
  tool: ['^[A-Za-z0-9_.:/*-]+$', 'must be the name of a tool: letters, digits, dashes, dots, colons, slashes and *'],
  plainName: ['^[!-~]+$', 'must be a name: letters, digits and signs of ASCII, without spaces'],
  toolName: ['^[A-Za-z0-9_.-]+$', 'must be letters, digits, underscores, dots and dashes'],
  argument: ['^[A-Za-z0-9_.-]+$', 'must be letters, digits, underscores, dots and dashes'],
  apiPath: [
    "^(/[A-Za-z0-9._~!$&'()*+,;=:@%{}-]*)+$",
    'must be a path that begins with a slash, such as /orders/{orderId}, without a query',
  ],
  mediaType: [
    '^(application/([a-z0-9.+-]+\\+)?json|application/x-www-form-urlencoded|text/plain)$',
    'must be application/json, a type that ends in +json, application/x-www-form-urlencoded or text/plain',
  ],
  mcpTool: [
    '^[a-z0-9*][a-z0-9.*-]{0,252}/([A-Za-z0-9_.*-]+|(prompts|resources)/[!-~]+)$',
    'must be <server>/<tool>, such as crm/find_* or orders/*, <server>/prompts/<prompt> or <server>/resources/<uri>',
  ],
  toolToApprove: [
    '^[a-z0-9*][a-z0-9.*-]{0,252}/[A-Za-z0-9_.*-]+$',
    'must be <server>/<tool>, such as crm/delete_* or orders/*: only calls of tools are approved, not prompts and resources',
  ],
  hostPattern: [
    '^(\\*\\.)?[a-z0-9]([a-z0-9-]*[a-z0-9])?(\\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*$',
    'must be a host in lower case, such as api.example.com or *.example.com',
  ],
  pathWord: [
    '^[a-z0-9][a-z0-9_-]*$',
    'must be the first word of a path below /v1: lower-case letters, digits, dashes and underscores',
  ],
  clientId: ['^[!-~]+( [!-~]+)*$', 'must be printable ASCII characters'],
  scope: [
    '^[!#-\\[\\]-~]+$',
    'must be the name of a scope: printable ASCII characters without spaces, quotes and backslashes',
  ],
  url: ['^https?://', 'must start with https:// (or http://)'],
  sha256: ['^[0-9a-f]{64}$', 'must be a SHA-256 in lower-case hexadecimal'],
  hint: ['^[A-Za-z0-9_-]{4,12}$', 'must be 4 to 12 letters, digits, dashes or underscores'],
  timeZone: ['^[A-Za-z][A-Za-z0-9_+/-]*$', 'must be the name of a time zone, such as Europe/Berlin'],
} as const;

/** Lists too long to repeat in a message, each with the message for a value that is not on it. */
export const LONG_LISTS: readonly (readonly [names: readonly string[], message: string])[] = [
  [PLACES, 'must be a country by its two letters (ISO 3166), EU, APAC, GLOBAL or LOCAL'],
];

/** A string that matches one of the patterns. */
export function text(pattern: keyof typeof PATTERNS, options: TSchemaOptions = {}) {
  return Type.String({ pattern: PATTERNS[pattern][0], ...options });
}

/** An object without other fields than these: configuration that is not understood is refused, not ignored. */
export function closed<P extends TProperties>(properties: P, options: TSchemaOptions = {}): TObject<P> {
  return Type.Object(properties, { ...options, additionalProperties: false });
}

/** One of an enumeration's values, as resources spell them. */
export function oneOf<E extends Enumeration>(enumeration: E, options: TSchemaOptions = {}) {
  return values(Object.keys(SPELLINGS[enumeration]) as ResourceSpelling<E>[], options);
}

/** One of these strings. */
export function values<const V extends string>(allowed: readonly V[], options: TSchemaOptions = {}) {
  return Type.Enum([...allowed], { type: 'string', ...options });
}

/** A list that must not hold an item twice. */
export function setOf<S extends TSchema>(items: S, options: TSchemaOptions = {}) {
  return Type.Array(items, { 'x-kubernetes-list-type': 'set', ...options });
}

/** A list of objects, told apart by the fields `keys`. */
export function mapOf<S extends TSchema>(items: S, keys: readonly string[], options: TSchemaOptions = {}) {
  return Type.Array(items, { 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': keys, ...options });
}

/** An object with any keys and string values. */
export function stringMap(options: TSchemaOptions & { readonly maxLength: number }) {
  const { maxLength, ...rest } = options;
  const schema = { type: 'object', additionalProperties: { type: 'string', maxLength }, ...rest };
  return Type.Unsafe<Readonly<Record<string, string>>>(schema);
}

/** An object whose fields are no business of the API server: checked when the resource is compiled. */
export function anyObject(options: TSchemaOptions = {}) {
  const schema = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true, ...options };
  return Type.Unsafe<Readonly<Record<string, unknown>>>(schema);
}

/** A name that other resources refer to (a DNS label). */
export function name(options: TSchemaOptions = {}) {
  return text('name', { minLength: 1, maxLength: 63, ...options });
}

/** A model id; a `*` matches any model of the provider where a field says so. */
export function model(options: TSchemaOptions = {}) {
  return text('model', { minLength: 3, maxLength: 200, ...options });
}

/** A decimal amount of money as a string. */
export function money(options: TSchemaOptions = {}) {
  return text('money', { maxLength: 24, ...options });
}

/** Labels that a namespace must have. */
export function namespaceSelector() {
  return closed(
    { matchLabels: stringMap({ maxLength: 63, maxProperties: 16, description: 'Labels a namespace must have.' }) },
    { description: 'Which namespaces, when from is Selector.' },
  );
}

/** A reference to a resource of the same namespace. */
export function localRef(options: TSchemaOptions = {}) {
  return closed({ name: name() }, options);
}

/** A reference to one key of a Secret of the same namespace. */
export function secretKeyRef(options: TSchemaOptions = {}) {
  return closed(
    {
      name: text('objectName', { minLength: 1, maxLength: 253, description: 'Name of the Secret.' }),
      key: text('secretKey', { minLength: 1, maxLength: 253, description: 'Key in the Secret.' }),
    },
    { description: 'Where the value is stored: a Secret of the same namespace.', ...options },
  );
}

/** A spend limit: an amount in the organization's currency, for a period. */
export function budget(options: TSchemaOptions = {}) {
  return closed(
    {
      amount: money({ description: 'Amount in the currency of the organization, as a decimal string.' }),
      period: oneOf('period', { description: 'When the spend restarts from zero. Total: never.' }),
    },
    options,
  );
}

/** Shares of a limit at which an alert is sent. */
export function budgetAlerts(options: TSchemaOptions = {}) {
  return closed(
    {
      percent: setOf(Type.Integer({ minimum: 1, maximum: 100 }), {
        maxItems: 8,
        description: 'Percentages of the amount at which an alert is raised, once per period. Empty: never.',
      }),
    },
    options,
  );
}

/** Where data is processed: a country, or a group of them such as EU. */
export function jurisdiction(options: TSchemaOptions = {}) {
  return values(PLACES, options);
}
