import {
  readDocument,
  removeItems,
  removeMembers,
  render,
  setMember,
  type Edit,
  type WireDocument,
} from '../document/document.ts';
import { isObject, type Json, type JsonObject } from '../document/json.ts';
import { member, type ArrayNode, type JsonNode, type ObjectNode } from '../document/scan.ts';
import type { ModelAnswer, Part, StreamEvent } from '../hub/canonical.ts';
import { BadRequestShape } from '../hub/codec.ts';
import { says } from '../hub/defined-members.ts';
import { isArray } from '../request/request-shape.ts';
import {
  requireOwnIds,
  type LoopCall,
  type LoopCodec,
  type LoopConversation,
  type LoopTool,
  type RanCall,
  type Round,
} from '../hub/tool-loop/loop-codec.ts';
import {
  addedUsage,
  functionsFor,
  laterChoice,
  refuseWithTools,
  refuseOtherChoices,
  SplitText,
} from '../hub/tool-loop/request-parts.ts';
import { decodeAnswer } from './decode-stream.ts';
import { answerId } from './encode-answer.ts';
import { ChatStreamEncoder } from './encode-stream.ts';

/** Members that the gateway acts on itself. */
const NOT_SENT: ReadonlySet<string> = new Set(['stream', 'stream_options', 'max_tool_calls']);

/** Chat completions whose tools the gateway runs: the client sees the last round alone. */
export const chatLoop: LoopCodec = {
  asksClients: false,
  // A conversation says nothing of tools that have run.
  tellsOfTools: () => false,
  // oxlint-disable-next-line require-yield -- nothing in it is long
  *begin(document, tools, callId) {
    return new ChatLoop(document, tools, callId);
  },
};

/** Reasons that end an answer before its calls are whole. */
const CUT = new Set<Json>(['length', 'content_filter']);
/** What one chunk says at most. */
const PIECES = /[^]{1,2048}/gu;

class ChatLoop implements LoopConversation {
  readonly approved = [];
  readonly #document: WireDocument;
  readonly #tools: ReadonlyMap<string, LoopTool>;
  readonly #callId: string;
  readonly #edits: readonly Edit[];
  /** The request of later rounds, without the items added since. */
  #later: SplitText | undefined;
  readonly #said: string[] = [];
  #usage: Json | undefined;
  #answer = '';
  #last: { readonly text: string; readonly message: JsonObject } | undefined;

  constructor(document: WireDocument, tools: readonly LoopTool[], callId: string) {
    const { body, root } = document;
    refuseWithTools(body, ['functions', 'function_call']);
    refuseOtherChoices(body['tool_choice']);
    if (body['stream'] === true && says(body['logprobs'])) {
      const message = 'logprobs is not supported with stream and tools of MCP servers: ask without stream';
      throw new BadRequestShape(message, 'logprobs');
    }
    if ((body['n'] ?? 1) !== 1) throw new BadRequestShape('n must be 1 with tools of MCP servers', 'n');
    this.#document = document;
    this.#tools = new Map(tools.map((tool) => [tool.alias, tool]));
    this.#callId = callId;
    this.#edits = [
      ...functionsFor(document, tools, namesOf, ({ alias: name, description, inputSchema: parameters }) => {
        return { type: 'function', function: { name, ...(description !== undefined && { description }), parameters } };
      }),
      ...removeMembers(root, ({ value }) => NOT_SENT.has(value)),
    ];
  }

  request(): string {
    const { text, root } = this.#document;
    if (this.#said.length === 0) return render(text, this.#edits);
    const messages = member(root, 'messages') as ArrayNode;
    this.#later ??= new SplitText(text, [...this.#edits, ...laterChoice(this.#document)], messages.end - 1);
    return this.#later.with((messages.items.length > 0 ? ',' : '') + this.#said.join(','));
  }

  hear(piece: string): string {
    this.#answer += piece;
    return '';
  }

  read(): Round {
    const answer = this.#answer;
    this.#answer = '';
    const body = JSON.parse(answer) as JsonObject;
    this.#usage = addedUsage(this.#usage, body['usage']);
    const { message, finish } = firstChoice(body);
    this.#last = { text: answer, message };
    const called = callsOf(message);
    const calls = called.flatMap(({ id, name, argumentsJson }) => {
      const tool = this.#tools.get(name);
      return tool ? [{ id, tool, argumentsJson }] : [];
    });
    // The next request of the client could not tell what ran together with its own function: the model would call it again.
    const isLast = calls.length === 0 || calls.length < called.length || CUT.has(finish);
    if (isLast) return { calls: [], isLast };
    requireOwnIds(calls);
    this.#said.push(JSON.stringify(assistantSays(message, calls)));
    return { calls, isLast };
  }

  ran({ id, output }: RanCall): string {
    this.#said.push(JSON.stringify({ role: 'tool', tool_call_id: id, content: output }));
    return '';
  }

  end(): string {
    const { body } = this.#document;
    return body['stream'] === true ? this.#events() : this.#whole();
  }

  /** The answer of the last round, with the usage of all. */
  #whole(): string {
    const { text } = this.#last!;
    const { root } = readDocument('chat', text, { lenient: true });
    return render(text, [
      setMember(root, 'id', JSON.stringify(answerId({ callId: this.#callId }))),
      ...(this.#usage === undefined ? [] : [setMember(root, 'usage', JSON.stringify(this.#usage))]),
      ...this.#withoutOwnCalls(root),
    ]);
  }

  /** The answer is known when it is whole: which round is the last shows at its end. */
  #events(): string {
    const body = JSON.parse(this.#whole()) as JsonObject;
    const answer = decodeAnswer(body);
    if (!answer) throw new SyntaxError('no answer of its family');
    const { stream_options: options } = this.#document.body;
    const encoder = new ChatStreamEncoder({
      callId: this.#callId,
      model: typeof body['model'] === 'string' ? body['model'] : '',
      createdAt: typeof body['created'] === 'number' ? body['created'] : Math.floor(Date.now() / 1000),
      request: this.#document,
      includeUsage: isObject(options) && options['include_usage'] === true,
      estimatedInput: 0,
    });
    return eventsOf(answer)
      .map((event) => encoder.encode(event))
      .join('');
  }

  /** Edits that take out calls of tools that were not run: the client knows none of them. */
  #withoutOwnCalls(root: ObjectNode): readonly Edit[] {
    const message = messageNode(root);
    const calls = message && member(message, 'tool_calls');
    if (!message || calls?.kind !== 'array') return [];
    const isOwn = (call: JsonNode): boolean => this.#tools.has(calledName(call));
    if (!calls.items.some(isOwn)) return [];
    if (calls.items.every(isOwn)) return removeMembers(message, ({ value }) => value === 'tool_calls');
    return removeItems(calls, isOwn);
  }
}

function messageNode(root: ObjectNode): ObjectNode | undefined {
  const choices = member(root, 'choices');
  const first = choices?.kind === 'array' ? choices.items[0] : undefined;
  const message = first?.kind === 'object' ? member(first, 'message') : undefined;
  return message?.kind === 'object' ? message : undefined;
}

function calledName(call: JsonNode): string {
  const called = call.kind === 'object' ? member(call, 'function') : undefined;
  const name = called?.kind === 'object' ? member(called, 'name') : undefined;
  return name?.kind === 'string' ? name.value : '';
}

function firstChoice({ choices }: JsonObject): { readonly message: JsonObject; readonly finish: Json } {
  const first = isArray(choices) ? choices[0] : undefined;
  const message = isObject(first) ? first['message'] : undefined;
  if (!isObject(first) || !isObject(message)) throw new SyntaxError('no answer of its family');
  return { message, finish: first['finish_reason'] ?? null };
}

/** The turn of a model that calls these tools, for the next round. */
function assistantSays(message: JsonObject, calls: readonly LoopCall[]): JsonObject {
  const { content, reasoning_content: reasoning } = message;
  return {
    role: 'assistant',
    content: content ?? null,
    ...(typeof reasoning === 'string' && { reasoning_content: reasoning }),
    tool_calls: calls.map(({ id, tool, argumentsJson }) => {
      return { id, type: 'function', function: { name: tool.alias, arguments: argumentsJson } };
    }),
  };
}

interface Called {
  readonly id: string;
  readonly name: string;
  readonly argumentsJson: string;
}

function callsOf({ tool_calls: calls }: JsonObject): readonly Called[] {
  if (!isArray(calls)) return [];
  return calls.map((call) => {
    const { id, function: called } = isObject(call) ? call : {};
    const { name, arguments: argumentsJson } = isObject(called) ? called : {};
    return {
      id: typeof id === 'string' ? id : '',
      name: typeof name === 'string' ? name : '',
      argumentsJson: typeof argumentsJson === 'string' ? argumentsJson : '',
    };
  });
}

/** What the model calls a tool of the client's. */
function namesOf(tool: Json): readonly (Json | undefined)[] {
  if (!isObject(tool)) return [];
  return [tool['function'], tool['custom']].map((one) => (isObject(one) ? one['name'] : undefined));
}

/** A whole answer as a stream would say it. */
function eventsOf({ parts, finish, usage }: ModelAnswer): readonly StreamEvent[] {
  return [
    { type: 'start' },
    ...parts.flatMap((part, index) => said(part, index)),
    { type: 'finish', finish },
    ...(usage ? [{ type: 'usage' as const, usage }] : []),
    { type: 'end' },
  ];
}

function said(part: Part, index: number): readonly StreamEvent[] {
  if (part.type !== 'text')
    return [
      { type: 'part-start', index, part },
      { type: 'part-end', index },
    ];
  const pieces = part.text.match(PIECES) ?? [];
  return [
    { type: 'part-start', index, part: { type: 'text', text: '' } },
    ...pieces.map((text) => ({ type: 'part-delta' as const, index, text })),
    { type: 'part-end', index },
  ];
}
