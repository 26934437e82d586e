import { alternateTurns } from '../hub/alternate-turns.ts';
import type { Lose, MediaPart, ModelRequest, Part, ToolCallPart, ToolResultPart, Turn } from '../hub/canonical.ts';
import { BadRequestShape } from '../hub/codec.ts';
import type { JsonObject } from '../document/json.ts';
import { loseImageWords, textOfMedia } from '../request/media.ts';
import { argumentsObject } from '../hub/tool-arguments.ts';
import type { Traits } from '../hub/traits.ts';

/** What Gemini 3 takes for the signature of a call that another model made. // wire-formats 2.2 */
const UNSIGNED = 'skip_thought_signature_validator';
const CONTINUE = { text: 'Continue.' };

/** The conversation as `contents`. Throws `BadRequestShape` for content that the model cannot be given. */
export function contents(request: ModelRequest, traits: Traits, lose: Lose): readonly JsonObject[] {
  if (!traits.prefill && request.turns.at(-1)?.role === 'assistant') lose('prefill');
  const speller = new Speller(traits, lose);
  const turns = traits.reasoning.control === 'level' ? request.turns : request.turns.map(mediaApart);
  const closing = traits.prefill ? undefined : CONTINUE;
  return alternateTurns<JsonObject>(turns, (part, _role, turn) => speller.spell(part, turn), CONTINUE, closing).map(
    ({ role, items }) => ({ role: role === 'user' ? 'user' : 'model', parts: items }),
  );
}

/** Models before Gemini 3 take no media within the result of a tool: it follows as content of the user's own. */
function mediaApart(turn: Turn): Turn {
  const parts = turn.parts.flatMap((part): readonly Part[] => {
    if (part.type !== 'tool-result') return [part];
    const media = part.parts.filter(isBinary);
    if (media.length === 0) return [part];
    const others = part.parts.filter((inner) => !isBinary(inner));
    const kept: readonly Part[] = others.length > 0 ? others : [{ type: 'text', text: '(see the attached media)' }];
    return [{ ...part, parts: kept }, ...media];
  });
  return { ...turn, parts };
}

function isBinary(part: Part): part is MediaPart {
  return part.type === 'media' && textOfMedia(part) === undefined;
}

class Speller {
  readonly #traits: Traits;
  readonly #lose: Lose;
  /** Of the calls so far, by id: a result must repeat its tool's name. */
  readonly #names = new Map<string, string>();

  constructor(traits: Traits, lose: Lose) {
    this.#traits = traits;
    this.#lose = lose;
  }

  spell(part: Part, turn: Turn): readonly JsonObject[] {
    switch (part.type) {
      case 'text':
      case 'refusal':
        return part.text.trim() === '' ? [] : [{ text: part.text }];
      case 'media':
        return [this.#media(part)];
      case 'tool-call':
        return [this.#call(part, turn)];
      case 'tool-result':
        return [this.#result(part)];
      case 'reasoning':
        if (part.proof?.family === 'gemini') {
          return [{ text: part.text, thought: true, thoughtSignature: part.proof.value }];
        }
        this.#lose('thinking');
        return [];
      case 'opaque':
        if (part.family === 'gemini') return [part.value as JsonObject];
        this.#lose(part.name);
        return [];
    }
  }

  #call(part: ToolCallPart, turn: Turn): JsonObject {
    this.#names.set(part.id, part.name);
    const isFirst = turn.parts.find(({ type }) => type === 'tool-call') === part;
    const unsigned = isFirst && this.#traits.reasoning.control === 'level' ? UNSIGNED : undefined;
    const signature = part.proof?.family === 'gemini' ? part.proof.value : unsigned;
    return {
      functionCall: { id: part.id, name: part.name, args: argumentsObject(part.argumentsJson) },
      ...(signature === undefined ? {} : { thoughtSignature: signature }),
    };
  }

  #result(part: ToolResultPart): JsonObject {
    const name = part.name ?? this.#names.get(part.id);
    if (name === undefined) {
      throw new BadRequestShape('A tool result refers to an unknown tool call', 'messages');
    }
    const texts: string[] = [];
    const media: JsonObject[] = [];
    for (const inner of part.parts) {
      if (inner.type === 'text' || inner.type === 'refusal') texts.push(inner.text);
      else if (inner.type === 'media') {
        const text = textOfMedia(inner);
        if (text === undefined) media.push(this.#media(inner));
        else texts.push(text);
      } else this.#lose(`tool_result.${inner.type === 'opaque' ? inner.name : inner.type}`);
    }
    const text = texts.join('\n');
    return {
      functionResponse: {
        id: part.id,
        name,
        response: part.isError ? { error: text } : { output: text },
        ...(media.length > 0 ? { parts: media } : {}),
      },
    };
  }

  #media(part: MediaPart): JsonObject {
    const text = textOfMedia(part);
    if (text !== undefined) return { text };
    this.#refuse(part);
    loseImageWords(part, this.#lose);
    if ('data' in part.source) return { inlineData: { mimeType: part.mediaType, data: part.source.data } };
    return { fileData: { mimeType: part.mediaType, fileUri: part.source.url } };
  }

  /** Content that must not be dropped in silence. */
  #refuse({ kind, mediaType, source }: MediaPart): void {
    const { vision, audio, documents, remoteMedia } = this.#traits;
    const taken = kind === 'image' ? vision : kind === 'audio' ? audio : documents && mediaType === 'application/pdf';
    if (!taken) throw new BadRequestShape(`This model does not take ${mediaType}`, 'messages');
    if ('url' in source && !remoteMedia) {
      throw new BadRequestShape(
        'This model does not take files by address: send the content in the request',
        'messages',
      );
    }
  }
}
