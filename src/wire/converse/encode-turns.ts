import { alternateTurns } from '../hub/alternate-turns.ts';
import type { Lose, ModelRequest, Part, ReasoningPart, ToolResultPart } from '../hub/canonical.ts';
import type { JsonObject } from '../document/json.ts';
import { argumentsObject } from '../hub/tool-arguments.ts';
import { toolIds } from '../hub/tool-ids.ts';
import type { Traits } from '../hub/traits.ts';
import type { CachePoints } from './cache-points.ts';
import { MediaSpeller } from './media.ts';

const CONTINUE = { text: 'Continue.' };
/** A document needs a text next to it. // wire-formats 2.1 */
const BESIDE_DOCUMENT = { text: 'See the attached document.' };
/** Only of a PDF may a cache point come right after. */
const AFTER_DOCUMENT = { text: '(end of the document)' };
/** Blank texts are rejected, and so is a result without any. */
const NO_OUTPUT = { text: '(no output)' };

/** The conversation as `messages`. Throws `BadRequestShape` for content that the model cannot be given. */
export function messages(
  request: ModelRequest,
  traits: Traits,
  points: CachePoints,
  lose: Lose,
): readonly JsonObject[] {
  if (!traits.prefill && request.turns.at(-1)?.role === 'assistant') lose('prefill');
  const speller = new Speller(traits, points, lose);
  const closing = traits.prefill ? undefined : CONTINUE;
  const turns = alternateTurns<JsonObject>(request.turns, (part, role) => speller.spell(part, role), CONTINUE, closing);
  const spelt = turns.map(({ role, items }) => ({ role, content: withText(items) }));
  const last = spelt.at(-1);
  if (last?.role !== 'assistant') return spelt;
  return [...spelt.slice(0, -1), { role: last.role, content: withoutBlankEnd(last.content) }];
}

function withText(items: readonly JsonObject[]): readonly JsonObject[] {
  const lacks = items.some((item) => 'document' in item) && !items.some((item) => 'text' in item);
  return lacks ? [BESIDE_DOCUMENT, ...items] : items;
}

/** The beginning of an answer must not end in blanks. */
function withoutBlankEnd(content: readonly JsonObject[]): readonly JsonObject[] {
  const text = content.at(-1)?.['text'];
  return typeof text === 'string' ? [...content.slice(0, -1), { text: text.trimEnd() }] : content;
}

class Speller {
  readonly #traits: Traits;
  readonly #points: CachePoints;
  readonly #lose: Lose;
  readonly #media: MediaSpeller;
  readonly #id: (id: string) => string;

  constructor(traits: Traits, points: CachePoints, lose: Lose) {
    this.#traits = traits;
    this.#points = points;
    this.#lose = lose;
    this.#media = new MediaSpeller(traits, lose);
    this.#id = toolIds(traits.toolIds);
  }

  spell(part: Part, role: 'user' | 'assistant'): readonly JsonObject[] {
    const item = this.#item(part, role);
    if (item === undefined) return [];
    const point = this.#points.after(part);
    if (point.length === 0 || !isOddDocument(item)) return [item, ...point];
    return [item, AFTER_DOCUMENT, ...point];
  }

  #item(part: Part, role: 'user' | 'assistant'): JsonObject | undefined {
    switch (part.type) {
      case 'text':
      case 'refusal':
        return part.text.trim() === '' ? undefined : { text: part.text };
      case 'media':
        if (role === 'user' || part.kind === 'image') return this.#media.spell(part);
        this.#lose(part.kind);
        return undefined;
      case 'tool-call': {
        const input = argumentsObject(part.argumentsJson);
        return { toolUse: { toolUseId: this.#id(part.id), name: part.name, input } };
      }
      case 'tool-result':
        return this.#result(part);
      case 'reasoning':
        return this.#reasoning(part);
      case 'opaque':
        if (part.family === 'converse') return part.value as JsonObject;
        return this.#redacted(part.family, part.value as JsonObject) ?? this.#drop(part.name);
    }
  }

  #result(part: ToolResultPart): JsonObject {
    const content: JsonObject[] = [];
    for (const inner of part.parts) {
      if (inner.type === 'text' || inner.type === 'refusal' || inner.type === 'media') {
        const item = this.#item(inner, 'user');
        if (item !== undefined) content.push(item);
      } else this.#drop(`tool_result.${inner.type === 'opaque' ? inner.name : inner.type}`);
    }
    if (content.length === 0) content.push(NO_OUTPUT);
    const status = part.isError ? { status: 'error' } : {};
    return { toolResult: { toolUseId: this.#id(part.id), content, ...status } };
  }

  /** Claude's own signed thinking goes back to it byte for byte; no other reasoning does. // spec 4.5.4 */
  #reasoning({ text, proof }: ReasoningPart): JsonObject | undefined {
    if (!this.#traits.claude || proof?.family !== 'messages') return this.#drop('thinking');
    return { reasoningContent: { reasoningText: { text, signature: proof.value } } };
  }

  #redacted(family: string, value: JsonObject): JsonObject | undefined {
    const { type, data } = value;
    const isRedacted = family === 'messages' && type === 'redacted_thinking' && typeof data === 'string';
    return isRedacted && this.#traits.claude ? { reasoningContent: { redactedContent: data } } : undefined;
  }

  #drop(what: string): undefined {
    this.#lose(what);
    return undefined;
  }
}

function isOddDocument({ document }: JsonObject): boolean {
  return typeof document === 'object' && document !== null && 'format' in document && document['format'] !== 'pdf';
}
