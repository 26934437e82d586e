import { writeCacheMark } from '../hub/cache-mark.ts';
import type { Lose, ModelRequest, Part, RefusalPart, ToolCallPart, ToolResultPart, Turn } from '../hub/canonical.ts';
import type { JsonObject } from '../document/json.ts';
import { jsonInstruction, needsJsonInstruction } from '../hub/json-instruction.ts';
import { toolIds } from '../hub/tool-ids.ts';
import type { Traits } from '../hub/traits.ts';
import { encodeContent, encodeResults } from './encode-content.ts';

/** What the user says where a model does not go on with an answer that was begun. */
const GO_ON = 'Go on.';

/** The messages of a request: instructions, then the turns. Throws `BadRequestShape` for media the model does not take. */
export function encodeMessages(request: ModelRequest, traits: Traits, lose: Lose): JsonObject[] {
  const encode = new Encoder(traits, lose);
  const messages: JsonObject[] = [];
  const system = encode.system(request);
  if (system !== null) messages.push({ role: traits.systemRole, content: system });
  for (const turn of request.turns) for (const one of encode.turn(turn)) messages.push(one);
  if (!traits.prefill && request.turns.at(-1)?.role === 'assistant') messages.push({ role: 'user', content: GO_ON });
  return messages;
}

class Encoder {
  readonly #traits: Traits;
  readonly #lose: Lose;
  readonly #toolId: (id: string) => string;

  constructor(traits: Traits, lose: Lose) {
    this.#traits = traits;
    this.#lose = lose;
    this.#toolId = toolIds(traits.toolIds);
  }

  system(request: ModelRequest) {
    const parts: Part[] = [...request.system];
    if (request.format && needsJsonInstruction(request, this.#traits)) {
      parts.push({ type: 'text', text: jsonInstruction(request.format) });
    }
    return this.#content(parts);
  }

  turn(turn: Turn): JsonObject[] {
    if (turn.role === 'assistant') return this.#assistant(turn.parts);
    if (turn.role === 'user') return this.#user(turn.parts);
    const role = this.#traits.midSystem ? this.#traits.systemRole : 'user';
    const content = this.#content(turn.parts);
    return content === null ? [] : [{ role, content }];
  }

  /** Results follow their calls at once; what they hold that is not text comes after all of them. */
  #user(parts: readonly Part[]): JsonObject[] {
    const results = parts.filter((part): part is ToolResultPart => part.type === 'tool-result');
    const { messages, media } = encodeResults(results, this.#toolId, this.#traits, this.#lose);
    const content = this.#content([...media, ...parts]);
    return content === null ? messages : [...messages, { role: 'user', content }];
  }

  #assistant(parts: readonly Part[]): JsonObject[] {
    const content = encodeContent(parts, this.#traits, this.#lose, '');
    const refusal = parts.filter((part): part is RefusalPart => part.type === 'refusal').map((part) => part.text);
    const calls = parts.filter((part): part is ToolCallPart => part.type === 'tool-call');
    if (content === null && refusal.length === 0 && calls.length === 0) return [];
    return [
      {
        role: 'assistant',
        content,
        ...(refusal.length > 0 ? { refusal: refusal.join('') } : {}),
        ...(calls.length > 0 ? { tool_calls: calls.map((call) => this.#call(call)) } : {}),
      },
    ];
  }

  #call({ id, name, argumentsJson, cache, proof }: ToolCallPart): JsonObject {
    if (proof) this.#lose('tool_calls[].signature');
    const called = { name, arguments: argumentsJson === '' ? '{}' : argumentsJson };
    return { id: this.#toolId(id), type: 'function', function: called, ...writeCacheMark(cache) };
  }

  #content(parts: readonly Part[]) {
    return encodeContent(parts, this.#traits, this.#lose);
  }
}
