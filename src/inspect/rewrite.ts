import type { CustomTerm, ResolvedPolicy } from '#/config/snapshot.ts';
import { GatewayError } from '#/errors/gateway-error.ts';
import type { Leaf } from '#/wire/hub/codec.ts';
import { isSource, setString, type Edit } from '#/wire/document/document.ts';
import type { JsonNode } from '#/wire/document/scan.ts';
import { finish, type Steps } from '#/wire/document/steps.ts';
import { IN_A_FILE } from './restore/conversation.ts';
import type { Detection } from './detection.ts';
import { type Match, mergeActions, type Action } from './match.ts';
import { IdSearch } from './ids.ts';
import { isWithinCharacter } from './detectors/characters.ts';
import { textsOf } from './decoding/text-runs.ts';
import { protection } from './refusals.ts';
import { ScopeTerms, type TermText } from './terms/scope-terms.ts';
import { outsideTags, shownInClear, tellingParts } from './restore/shown-in-clear.ts';
import { MOST_MATCHES } from './search/match-pack.ts';
import { tagLiterals, TagTable } from './tags.ts';

/** What is replaced in texts, and how. */
export interface Scope {
  readonly mode: ResolvedPolicy['dlp']['mode'];
  readonly removed: ScopeTerms | undefined;
  readonly policyTerms: ScopeTerms | undefined;
  /** Whether tags are made at all, so that text which looks like one must be told apart. */
  readonly reversible: boolean;
}

/** `attached`: files are anonymized with the request, whose tags must be told from those it has. */
export function createScope(policy: ResolvedPolicy['dlp'], remove: readonly CustomTerm[], attached = false): Scope {
  return {
    mode: policy.mode,
    removed: remove.length > 0 ? ScopeTerms.of(remove) : undefined,
    policyTerms: policy.customTerms.length > 0 ? ScopeTerms.of(policy.customTerms) : undefined,
    reversible: policy.mode === 'tokenize' || remove.length > 0 || attached,
  };
}

/** Rewrites leaf texts along one scope, counting what it finds. */
export class Rewrite {
  readonly tags = new TagTable();
  /** Where in the request the texts stand that are rewritten now. */
  place = IN_A_FILE;
  /** The path in the request of what stands at an offset. */
  where: (at: number) => string | undefined = () => undefined;
  /** Where the file stands whose text is rewritten now. */
  file: number | undefined;
  /** Categories found that the mode refuses. */
  readonly blocked = new Set<string>();
  /** Signed blocks in which something was found: they leave as they are or not at all. // spec 4.5.4 */
  readonly flagged = new Set<JsonNode>();
  /** What detectors found in signed blocks, until it is known what the conversation shows in clear. */
  readonly looked: Looked[] = [];
  /** Whether there are terms to look for. */
  readonly hasTerms: boolean;
  /** Parts of terms that go on in another text. */
  readonly #halves = new Map<object, Record<'removed' | 'ofPolicy', Match[]>>();
  readonly #scope: Scope;
  readonly #findings: Record<string, number>;
  readonly #blockedAt = new Set<number>();

  constructor(scope: Scope, findings: Record<string, number>) {
    this.#scope = scope;
    this.hasTerms = scope.removed !== undefined || scope.policyTerms !== undefined;
    this.#findings = findings;
  }

  /** Offsets in the request where something was found that the mode refuses, in order. */
  get blockedAt(): readonly number[] {
    return [...this.#blockedAt].sort((a, b) => a - b);
  }

  /** Notes that the mode refuses what was found. `at`: where it stands. */
  block(category: string, at: number): void {
    this.blocked.add(category);
    if (at !== IN_A_FILE && this.#blockedAt.size < MOST_PLACES) this.#blockedAt.add(at);
  }

  /**
   * Looks for terms in texts that are large together, off the event loop, before they are rewritten; undefined where they
   * are looked for on the spot.
   */
  lookAhead(texts: readonly TermText[], detection: Detection): Promise<void> | undefined {
    const { removed, policyTerms } = this.#scope;
    if (!removed && !policyTerms) return undefined;
    if (!detection.needsWorker(texts.reduce((sum, { text }) => sum + text.length, 0))) return undefined;
    const ahead = async (): Promise<void> => {
      await removed?.lookAhead(texts, detection);
      await policyTerms?.lookAhead(texts, detection);
    };
    return ahead();
  }

  /** Looks for terms that go on from one text in the next, before the texts are rewritten. */
  *overJoints(leaves: readonly Leaf[], source: string): Steps<void> {
    const { removed, policyTerms } = this.#scope;
    const read = textsOf(leaves, source);
    for (const terms of [removed, policyTerms]) {
      for (const half of terms ? yield* terms.over(read) : []) {
        const halves = this.#halves.get(leaves[half.leaf]!) ?? { removed: [], ofPolicy: [] };
        this.#halves.set(leaves[half.leaf]!, halves);
        halves[terms === removed ? 'removed' : 'ofPolicy'].push(half);
      }
    }
  }

  /** `anonymized`: what is found becomes a tag, whatever the mode. */
  text(text: string, detected: readonly Match[], anonymized = false): string {
    return apply(text, this.#replacements({ text }, detected, anonymized));
  }

  /**
   * As `text`, of a string of a document, in steps; undefined where it stays. Only what is put into it is written anew. Ask
   * `mayChange` before: most strings stay.
   */
  *edit(leaf: Leaf, detected: readonly Match[], anonymized = false): Steps<Edit | undefined> {
    const { node, text, skipped } = leaf;
    const found = yield* this.#actions(leaf, detected, anonymized);
    if (found.length === 0) return undefined;
    const actions = found.length === 1 ? found : mergeActions(found);
    let inside = isSource(node, text);
    // Within a character of two code units nothing stands as it is.
    for (const { start, end } of actions) inside &&= !isWithinCharacter(text, start) && !isWithinCharacter(text, end);
    const written: string[] = [];
    let at = 0;
    let isChanged = false;
    for (const [index, action] of actions.entries()) {
      if (index % FINDS_A_STEP === FINDS_A_STEP - 1) yield;
      const { start, end, by } = this.#replacement(action, text, skipped);
      isChanged ||= end - start !== by.length || !text.startsWith(by, start);
      written.push(text.slice(at, start), inside ? JSON.stringify(by).slice(1, -1) : by);
      at = end;
    }
    if (!isChanged) return undefined;
    written.push(text.slice(at));
    yield;
    let whole = '';
    if (written.length > MOST_STRUNG) whole = written.join('');
    else for (const part of written) whole += part;
    return inside ? { start: node.start, end: node.end, text: `"${whole}"` } : setString(node, whole);
  }

  /** What is put into a text in the place of what is found in it, in order. */
  #replacements(
    of: Pick<Leaf, 'text' | 'skipped'>,
    detected: readonly Match[],
    anonymized: boolean,
  ): readonly Replacement[] {
    const { text, skipped } = of;
    if (!this.mayChange(text, detected)) return NOTHING;
    return mergeActions(finish(this.#actions(of, detected, anonymized))).map((action) =>
      this.#replacement(action, text, skipped),
    );
  }

  /** Whether anything may have to be put into a text: never wrong in saying no. */
  mayChange(text: string, detected: readonly Match[]): boolean {
    const { removed, policyTerms, reversible } = this.#scope;
    return detected.length > 0 || !!removed || !!policyTerms || (reversible && text.includes('«'));
  }

  /** Actions for the matches in a text, and for literals in it that look like our tags, of which there may be many. */
  *#actions(of: Pick<Leaf, 'text' | 'skipped'>, detected: readonly Match[], anonymized: boolean): Steps<Action[]> {
    const { text, skipped } = of;
    const { mode, removed, policyTerms, reversible } = this.#scope;
    const halves = this.#halves.get(of);
    const actions: Action[] = [];
    // Terms first: what a detector finds too is called what its owner calls it.
    for (const matches of [removed?.in({ text, skipped }) ?? NO_SPANS, halves?.removed ?? NO_SPANS]) {
      for (const match of matches) {
        this.count(match.category);
        actions.push({ ...match, act: 'tag' });
      }
    }
    for (const matches of [policyTerms?.in({ text, skipped }) ?? NO_SPANS, halves?.ofPolicy ?? NO_SPANS, detected]) {
      for (const match of matches) {
        this.count(match.category);
        if (anonymized) actions.push({ ...match, act: 'tag' });
        else if (mode === 'block') this.block(match.category, this.file ?? this.place);
        else if (mode !== 'allow_log') actions.push({ ...match, act: mode === 'mask' ? 'mask' : 'tag' });
      }
    }
    if (!reversible || !text.includes('«')) return actions;
    let count = 0;
    for (const match of tagLiterals(text)) {
      if (++count % FINDS_A_STEP === 0) yield;
      actions.push({ ...match, act: 'tag' });
      if (actions.length > MOST_REPLACED) throw tooManyTags();
    }
    return actions;
  }

  #replacement({ start, end, category, act }: Action, text: string, skipped: RegExp | undefined): Replacement {
    if (act === 'mask') return { start, end, by: `[${category}]` };
    const said = text.slice(start, end);
    return { start, end, by: this.tags.tagFor(skipped ? said.replace(skipped, '') : said, category, this.place) };
  }

  /** Looks at a text that must not be rewritten: what is found in it condemns the block around it. */
  look(text: string, detected: readonly Match[], block: JsonNode): void {
    const { mode, removed, policyTerms } = this.#scope;
    const ofPolicy = policyTerms?.in({ text }) ?? [];
    const toRemove = removed?.in({ text }) ?? [];
    for (const { category } of ofPolicy) this.count(category);
    for (const { category } of toRemove) this.count(category);
    if (toRemove.length > 0 || (ofPolicy.length > 0 && mode !== 'allow_log')) this.flagged.add(block);
    for (const { start, end, category } of outsideTags(text, detected)) {
      this.looked.push({ parts: tellingParts(text.slice(start, end)), category, block });
    }
  }

  /**
   * Decides on the matches `looked` at in signed blocks: what these texts show in clear as they leave is no find there.
   * `edits`: what this rewriting changes in the texts.
   */
  judge(leaves: readonly Leaf[], edits: readonly Edit[]): void {
    const shown = shownInClear(new Set(this.looked.flatMap(({ parts }) => parts)), leaves, edits);
    for (const { parts, category, block } of this.looked) {
      if (parts.every((part) => shown.has(part))) continue;
      this.count(category);
      if (this.#scope.mode !== 'allow_log') this.flagged.add(block);
    }
  }

  /** Who looks into what is no text, for the same. */
  idSearch(detection: Detection, policy: ResolvedPolicy['dlp']): IdSearch {
    return new IdSearch(detection, policy, [this.#scope.removed, this.#scope.policyTerms]);
  }

  count(category: string, times = 1): void {
    this.#findings[category] = (this.#findings[category] ?? 0) + times;
  }
}

/** A find in a signed block. */
interface Looked {
  readonly parts: readonly string[];
  readonly category: string;
  readonly block: JsonNode;
}

/** What stands in the place of a stretch of text. */
interface Replacement {
  readonly start: number;
  readonly end: number;
  readonly by: string;
}

const NOTHING: readonly Replacement[] = [];
const NO_SPANS: readonly Match[] = [];
/** Of what a mode refuses, so many are remembered. */
const MOST_PLACES = 256;
const FINDS_A_STEP = 512;
/** Matches, terms and tags in one text beyond which it is not rewritten. */
const MOST_REPLACED = MOST_MATCHES;

function apply(text: string, replacements: readonly Replacement[]): string {
  if (replacements.length === 0) return text;
  let result = '';
  let at = 0;
  for (const { start, end, by } of replacements) {
    result += text.slice(at, start) + by;
    at = end;
  }
  return result + text.slice(at);
}

function tooManyTags(): GatewayError {
  const message = `The request is too large: one of its texts has more than ${MOST_REPLACED} matches, terms and tags. Nothing was sent.`;
  return new GatewayError('request_too_large', message);
}

/** Tags are numbered over one request: this one's would stand for other texts in the turns that the provider has kept. */
export function confusion(): GatewayError {
  return protection(
    'personal data cannot be added to a conversation that the provider stores: send the whole conversation',
  );
}

/** Of so few parts a text is strung together without a copy: the body that it becomes a part of is written once. */
const MOST_STRUNG = 64;
