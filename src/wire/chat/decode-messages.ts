import { readCacheMark } from '../hub/cache-mark.ts';
import type { CacheMark, Lose, Part, TextPart, ToolCallPart, Turn } from '../hub/canonical.ts';
import { BadRequestShape } from '../hub/codec.ts';
import { isObject, type Json, type JsonObject } from '../document/json.ts';
import { says } from '../hub/defined-members.ts';
import { mintedId } from '../hub/tool-ids.ts';
import { Turns } from '../hub/collect-turns.ts';
import { readCustomCall } from './custom-tools.ts';
import { decodeContent, textsOf } from './decode-content.ts';

const KNOWN = ['role', 'content', 'cache_control', 'refusal', 'tool_calls', 'function_call', 'tool_call_id'];
const REASONING = ['reasoning_content', 'reasoning'];

/** The instructions a conversation begins with, and its turns. Throws `BadRequestShape`. */
export function decodeMessages(messages: Json | undefined, lose: Lose): { system: TextPart[]; turns: Turn[] } {
  if (!Array.isArray(messages)) throw new BadRequestShape('messages must be an array', 'messages');
  const conversation = new Conversation(lose);
  for (const [index, message] of (messages as readonly Json[]).entries())
    conversation.add(message, `messages[${index}]`);
  const { system } = conversation;
  const turns = conversation.turns.list;
  if (turns.length > 0) return { system, turns };
  if (system.length === 0)
    throw new BadRequestShape('messages must contain at least one message with text', 'messages');
  // Instructions alone: they are the request.
  return { system: [], turns: [{ role: 'user', parts: system }] };
}

class Conversation {
  readonly system: TextPart[] = [];
  readonly turns = new Turns();
  readonly #lose: Lose;
  /** Names of the tools called so far, by the id of the call. */
  readonly #called = new Map<string, string>();
  /** Calls of kinds that no other family has: their results have nothing to answer. */
  readonly #foreign = new Set<string>();
  #leading = true;

  constructor(lose: Lose) {
    this.#lose = lose;
  }

  add(message: Json, param: string): void {
    if (!isObject(message)) throw new BadRequestShape(`${param} must be an object`, param);
    const { role } = message;
    const isSystem = role === 'system' || role === 'developer';
    this.#leading &&= isSystem;
    this.#loseUnknown(message);
    const parts = decodeContent(message['content'], `${param}.content`, readCacheMark(message['cache_control']));
    if (isSystem && this.#leading) for (const one of textsOf(parts)) this.system.push(one);
    else if (isSystem) this.turns.add('system', textsOf(parts));
    else if (role === 'user') this.turns.add('user', parts);
    else if (role === 'assistant') this.turns.add('assistant', this.#assistant(message, parts, param));
    else if (role === 'tool' || role === 'function') this.#result(message, parts, param);
    else
      throw new BadRequestShape(
        `${param}.role must be one of system, developer, user, assistant, tool`,
        `${param}.role`,
      );
  }

  #loseUnknown(message: JsonObject): void {
    const known = message['role'] === 'assistant' ? [...KNOWN, ...REASONING] : KNOWN;
    for (const name in message) {
      if (known.includes(name) || (name === 'name' && message['role'] === 'function')) continue;
      if (says(message[name])) this.#lose(`messages[].${name}`);
    }
  }

  /** Reasoning first, then the text, then the calls. Empty texts only accompany calls. */
  #assistant(message: JsonObject, said: readonly Part[], param: string): Part[] {
    const parts: Part[] = [];
    const reasoning = REASONING.map((name) => message[name]).find((text) => typeof text === 'string' && text !== '');
    if (typeof reasoning === 'string') parts.push({ type: 'reasoning', text: reasoning });
    for (const one of said.filter((part) => part.type !== 'text' || part.text !== '')) parts.push(one);
    const { refusal } = message;
    if (typeof refusal === 'string' && refusal !== '') parts.push({ type: 'refusal', text: refusal });
    const calls = message['tool_calls'] ?? [];
    if (!Array.isArray(calls)) throw new BadRequestShape(`${param}.tool_calls must be an array`, `${param}.tool_calls`);
    for (const [index, call] of (calls as readonly Json[]).entries()) {
      for (const one of this.#call(call, `${param}.tool_calls[${index}]`)) parts.push(one);
    }
    if (isObject(message['function_call'])) {
      parts.push(this.#functionCall(message['function_call'], undefined, `${param}.function_call`));
    }
    return parts;
  }

  #call(call: Json, param: string): Part[] {
    if (!isObject(call)) throw new BadRequestShape(`${param} must be an object`, param);
    const id = typeof call['id'] === 'string' && call['id'] !== '' ? call['id'] : mintedId(param);
    const custom = readCustomCall(call);
    if (custom) return [this.#functionCall(custom, id, `${param}.custom`)];
    if (!isObject(call['function'])) {
      this.#foreign.add(id);
      this.#lose('messages[].tool_calls[custom]');
      return [];
    }
    return [
      { ...this.#functionCall(call['function'], id, `${param}.function`), ...readCacheMark(call['cache_control']) },
    ];
  }

  /** Without an id it is a call of the old kind, which its result answers by name. */
  #functionCall(call: JsonObject, givenId: string | undefined, param: string): ToolCallPart {
    const { name } = call;
    if (typeof name !== 'string') throw new BadRequestShape(`${param}.name must be a string`, `${param}.name`);
    const written = call['arguments'] ?? '';
    const argumentsJson = typeof written === 'string' ? written : JSON.stringify(written);
    const id = givenId ?? mintedId(param);
    this.#called.set(id, name);
    return { type: 'tool-call', id, name, argumentsJson };
  }

  #result(message: JsonObject, parts: readonly Part[], param: string): void {
    const id = message['role'] === 'function' ? this.#lastCallOf(message['name'], param) : message['tool_call_id'];
    if (typeof id !== 'string') {
      throw new BadRequestShape(`${param}.tool_call_id must be a string`, `${param}.tool_call_id`);
    }
    if (this.#foreign.has(id)) return;
    const name = this.#called.get(id);
    const named = name === undefined ? {} : { name };
    this.turns.add('user', [{ type: 'tool-result', id, ...named, ...markedAsWhole(parts), isError: false }]);
  }

  #lastCallOf(name: Json | undefined, param: string): string {
    if (typeof name !== 'string') throw new BadRequestShape(`${param}.name must be a string`, `${param}.name`);
    let last: string | undefined;
    for (const [id, called] of this.#called) if (called === name) last = id;
    return last ?? mintedId(name);
  }
}

/** A result is marked as a whole: not every family can mark within it. */
function markedAsWhole(parts: readonly Part[]): { parts: Part[]; cache?: CacheMark } {
  let mark: { cache?: CacheMark } = {};
  const plain = parts.map((part): Part => {
    if (!('cache' in part)) return part;
    const { cache, ...rest } = part;
    mark = cache === undefined ? mark : { cache };
    return rest;
  });
  return { parts: plain.filter((part) => part.type !== 'text' || part.text !== ''), ...mark };
}
