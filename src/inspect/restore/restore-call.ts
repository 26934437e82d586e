import type { Called } from '#/wire/hub/codec.ts';
import { isSource, setString, type Edit } from '#/wire/document/document.ts';
import type { JsonNode } from '#/wire/document/scan.ts';
import { argumentsOf, CallVerdict, scanJson } from './call-verdict.ts';
import type { Restoration } from './restoration.ts';
import { restoreText, type TextContext, type TextKind } from './restore-text.ts';

/** Puts originals back in what a tool is told, as edits of the answer. Throws `AnswerOutOfBounds`. */
export function restoreCall({ tool, told, name }: Called, restoration: Restoration): readonly Edit[] {
  if (told.kind === 'string') {
    if (!told.value.includes('«') && !told.value.includes('\\')) return [];
    const restored = restoreTold(told.value, tool, name, restoration);
    return restored === told.value ? [] : [setString(told, restored)];
  }
  const strings = stringsOf(told).filter(({ value }) => value.includes('«'));
  if (strings.length === 0) return [];
  const context = contextOf(new CallVerdict(tool, argumentsOf(told, name, tool), restoration), tool);
  return strings.flatMap((node) => {
    if (isSource(node, node.value)) {
      const source = restoreText(node.value, restoration, 'text', { ...context(node.value), inSource: true });
      return source === node.value ? [] : [{ start: node.start, end: node.end, text: `"${source}"` }];
    }
    const restored = restoreText(node.value, restoration, 'text', context(node.value));
    return restored === node.value ? [] : [setString(node, restored)];
  });
}

/**
 * Puts originals back in a text that is all that a tool is told: JSON with arguments, or a text of the tool's own. `name`:
 * what the text is called. Only tags change. Throws `AnswerOutOfBounds`.
 */
function restoreTold(text: string, tool: string, name: string, restoration: Restoration): string {
  const root = scanJson(text);
  if (root === undefined) {
    // Arguments that were cut off are JSON to their reader still, as far as they go.
    const kind: TextKind = /^\s*[{["]/.test(text) ? 'json' : 'text';
    const verdict = new CallVerdict(tool, [{ name, text }], restoration);
    return restoreText(text, restoration, kind, contextOf(verdict, tool)(text));
  }
  const decided: boolean[] = [];
  const context = contextOf(new CallVerdict(tool, argumentsOf(root, name, tool), restoration), tool);
  const onTag = (restored: boolean): void => void decided.push(restored);
  for (const { value } of stringsOf(root)) {
    if (value.includes('«')) restoreText(value, restoration, 'text', { ...context(value), onTag });
  }
  return decided.includes(true) ? restoreText(text, restoration, 'json', { decided: decided.values() }) : text;
}

function contextOf(verdict: CallVerdict, tool: string): (value: string) => TextContext {
  const permits = (tag: string): boolean => verdict.permits(tag);
  return (value) => ({ tool, permits, isValue: true, isJson: /^\s*[{[]/.test(value) && scanJson(value) !== undefined });
}

/** The strings below a node, members' names among them, in the order of the text. */
function stringsOf(root: JsonNode): readonly Extract<JsonNode, { kind: 'string' }>[] {
  const found: Extract<JsonNode, { kind: 'string' }>[] = [];
  const visit = (node: JsonNode): void => {
    if (node.kind === 'string') found.push(node);
    else if (node.kind === 'array') for (const item of node.items) visit(item);
    else if (node.kind === 'object') {
      for (const { key, value } of node.members) {
        found.push(key);
        visit(value);
      }
    }
  };
  visit(root);
  return found;
}

/** What may be the beginning of a tag, written out or escaped; at the end of a text, what may become that. */
const MAY_BEGIN = /«(?![^A-Z])|\\u00ab|\\(?:u(?:0(?:0a?)?)?)?$/i;
/**
 * Puts originals back in what a tool is told in pieces. Where it goes may be said last, so from its first tag on it is held
 * back up to its end: nobody can act on half a call.
 */
export class CallRestorer {
  readonly #restoration: Restoration;
  readonly #tool: () => string;
  readonly #name: string;
  #passed = '';
  #held = '';
  /** What is held back begins with a tag, as far as that can be told. */
  #isSure = false;
  #isTooLong = false;

  /** `tool`: its name, once that is told. `name`: what the text is called. */
  constructor(restoration: Restoration, tool: () => string, name: string) {
    this.#restoration = restoration;
    this.#tool = tool;
    this.#name = name;
  }

  get holding(): boolean {
    return this.#held !== '';
  }

  /** What can be passed on now. */
  push(piece: string): string {
    if (this.#isTooLong) return this.#pass(piece);
    if (!this.#restoration.takeRoom(piece.length)) {
      this.#isTooLong = true;
      return this.#pass(this.#held + piece);
    }
    const text = this.#held + piece;
    const from = this.#isSure ? 0 : text.search(MAY_BEGIN);
    const passed = from < 0 ? text : text.slice(0, from);
    this.#held = from < 0 ? '' : text.slice(from);
    this.#isSure = this.#isSure || this.#held.startsWith('«') || this.#held.length > 5;
    this.#passed += passed;
    return passed;
  }

  #pass(text: string): string {
    this.#restoration.withheld ||= MAY_BEGIN.test(text);
    this.#passed = this.#held = '';
    return text;
  }

  /** What was held back, when nothing more will come. Throws `AnswerOutOfBounds`. */
  flush(): string {
    if (this.#held === '') return '';
    const restored = restoreTold(this.#passed + this.#held, this.#tool(), this.#name, this.#restoration);
    const held = restored.slice(this.#passed.length);
    this.#passed += this.#held;
    this.#held = '';
    this.#isSure = false;
    return held;
  }

  /** Takes note of a piece that has no tag in it and was passed on, while nothing is held back. */
  follow(piece: string): void {
    this.push(piece);
  }
}
