import type { CustomTerm } from '#/config/snapshot.ts';
import { GatewayError } from '#/errors/gateway-error.ts';
import { EXTENSION, removeMembers, type Edit, type WireDocument } from '#/wire/document/document.ts';
import { isObject, type Json } from '#/wire/document/json.ts';

const MAX_TERMS = 256;
const MAX_TERM_LENGTH = 1000;
const MAX_LABEL_LENGTH = 32;

/** What the `gw` extension of a request body asks for, and the edits that take it out of the body. */
export interface Extension {
  readonly remove: readonly CustomTerm[];
  readonly edits: readonly Edit[];
}

const NONE: Extension = { remove: [], edits: [] };

/**
 * Reads `gw: {remove: […]}` or `"gw.remove": […]` and strips it: it never reaches a provider. // spec 1.8
 * Anything else under `gw` is refused, since a misspelt name would let through what it was meant to keep in.
 */
export function readExtension(document: WireDocument): Extension {
  const { body } = document;
  const names: string[] = [];
  for (const name in body) if (EXTENSION.test(name)) names.push(name);
  if (names.length === 0) return NONE;
  const remove: CustomTerm[] = [];
  for (const name of names) {
    const value = body[name];
    if (name === 'gw.remove') remove.push(...readTerms(value, 'gw.remove'));
    else if (name === 'gw' && isObject(value)) {
      for (const member of Object.keys(value)) {
        if (member !== 'remove') throw invalid('gw has an unknown field: the only one is remove', 'gw');
        remove.push(...readTerms(value[member], 'gw.remove'));
      }
    } else if (name === 'gw') throw invalid('gw must be an object', 'gw');
    else throw invalid('The body has an unknown field that begins with gw.: the only one is gw.remove', 'gw');
  }
  refuseTooMany(remove, 'gw.remove');
  return { remove, edits: removeMembers(document.root, (key) => EXTENSION.test(key.value)) };
}

/** Addresses and numbers: a label goes to the provider as a part of the tag. */
const TELLING = /[@+]|\d[ ._-]?\d[ ._-]?\d[ ._-]?\d[ ._-]?\d/;

/** Reads a list of terms to remove, each a text or `{term, label}`. Throws `invalid_request`, naming `param`. */
export function readTerms(value: Json | undefined, param: string): readonly CustomTerm[] {
  if (!Array.isArray(value)) throw invalid(`${param} must be an array of terms`, param);
  refuseTooMany(value, param);
  return (value as readonly Json[]).map((entry, index) => {
    const at = `${param}[${index}]`;
    if (typeof entry === 'string') return { term: readTerm(entry, at), label: 'term' };
    if (!isObject(entry)) throw invalid(`${at} must be a string or {term, label}`, at);
    const { label } = entry;
    if (label !== undefined && (typeof label !== 'string' || label === '' || label.length > MAX_LABEL_LENGTH)) {
      throw invalid(`${at}.label must be a string of 1 to ${MAX_LABEL_LENGTH} characters`, `${at}.label`);
    }
    if (label !== undefined && TELLING.test(label)) {
      throw invalid(
        `${at}.label must name a kind, such as person, without @, + or numbers: it is sent to the provider`,
        `${at}.label`,
      );
    }
    return { term: readTerm(entry['term'], `${at}.term`), label: label ?? 'term' };
  });
}

function refuseTooMany(terms: readonly unknown[], param: string): void {
  if (terms.length > MAX_TERMS) throw invalid(`${param} takes at most ${MAX_TERMS} terms`, param);
}

function readTerm(value: Json | undefined, at: string): string {
  if (typeof value !== 'string' || value.trim() === '' || value.length > MAX_TERM_LENGTH) {
    throw invalid(`${at} must be a string of 1 to ${MAX_TERM_LENGTH} characters`, at);
  }
  return value;
}

function invalid(message: string, param: string): GatewayError {
  return new GatewayError('invalid_request', message, { param });
}
