import type { TValidationError } from 'typebox/error';
import { nearest } from '#/values/nearest.ts';
import { LONG_LISTS, PATTERNS } from './schema.ts';

const PATTERN_MESSAGES: ReadonlyMap<string, string> = new Map(Object.values(PATTERNS));

const FORMAT_MESSAGES: ReadonlyMap<string, string> = new Map([
  ['email', 'must be an e-mail address'],
  ['date-time', 'must be a date and time, such as 2026-01-31T12:00:00Z'],
]);

/** Values of an enumeration -> the words that stand for the whole list in a message. */
const LIST_MESSAGES: ReadonlyMap<string, string> = new Map(
  LONG_LISTS.map(([names, message]) => [names.join(' '), message]),
);

/**
 * Calls `found` for every field a schema error is about, with words that never hold the value found: what they hold all
 * comes from the schema, the nearest name of a list too. `document`: what the error was found in.
 */
export function describeError(
  error: TValidationError,
  document: unknown,
  found: (field: string, message: string) => void,
): void {
  const field = toField(error.instancePath);
  switch (error.keyword) {
    case 'required':
      for (const name of error.params.requiredProperties) found(join(field, name), 'is required');
      return;
    case 'boolean':
      return found(field, 'is not a known field');
    case 'additionalProperties':
      return; // each unknown field has an error of its own
    default:
      return found(field, describeValue(error, document));
  }
}

function describeValue(error: TValidationError, document: unknown): string {
  switch (error.keyword) {
    case 'type':
      return `must be ${[error.params.type].flat().map(withArticle).join(' or ')}`;
    case 'enum':
      return describeChoice(error.params.allowedValues.map(String), valueAt(document, error.instancePath));
    case 'const':
      return `must be ${String(error.params.allowedValue)}`;
    case 'pattern':
      return PATTERN_MESSAGES.get(String(error.params.pattern)) ?? 'does not have the right form';
    case 'format':
      return FORMAT_MESSAGES.get(error.params.format) ?? 'does not have the right form';
    case 'minimum':
      return `must be at least ${error.params.limit}`;
    case 'maximum':
      return `must be at most ${error.params.limit}`;
    case 'minLength':
      return error.params.limit === 1 ? 'must not be empty' : `must have at least ${error.params.limit} characters`;
    case 'maxLength':
      return `must have at most ${error.params.limit} characters`;
    case 'minItems':
      return error.params.limit === 1 ? 'must not be empty' : `must have at least ${error.params.limit} items`;
    case 'maxItems':
      return `must have at most ${error.params.limit} items`;
    case 'minProperties':
      return 'must not be empty';
    case 'maxProperties':
      return `must have at most ${error.params.limit} fields`;
    default:
      return 'is not valid';
  }
}

function describeChoice(allowed: readonly string[], value: unknown): string {
  const list = LIST_MESSAGES.get(allowed.join(' ')) ?? `must be ${allowed.join(', ').replace(/, ([^,]*)$/, ' or $1')}`;
  const meant = typeof value === 'string' ? nearest(value, allowed) : undefined;
  return meant === undefined ? list : `${list}; did you mean ${meant}?`;
}

function withArticle(type: string): string {
  return /^[aeio]/.test(type) ? `an ${type}` : `a ${type}`;
}

/** What a JSON pointer leads to. */
function valueAt(document: unknown, pointer: string): unknown {
  let value = document;
  for (const step of stepsOf(pointer)) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, step)) return undefined;
    value = (value as Readonly<Record<string, unknown>>)[step];
  }
  return value;
}

function stepsOf(pointer: string): readonly string[] {
  return pointer
    .split('/')
    .slice(1)
    .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'));
}

/** Turns a JSON pointer into a field: `/spec/prices/3/input` is `spec.prices[3].input`. */
function toField(pointer: string): string {
  return stepsOf(pointer).reduce((field, step) => join(field, step), '');
}

/** Names a field of a field. A key that is not a plain word is quoted, so that it cannot forge a line of a report. */
export function join(field: string, step: string): string {
  if (/^\d{1,9}$/.test(step)) return `${field}[${step}]`;
  if (!/^[\w$-]{1,63}$/.test(step)) return `${field}[${JSON.stringify(step.slice(0, 100))}]`;
  return field === '' ? step : `${field}.${step}`;
}
