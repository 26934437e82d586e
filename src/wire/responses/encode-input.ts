import type { Lose, ModelRequest, Part, Turn } from '../hub/canonical.ts';
import type { JsonObject } from '../document/json.ts';
import { toolIds } from '../hub/tool-ids.ts';
import type { Traits } from '../hub/traits.ts';
import { encodeContent, encodeOutput } from './encode-content.ts';
import { writeReasoning } from './reasoning.ts';

/** What the user says where a model does not go on with an answer that was begun. */
const GO_ON = 'Go on.';

/** The conversation as items. Throws `BadRequestShape` for media that the model does not take. // wire-formats 5.1 */
export function encodeInput({ turns }: ModelRequest, traits: Traits, lose: Lose): JsonObject[] {
  const encoder = new Encoder(traits, lose);
  for (const turn of turns) encoder.turn(turn);
  if (!traits.prefill && turns.at(-1)?.role === 'assistant') {
    encoder.turn({ role: 'user', parts: [{ type: 'text', text: GO_ON }] });
  }
  return encoder.items;
}

class Encoder {
  readonly items: JsonObject[] = [];
  readonly #traits: Traits;
  readonly #lose: Lose;
  readonly #callId: (id: string) => string;

  constructor(traits: Traits, lose: Lose) {
    this.#traits = traits;
    this.#lose = lose;
    this.#callId = toolIds(traits.toolIds);
  }

  /** Runs of content are messages; everything else is an item of its own, where it stands. */
  turn({ role, parts }: Turn): void {
    let run: Part[] = [];
    for (const part of parts) {
      const item = this.#item(part);
      if (item === undefined) run.push(part);
      else {
        this.#message(role, run);
        run = [];
        this.items.push(item);
      }
    }
    this.#message(role, run);
  }

  /** A part that is no content. */
  #item(part: Part): JsonObject | undefined {
    switch (part.type) {
      case 'tool-call': {
        if (part.proof) this.#lose('tool_calls[].signature');
        const { id, name, argumentsJson } = part;
        const written = argumentsJson === '' ? '{}' : argumentsJson;
        return { type: 'function_call', call_id: this.#callId(id), name, arguments: written };
      }
      case 'tool-result': {
        const output = encodeOutput(part.parts, part.isError, this.#traits, this.#lose);
        return { type: 'function_call_output', call_id: this.#callId(part.id), output };
      }
      case 'reasoning':
        return part.proof?.family === 'responses' ? writeReasoning(part) : undefined;
      case 'opaque':
        return part.family === 'responses' ? (part.value as JsonObject) : undefined;
      default:
        return undefined;
    }
  }

  #message(role: Turn['role'], parts: readonly Part[]): void {
    const spoken = role === 'system' ? (this.#traits.midSystem ? this.#traits.systemRole : 'user') : role;
    const content = role === 'assistant' ? this.#said(parts) : encodeContent(parts, this.#traits, this.#lose);
    if (content.length > 0) this.items.push({ type: 'message', role: spoken, content });
  }

  #said(parts: readonly Part[]): JsonObject[] {
    return parts.flatMap((part): JsonObject[] => {
      if (part.type === 'text') return part.text === '' ? [] : [{ type: 'output_text', text: part.text }];
      if (part.type === 'refusal') return [{ type: 'refusal', refusal: part.text }];
      this.#lose(part.type === 'reasoning' ? 'thinking' : `content[${part.type === 'opaque' ? part.name : part.type}]`);
      return [];
    });
  }
}
