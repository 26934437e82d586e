import type { RestoreMode } from '#/config/snapshot.ts';
import { scan, type JsonNode } from '#/wire/document/scan.ts';
import { addressAt, hostsIn } from './addresses.ts';
import type { Restoration } from './restoration.ts';
import { CallWords, talkOf, wordsOf } from './tool-words.ts';

/** One text that a tool is told, and the member it stands in. */
export interface Argument {
  readonly name: string;
  readonly text: string;
}

const TAG = /«[A-Z][A-Z0-9_]{0,63}_[0-9]{1,9}»/g;
/** JSON within JSON is followed so deep. */
const MAX_NESTING = 4;
/** A longer command is not understood. */
const MAX_COMMAND = 128 * 1024;
const MAIL = /[^\s@<>,;"'`=:]{1,64}@[^\s@<>,;"'`]{1,255}/g;
const NOTHING_SAID = /^[\s,;<>"'()[\]]*$/;

/** The texts below a node, those of JSON in them among them. */
export function argumentsOf(root: JsonNode, name: string, tool: string): readonly Argument[] {
  const found: Argument[] = [];
  const words = new CallWords(tool);
  const visit = (node: JsonNode, called: string, depth: number): void => {
    if (node.kind === 'string') {
      found.push({ name: called, text: node.value });
      const inner = depth < MAX_NESTING && !words.isKept(called) ? scanJson(node.value) : undefined;
      if (inner) visit(inner, called, depth + 1);
    } else if (node.kind === 'array') for (const item of node.items) visit(item, called, depth);
    else if (node.kind === 'object') for (const { key, value } of node.members) visit(value, key.value, depth);
  };
  visit(root, name, 0);
  return found;
}

/** The root of a JSON text that is an object, a list or a string; undefined for any other text. */
export function scanJson(text: string): JsonNode | undefined {
  if (!/^\s*[{["]/.test(text)) return undefined;
  try {
    JSON.parse(text);
    return scan(text, { lenient: true });
  } catch {
    return undefined;
  }
}

/** Which values a call of a tool gets. */
export class CallVerdict {
  readonly #tool: string;
  readonly #restoration: Restoration;
  readonly #mode: RestoreMode;
  readonly #words: CallWords;
  /** It goes somewhere that nobody has named, and that stands in it as it is. */
  #strange = false;
  /**
   * Tags of those whom it goes to though nobody has named them, by member, where nothing else stands there. They are told
   * their own name, without which a message reaches nobody.
   */
  readonly #receivers = new Map<string, Set<string>>();
  readonly #permitted = new Map<string, boolean>();

  constructor(tool: string, told: readonly Argument[], restoration: Restoration) {
    this.#tool = tool;
    this.#restoration = restoration;
    this.#mode = restoration.modeOf(tool);
    this.#words = new CallWords(tool);
    if (this.#mode === 'never' || this.#mode === 'always') return;
    for (const argument of told) this.#judge(argument);
  }

  /** Whether a tag may be restored in this call. */
  permits(tag: string): boolean {
    let permitted = this.#permitted.get(tag);
    if (permitted === undefined) this.#permitted.set(tag, (permitted = this.#decide(tag)));
    return permitted;
  }

  #decide(tag: string): boolean {
    if (this.#mode === 'always') return true;
    if (this.#mode === 'never' || this.#strange) return false;
    if (this.#receivers.size > 0 && !this.#isReceiver(tag)) return false;
    const restoration = this.#restoration;
    return (
      this.#mode === 'known_targets' || restoration.isNamed(tag, this.#tool) || restoration.isReturned(tag, this.#tool)
    );
  }

  /** One that says where the call goes; one that may as well tell of somebody, only where it is alone. */
  #isReceiver(tag: string): boolean {
    const names = [...this.#receivers.keys()];
    const sure = names.filter((name) => this.#words.target(name) === 'surely');
    const counted = sure.length > 0 ? sure : names.length === 1 ? names : [];
    return counted.some((name) => this.#receivers.get(name)!.has(tag));
  }

  #judge({ name, text }: Argument): void {
    const value = text.trim();
    if (this.#words.target(name)) this.#target(name, value);
    else if (value !== '' && !/\s/.test(value) && addressAt(value.slice(0, MAX_COMMAND)) === 0)
      this.#address(name, value);
    if (this.#words.isCommand(name)) this.#command(value);
  }

  #address(name: string, text: string): void {
    const filled = this.#filled(text);
    if (this.#restoration.knowsAll(filled, this.#tool)) return;
    const tags = this.#tagsIn(text);
    // Who has written this very address knows what is in it, and nothing else of the call.
    if (tags.length === 0 || !this.#restoration.conversation.holds(filled)) this.#strange = true;
    for (const tag of tags) this.#receives(name, tag);
  }

  #receives(name: string, tag: string): void {
    const receivers = this.#receivers.get(name) ?? new Set();
    this.#receivers.set(name, receivers.add(tag));
  }

  /** A receiver, or several. */
  #target(name: string, text: string): void {
    if (text.length > MAX_COMMAND) return void (this.#strange = true);
    if (addressAt(text) >= 0) return this.#address(name, text);
    const tags = this.#tagsIn(text);
    const rest = text.replace(TAG, ' ');
    const mailboxes = rest.match(MAIL) ?? [];
    if (mailboxes.some((mailbox) => !this.#says(mailbox))) this.#strange = true;
    const isAlone = NOTHING_SAID.test(rest.replace(MAIL, ' '));
    if (tags.length === 0 && mailboxes.length === 0) {
      // Ids are looked up: nobody says them.
      const isId = wordsOf(name).some((word) => word === 'id' || word === 'ids');
      if (text.length > 1 && !isId && !this.#says(text)) this.#strange = true;
    }
    for (const tag of tags) {
      if (this.#restoration.isNamed(tag, this.#tool)) continue;
      if (!isAlone) this.#strange = true;
      this.#receives(name, tag);
    }
  }

  #command(text: string): void {
    if (text.length > MAX_COMMAND) return void (this.#strange = true);
    const talk = talkOf(text);
    if (!talk) return;
    const hosts = new Set([...hostsIn(this.#filled(text)), ...talk.hosts]);
    if (talk.needsHost && hosts.size === 0) this.#strange = true;
    if ([...hosts].some((host) => !this.#restoration.knows(host, this.#tool))) this.#strange = true;
    if (!talk.mails) return;
    const named = this.#tagsIn(text).filter((tag) => tag.startsWith('«EMAIL_'));
    if (named.some((tag) => !this.#restoration.isNamed(tag, this.#tool))) this.#strange = true;
    if ((text.replace(TAG, ' ').match(MAIL) ?? []).some((mailbox) => !this.#says(mailbox))) this.#strange = true;
  }

  #says(text: string): boolean {
    return this.#restoration.conversation.says(text, this.#tool);
  }

  #tagsIn(text: string): readonly string[] {
    return (text.match(TAG) ?? []).filter((tag) => this.#restoration.tags.originalOf(tag) !== undefined);
  }

  /** With originals in the place of tags: they may be hosts. */
  #filled(text: string): string {
    return text.replace(TAG, (tag) => this.#restoration.tags.originalOf(tag) ?? tag);
  }
}
