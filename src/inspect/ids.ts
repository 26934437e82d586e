import { LRUCache } from 'lru-cache';
import type { CustomTerm, ResolvedPolicy } from '#/config/snapshot.ts';
import { GatewayError } from '#/errors/gateway-error.ts';
import type { Call } from '#/call/call.ts';
import type { IdLeaf } from '#/wire/hub/codec.ts';
import { setString, type Edit } from '#/wire/document/document.ts';
import type { JsonNode } from '#/wire/document/scan.ts';
import type { Steps } from '#/wire/document/steps.ts';
import type { Detection } from './detection.ts';
import { numbersInId } from './numbers-in-ids.ts';
import { protection } from './refusals.ts';
import { ScopeTerms } from './terms/scope-terms.ts';

/** Kinds that a check or their form tells from random characters. */
const KINDS: readonly string[] = ['EMAIL', 'IBAN', 'CREDIT_CARD', 'SECRET', 'NATIONAL_ID', 'TAX_ID', 'PHONE'];
/** A word that is a card number or an IBAN as a whole. */
const ACCOUNT = /^(?:\d{13,19}|[A-Z]{2}\d{2}[A-Z0-9]{11,30})$/;
/** Of what machines make by chance: others would be found in it by chance, too. */
const CHECKED_KINDS: readonly string[] = ['IBAN', 'CREDIT_CARD'];

/** Made by chance: a UUID, or letters and digits mixed, behind words that say what it is. */
const BY_CHANCE =
  /^(?:[a-z]{2,12}[_-]){0,3}(?:[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|[0-9a-fA-F]{16,64}|[A-Za-z0-9]{9}|[A-Za-z0-9]{16,64})$/;
/** The minimum digits of an account, a card or a person's number, with possible separators. */
const DIGITS = /\d(?:[ ._/:-]?\d){7}/;
/** What no machine writes into an id: a text stands there, or a disguise. */
const ODD = /[^\w.:/+@~=-]/;
/** Words joined by capitals. */
const WORDY = /^(?:[a-z]{2,12}[_-]){0,3}[A-Za-z][a-z]+(?:[A-Z][a-z]+)+\d?$/;
/** How secrets begin that have a form of their own; an IBAN; an address. */
const TELLING = /@|^(?:sk|rk|pk|gh[a-z]|glpat|xox[a-z]|AKIA|ASIA|AIza|eyJ)|[A-Z]{2}\d{2}[A-Z0-9]{11}/;
/** How one begins that is no random id behind a word. */
const SECRET = /(?:^|[_/:.-])(?:[srp]k[_-]|gh[a-z]_|glpat-|xox[a-z]-|AKIA|ASIA|AIza)|^eyJ/;
/** Longer ones are read as bytes only: by chance everything is in them. */
const MOST_SEALED = 64;
/** As much of sealed bytes as is asked whether they are text. */
const HEAD = 1024;
const CHARS_A_STEP = 4096;
/** What it takes to look at an id, however short. */
const LEAST_CHARS = 256;
const DECODER = new TextDecoder('utf-8', { fatal: true });
/** Most sealed bytes that are read as text. */
const MOST_TEXT = 65_536;

/** Looks for personal data and terms in strings that are no text: ids, sealed bytes, names of models. */
export class IdSearch {
  readonly #detection: Detection;
  readonly #terms: readonly ScopeTerms[];
  readonly #entities: ReadonlySet<string> | undefined;

  constructor(
    detection: Detection,
    { entities }: Pick<ResolvedPolicy['dlp'], 'entities'>,
    terms: readonly (ScopeTerms | undefined)[],
  ) {
    this.#detection = detection;
    this.#entities = entities;
    this.#terms = terms.filter((one) => one !== undefined);
  }

  /** The categories of what an id holds; mostly none, which takes no search. */
  inId(id: string): readonly string[] {
    const categories = this.#terms.length > 0 ? termsIn(id, this.#terms) : [];
    if (!DIGITS.test(id) && !TELLING.test(id) && !SECRET.test(id) && !ODD.test(id)) return categories;
    const written = this.#asWritten(id);
    return [...categories, ...written, ...this.#glued(id).filter((kind) => !written.includes(kind))];
  }

  #asWritten(id: string): readonly string[] {
    const isByChance = BY_CHANCE.test(id) && !SECRET.test(id);
    if (isByChance && !id.split(/[_-]/).some((word) => ACCOUNT.test(word))) return [];
    const kinds = this.#kinds(isByChance ? CHECKED_KINDS : KINDS);
    return this.#detection.findNow(apart(id), kinds).map(({ category }) => category);
  }

  #glued(id: string): readonly string[] {
    const first = numbersInId(id, this.#detection, this.#entities).next();
    return first.done === true ? [] : [first.value.category];
  }

  /** The same for bytes that only their maker can read: only texts in them are searched. */
  inSealed(sealed: string): readonly string[] {
    if (sealed.length <= MOST_SEALED) {
      const found = this.inId(sealed);
      if (found.length > 0) return found;
    }
    const text = textOf(sealed);
    if (text === undefined) return [];
    const found = [
      ...this.#terms.flatMap((one) => one.in({ text })),
      ...this.#detection.findNow(text, this.#kinds(KINDS)),
    ];
    return found.map(({ category }) => category);
  }

  #kinds(kinds: readonly string[]): ReadonlySet<string> {
    return new Set(kinds.filter((kind) => this.#entities?.has(kind) ?? true));
  }
}

/** Words of an id stand apart; places stay. */
function apart(id: string): string {
  return id.replaceAll(/[_/:]/g, ' ');
}

/** The words of an id, those of `blueHeron` and `blue.heron` too. */
function wordsOf(id: string): string {
  return id.replaceAll(/[_/:.-]+|(?<=[a-z\d])(?=[A-Z])/g, ' ');
}

/** Terms that are found as separate words are searched for only where they are words, not letters by chance. */
function termsIn(id: string, terms: readonly ScopeTerms[]): readonly string[] {
  const texts = BY_CHANCE.test(id) && !WORDY.test(id) ? [apart(id)] : [apart(id), wordsOf(id)];
  for (const text of texts) {
    const found = terms.flatMap((one) => one.in({ text }));
    if (found.length > 0) return found.map(({ category }) => category);
  }
  return [];
}

function textOf(sealed: string): string | undefined {
  const head = Buffer.from(sealed.slice(0, HEAD), 'base64');
  // The last character may be cut off.
  if (head.length < 8 || head.subarray(0, -3).some((byte) => byte < 0x09 || (byte > 0x0d && byte < 0x20)))
    return undefined;
  try {
    return DECODER.decode(Buffer.from(sealed.slice(0, MOST_TEXT - (MOST_TEXT % 4)), 'base64'));
  } catch {
    return undefined;
  }
}

/** Where findings in ids are written down. */
interface IdFindings {
  readonly flagged: Set<JsonNode>;
  readonly where: (at: number) => string | undefined;
  count(category: string): void;
  block(category: string, at: number): void;
}

/**
 * How ids with matches are handled: both ends of a pair get one id of the gateway's, the same in every
 * turn; sealed bytes leave with the block around them or not at all; an id that only its maker knows cannot be another.
 * Throws `data_protection`.
 */
export function* inspectIds(
  ids: readonly IdLeaf[],
  search: IdSearch,
  policy: Pick<ResolvedPolicy['dlp'], 'mode'>,
  removes: boolean,
  rewrite: IdFindings,
): Steps<readonly Edit[]> {
  const edits: Edit[] = [];
  const instead = new Map<string, string>();
  let looked = 0;
  for (const { node, role, signed } of ids) {
    looked += Math.max(LEAST_CHARS, node.value.length);
    if (looked >= CHARS_A_STEP) {
      yield;
      looked = 0;
    }
    const found = role === 'sealed' ? search.inSealed(node.value) : search.inId(node.value);
    if (found.length === 0) continue;
    for (const category of found) rewrite.count(category);
    if (role === 'model') throw noModel();
    if (policy.mode === 'allow_log' && !removes) continue;
    if (policy.mode === 'block') for (const category of found) rewrite.block(category, node.start);
    else if (signed) rewrite.flagged.add(signed);
    else if (role === 'pair') {
      const known =
        instead.get(node.value) ?? `${prefixOf(node.value)}gwref${String(instead.size + 1).padStart(4, '0')}`;
      instead.set(node.value, known);
      edits.push(setString(node, known));
    } else throw refused(found, rewrite.where(node.start));
  }
  return edits;
}

/** What vendors require before some ids. */
function prefixOf(id: string): string {
  return /^(?:fc|msg|rs|call|toolu|srvtoolu|mcpr|mcp|ctc|ws|ci|cu|ig|fs|lsh)_/.exec(id)?.[0] ?? '';
}

function refused(categories: readonly string[], place?: string): GatewayError {
  const found = [...new Set(categories)].sort().join(', ');
  return protection(
    `an id in the request contains ${found}, and an id cannot be rewritten`,
    place === undefined ? [] : [place],
  );
}

/**
 * Models and beta flags that were inspected, and whether they contain personal data: few, and the same in every call.
 */
const known = new LRUCache<string, boolean>({ max: 4096 });

/**
 * The call, if the model's name contains no personal data: it goes to providers, into rows and into sums of usage.
 * Throws
 * `invalid_request`, and `data_protection` for a beta flag with personal data.
 */
export function withPlainModel<T extends Pick<Call, 'ask' | 'headers' | 'isLocal' | 'key' | 'remove'>>(
  call: T,
  detection: Detection,
): T {
  const { policy } = call.key.workload;
  const { model } = call.ask;
  const hasTerms = policy.dlp.customTerms.length > 0 || call.remove.length > 0;
  // The gateway's own models are no names of a caller's, whatever terms are words of them.
  if (!call.isLocal) {
    if (known.get(model) ?? tells(model, detection)) throw noModel();
    if (hasTerms && namesTerm(model, policy.dlp, call.remove)) throw noModel();
  }
  const flags = call.headers['anthropic-beta'];
  if (flags === undefined || policy.dlp.mode === 'allow_log') return call;
  for (const flag of [flags].flat().join(',').split(',')) {
    const isTelling = tells(flag, detection) || (hasTerms && namesTerm(flag, policy.dlp, call.remove));
    if (isTelling) throw refused(['a beta flag']);
  }
  return call;
}

function tells(id: string, detection: Detection): boolean {
  let told = known.get(id);
  if (told === undefined) known.set(id, (told = new IdSearch(detection, {}, []).inId(id).length > 0));
  return told;
}

function namesTerm(
  id: string,
  { customTerms }: Pick<ResolvedPolicy['dlp'], 'customTerms'>,
  remove: readonly CustomTerm[],
): boolean {
  const terms = [ScopeTerms.of(customTerms), ScopeTerms.of(remove)].filter((one) => one !== undefined);
  return terms.length > 0 && termsIn(id, terms).length > 0;
}

function noModel(): GatewayError {
  const message =
    'model must not contain personal data, a secret or a protected term: model ids are recorded in clear text.';
  return new GatewayError('invalid_request', message, { param: 'model' });
}
