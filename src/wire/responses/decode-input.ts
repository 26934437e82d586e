import type { Lose, Part, TextPart, Turn } from '../hub/canonical.ts';
import { BadRequestShape } from '../hub/codec.ts';
import { isObject, type Json, type JsonObject } from '../document/json.ts';
import { says } from '../hub/defined-members.ts';
import { isArray, requiredString } from '../request/request-shape.ts';
import { Turns } from '../hub/collect-turns.ts';
import { decodeContent, textsOf } from './decode-content.ts';
import { callOfItem, flatName, outputOfItem } from './own-tools.ts';
import { readReasoning } from './reasoning.ts';

/** Members of the items that cross, or that say nothing to another family. */
const KNOWN: Readonly<Record<string, ReadonlySet<string>>> = {
  message: new Set(['type', 'role', 'content', 'id', 'status']),
  function_call: new Set(['type', 'id', 'call_id', 'name', 'namespace', 'arguments', 'status']),
  function_call_output: new Set(['type', 'id', 'call_id', 'name', 'output', 'status']),
};

/** Items that stand for a part of the conversation that only their provider knows: without it there is nothing to ask. */
const KEPT_ELSEWHERE = new Set(['compaction', 'compaction_trigger']);
/** Stands for one item of an answer. Clients write it for what they take to be kept, unless told `store: false`. */
const REFERENCE = 'item_reference';

/** The instructions a conversation begins with, and its turns. Throws `BadRequestShape`. // wire-formats 5.1 */
export function decodeInput(input: Json | undefined, lose: Lose): { system: TextPart[]; turns: Turn[] } {
  const items = typeof input === 'string' ? [{ role: 'user', content: input }] : (input ?? []);
  if (!isArray(items)) throw new BadRequestShape('input must be a string or an array of items', 'input');
  const conversation = new Conversation(lose);
  const droppable = droppableReferences(items);
  for (const [index, item] of items.entries()) {
    if (droppable.has(index)) lose(`input[].${REFERENCE}`);
    else conversation.add(item, `input[${index}]`);
  }
  const { system } = conversation;
  const turns = conversation.turns.list;
  if (turns.length > 0) return { system, turns };
  if (system.length === 0) throw new BadRequestShape('input must contain at least one item with text', 'input');
  // Instructions alone: they are the request.
  return { system: [], turns: [{ role: 'user', parts: system }] };
}

/**
 * References to what a model thought or said before it called a tool or spoke on: without them the answer still says
 * what it came to. Those to a whole answer are not among them.
 */
function droppableReferences(items: readonly Json[]): ReadonlySet<number> {
  const droppable = new Set<number>();
  let goesOn = false;
  for (const [index, item] of [...items.entries()].reverse()) {
    if (!isObject(item)) goesOn = false;
    else if (item['type'] !== REFERENCE) goesOn = isCall(item) || item['role'] === 'assistant';
    else if (goesOn) droppable.add(index);
  }
  return droppable;
}

class Conversation {
  readonly system: TextPart[] = [];
  readonly turns = new Turns();
  readonly #lose: Lose;
  /** Names of the tools called so far, by the id of the call. */
  readonly #names = new Map<string, string>();
  #leading = true;

  constructor(lose: Lose) {
    this.#lose = lose;
  }

  add(item: Json, param: string): void {
    if (!isObject(item)) throw new BadRequestShape(`${param} must be an object`, param);
    const type = item['type'] ?? 'message';
    if (typeof type !== 'string') throw new BadRequestShape(`${param}.type must be a string`, `${param}.type`);
    if (type === REFERENCE) {
      const message = `${param} refers to an item that only the provider that created it knows: send the item itself (store: false)`;
      throw new BadRequestShape(message, `${param}.type`);
    }
    if (KEPT_ELSEWHERE.has(type)) {
      throw new BadRequestShape(
        `${param}.type ${type} works only with the provider that created the item`,
        `${param}.type`,
      );
    }
    this.#loseUnknown(item, type);
    if (type === 'message') {
      this.#message(item, param);
      return;
    }
    this.#leading = false;
    const ownCall = callOfItem(item);
    const ownOutput = outputOfItem(item);
    if (ownCall) this.#called(idOf(item, param), ownCall.name, ownCall.argumentsJson);
    else if (ownOutput !== undefined) this.#answered(idOf(item, param), ownOutput, param);
    else if (type === 'function_call') this.#call(item, param);
    else if (type === 'function_call_output') this.#result(item, param);
    else if (type === 'reasoning') this.turns.add('assistant', [readReasoning(item) ?? []].flat());
    else this.turns.add(isAnswered(type) ? 'user' : 'assistant', [opaque(item, type)]);
  }

  #loseUnknown(item: JsonObject, type: string): void {
    const known = Object.hasOwn(KNOWN, type) ? KNOWN[type] : undefined;
    if (known === undefined) return;
    for (const name in item) if (!known.has(name) && says(item[name])) this.#lose(`input[].${name}`);
  }

  #message(item: JsonObject, param: string): void {
    const { role } = item;
    const isSystem = role === 'system' || role === 'developer';
    this.#leading &&= isSystem;
    const parts = decodeContent(item['content'], `${param}.content`, this.#lose);
    if (isSystem && this.#leading) for (const one of textsOf(parts)) this.system.push(one);
    else if (isSystem) this.turns.add('system', textsOf(parts));
    else if (role === 'user' || role === 'assistant') this.turns.add(role, parts);
    else throw new BadRequestShape(`${param}.role must be one of system, developer, user, assistant`, `${param}.role`);
  }

  #call(item: JsonObject, param: string): void {
    const id = requiredString(item, 'call_id', param);
    const name = flatName(requiredString(item, 'name', param), item['namespace']);
    this.#called(id, name, requiredString(item, 'arguments', param));
  }

  #called(id: string, name: string, argumentsJson: string): void {
    this.#names.set(id, name);
    this.turns.add('assistant', [{ type: 'tool-call', id, name, argumentsJson }]);
  }

  #result(item: JsonObject, param: string): void {
    this.#answered(requiredString(item, 'call_id', param), item['output'], param);
  }

  #answered(id: string, output: Json | undefined, param: string): void {
    const name = this.#names.get(id);
    const parts = decodeContent(output, `${param}.output`, this.#lose);
    const named = name === undefined ? {} : { name };
    this.turns.add('user', [{ type: 'tool-result', id, ...named, parts, isError: false }]);
  }
}

function isCall(item: JsonObject): boolean {
  return item['type'] === 'function_call' || callOfItem(item) !== undefined;
}

/** Results of a local shell name the call by `id` alone. */
function idOf(item: JsonObject, param: string): string {
  return typeof item['call_id'] === 'string' ? item['call_id'] : requiredString(item, 'id', param);
}

/** Whether an item came back to the model, rather than from it. */
function isAnswered(type: string): boolean {
  return type.endsWith('_output') || type === 'mcp_approval_response';
}

function opaque(item: JsonObject, name: string): Part {
  return { type: 'opaque', family: 'responses', name, value: item };
}
