import type { Lose } from '#/wire/hub/canonical.ts';
import { removeMembers, setMember, type Edit, type WireDocument } from '#/wire/document/document.ts';
import type { Json } from '#/wire/document/json.ts';
import { member, type JsonNode, type ObjectNode } from '#/wire/document/scan.ts';
import type { Traits } from '#/wire/hub/traits.ts';
import type { FitContext } from '#/ports/provider.ts';
import type { ChatRules, FamilyRules } from '#/vendors/rules.ts';

/**
 * Gathers what must change in one body. Members of one object are removed together, since removals next to each other
 * share a comma, and every loss is named once.
 */
export class Fitting {
  readonly root: ObjectNode;
  readonly body: WireDocument['body'];
  readonly #lose: Lose;
  readonly #named = new Set<string>();
  readonly #removals = new Map<ObjectNode, Set<string>>();
  readonly #edits: Edit[] = [];

  constructor({ root, body }: WireDocument, lose: Lose) {
    this.root = root;
    this.body = body;
    this.#lose = lose;
  }

  /** The node of a top-level member that is there, says something and has not been dropped. */
  node(name: string): JsonNode | undefined {
    if (this.body[name] === undefined || this.#removals.get(this.root)?.has(name)) return undefined;
    return member(this.root, name);
  }

  /** The value of a top-level member that is there and has not been dropped. */
  value(name: string): Json | undefined {
    return this.#removals.get(this.root)?.has(name) ? undefined : this.body[name];
  }

  lose(what: string): void {
    if (this.#named.has(what)) return;
    this.#named.add(what);
    this.#lose(what);
  }

  /** Drops a top-level member, which is a loss unless it said nothing. */
  drop(name: string): void {
    if (this.value(name) === undefined) return;
    if (this.value(name) !== null) this.lose(name);
    this.remove(this.root, name);
  }

  /** Removes a member of any object without calling it a loss. */
  remove(object: ObjectNode, name: string): void {
    const names = this.#removals.get(object);
    if (names) names.add(name);
    else this.#removals.set(object, new Set([name]));
  }

  /** Gives a top-level member another name; dropped where that one is there already. */
  rename(from: string, to: string): void {
    if (this.value(from) === undefined) return;
    if (this.value(to) !== undefined) {
      this.remove(this.root, from);
      return;
    }
    const key = this.root.members.find((entry) => entry.key.value === from)?.key;
    if (key) this.edit({ start: key.start, end: key.end, text: JSON.stringify(to) });
  }

  /** Sets a top-level member to JSON source text. */
  set(name: string, json: string): void {
    this.edit(setMember(this.root, name, json));
  }

  /** Cancels removals in an object that is replaced as a whole. */
  forget(object: JsonNode): void {
    if (object.kind === 'object') this.#removals.delete(object);
  }

  edit(edit: Edit): void {
    this.#edits.push(edit);
  }

  edits(): readonly Edit[] {
    if (this.#removals.size === 0) return this.#edits;
    const removals = [...this.#removals].flatMap(([object, names]) =>
      removeMembers(object, ({ value }) => names.has(value)),
    );
    return [...removals, ...this.#edits];
  }
}

/** Drops what a model or its host refuses and nothing else: the rest was written for it by its family's encoder. */
export function fitRejected(document: WireDocument, { rejects }: Traits, lose: Lose): readonly Edit[] {
  if (rejects.size === 0) return [];
  const fitting = new Fitting(document, lose);
  fitMembers(fitting, {}, rejects);
  return fitting.edits();
}

/** Drops the top-level members that a vendor or a model does not take, and gives the others the vendor's names. */
export function fitMembers(fitting: Fitting, rules: FamilyRules, rejects: Traits['rejects']): void {
  const { members, refuses = [], names = {}, tiers, foreignTiers } = rules;
  for (const [from, to] of Object.entries(names)) fitting.rename(from, to);
  for (const name of refuses) fitting.drop(name);
  for (const { key } of fitting.root.members) {
    const name = key.value;
    const refused = members !== undefined && !members.has(name) && !Object.hasOwn(names, name);
    if (refused || rejects.has(name)) fitting.drop(name);
  }
  if (tiers) fitTier(fitting, tiers);
  if (foreignTiers) {
    const asked = fitting.value('service_tier');
    if (typeof asked === 'string' && Object.hasOwn(foreignTiers, asked))
      fitting.set('service_tier', JSON.stringify(foreignTiers[asked]));
  }
}

function fitTier(fitting: Fitting, tiers: Readonly<Record<string, string>>): void {
  const asked = fitting.value('service_tier');
  if (typeof asked !== 'string') return;
  const tier = Object.hasOwn(tiers, asked) ? tiers[asked] : undefined;
  if (tier === undefined) fitting.drop('service_tier');
  else if (tier !== asked) fitting.set('service_tier', JSON.stringify(tier));
}

const USAGE = '"include_usage":true';
const NO_PADDING = '"include_obfuscation":false';

/**
 * Streams are metered by their usage frame, so it is requested wherever possible; padding is not, since no reader needs
 * it.
 */
export function fitStreamOptions(
  fitting: Fitting,
  taken: ChatRules['streamOptions'],
  { stream, includeUsage }: FitContext,
): void {
  if (taken === 'none') return leaveOut(fitting);
  if (!stream) return;
  const all = taken === 'unpadded' ? `${USAGE},${NO_PADDING}` : USAGE;
  const options = fitting.node('stream_options');
  if (options?.kind !== 'object') return fitting.set('stream_options', `{${all}}`);
  if (options.members.length === 0) {
    return fitting.edit({ start: options.start + 1, end: options.start + 1, text: all });
  }
  if (taken === 'unpadded') fitting.edit(setMember(options, 'include_obfuscation', 'false'));
  if (taken === 'usage' && options.members.some(({ key }) => key.value !== 'include_usage')) {
    return fitting.set('stream_options', `{${all}}`);
  }
  if (!includeUsage || member(options, 'include_usage') === undefined) {
    fitting.edit(setMember(options, 'include_usage', 'true'));
  }
}

/** Usage is reported without being requested, by the vendor or by us: only other options count as a loss. */
function leaveOut(fitting: Fitting): void {
  const options = fitting.node('stream_options');
  if (options === undefined) return;
  const isUsage = options.kind === 'object' && options.members.every(({ key }) => key.value === 'include_usage');
  if (isUsage) fitting.remove(fitting.root, 'stream_options');
  else fitting.drop('stream_options');
}
