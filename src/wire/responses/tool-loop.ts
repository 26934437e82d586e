import { removeMembers, setMember, type Edit, type WireDocument } from '../document/document.ts';
import { isObject, type Json, type JsonObject } from '../document/json.ts';
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
} from '../hub/tool-loop/request-parts.ts';

import { LoopEvents } from './loop-events.ts';
import { hasOwnItems, LoopHistory, readItems } from './loop-history.ts';
import { approvalItem, calledTool, callItem, isClientRun, listItems, saidItem } from './loop-items.ts';
import { flatName } from './own-tools.ts';

/** Responses whose tools the gateway runs: the client sees every round, in one answer. */
export const responsesLoop: LoopCodec = {
  asksClients: true,
  tellsOfTools: hasOwnItems,
  *begin(document, tools, callId) {
    const { body, root } = document;
    refuseWithTools(body, UNSUPPORTED);
    refuseOtherChoices(body['tool_choice']);
    const edits = [
      ...functionsFor(document, tools, namesOf, ({ alias: name, description, inputSchema: parameters }) => {
        const told = { ...(description !== undefined && { description }), parameters, strict: false };
        return { type: 'function', name, ...told };
      }),
      ...removeMembers(root, ({ value }) => value === 'max_tool_calls'),
      setMember(root, 'store', 'false'),
    ];
    const items = yield* readItems(document, tools);
    return new ResponsesLoop(document, tools, callId, new LoopHistory(document, items, edits));
  },
};

/** What only a provider that keeps responses can do, or that the gateway does not. */
const UNSUPPORTED = ['background', 'previous_response_id', 'conversation', 'prompt'];
const MOST_EVENT = 4 * 1024 * 1024;
const NO_EDITS: readonly Edit[] = [];

class ResponsesLoop implements LoopConversation {
  readonly #document: WireDocument;
  readonly #byAlias: ReadonlyMap<string, LoopTool>;
  readonly #callId: string;
  readonly #history: LoopHistory;
  readonly #later: readonly Edit[];
  readonly #events: LoopEvents | undefined;
  /** Items for the next round. */
  readonly #said: string[] = [];
  /** Items of the answer. */
  readonly #output: JsonObject[];
  /** Places of calls in the answer that are not over, by the model's id. */
  readonly #open = new Map<string, { readonly at: number; readonly itemId: string; readonly item: JsonObject }>();
  #count = 0;
  /** The first round has. */
  #hasBegun = false;
  #answer = '';
  #usage: Json | undefined;
  #last: JsonObject = {};

  constructor(document: WireDocument, tools: readonly LoopTool[], callId: string, history: LoopHistory) {
    const { body } = document;
    this.#document = document;
    this.#byAlias = new Map(tools.map((tool) => [tool.alias, tool]));
    this.#callId = callId;
    this.#history = history;
    this.#later = laterChoice(document);
    const lists = listItems(tools, callId);
    this.#output = [...lists];
    this.#events =
      body['stream'] === true
        ? new LoopEvents({
            tools: this.#byAlias,
            newId: (kind) => this.#newId(kind),
            lists,
            tell: (response) => this.#told(response, []),
            limit: MOST_EVENT,
          })
        : undefined;
  }

  get approved(): readonly LoopCall[] {
    return this.#history.approved;
  }

  request(): string {
    return this.#history.request(this.#said.length > 0 ? this.#later : NO_EDITS, this.#said);
  }

  hear(piece: string): string {
    this.#hasBegun = true;
    if (this.#events) return this.#events.hear(piece);
    this.#answer += piece;
    return '';
  }

  read(): Round {
    const { response, ids } = this.#events?.endRound() ?? { response: this.#parse(), ids: undefined };
    const { output, status, usage } = response;
    if (!isArray(output)) throw new SyntaxError('no answer of its family');
    this.#last = response;
    this.#usage = addedUsage(this.#usage, usage);
    const isCut = status !== undefined && status !== 'completed';
    requireOwnIds(output.flatMap((item) => (isObject(item) ? (this.#callIn(item) ?? []) : [])));
    let hasOwn = false;
    const calls: LoopCall[] = [];
    for (const [at, item] of output.entries()) {
      if (!isObject(item)) continue;
      const call = this.#callIn(item);
      if (call?.tool.asksClient === true) {
        hasOwn = true;
        const id = ids?.get(at) ?? this.#newId('r');
        if (item['status'] !== 'incomplete') this.#output.push(approvalItem(id, call.tool, call.argumentsJson));
      } else if (call) {
        if (!isCut) calls.push(call);
        this.#begin(call, ids?.get(at) ?? this.#newId());
      } else {
        hasOwn ||= isClientRun(item);
        this.#output.push(item);
      }
      const said = saidItem(item);
      if (said) this.#said.push(JSON.stringify(said));
    }
    return { calls, isLast: isCut || hasOwn || calls.length === 0 };
  }

  ran(call: RanCall): string {
    const { id, tool, argumentsJson, output, isError } = call;
    if (this.#hasBegun) return this.#ranInRound(call);
    this.#history.ran(id, output);
    const item = callItem(this.#newId(), tool, argumentsJson, isError ? 'failed' : 'completed', call, id);
    this.#output.push(item);
    this.#events?.ranBefore(item, call);
    return '';
  }

  #ranInRound(call: RanCall): string {
    const { id, tool, argumentsJson, output, isError } = call;
    this.#said.push(JSON.stringify({ type: 'function_call_output', call_id: id, output }));
    const open = this.#open.get(id);
    if (!open) return '';
    this.#open.delete(id);
    const item = callItem(open.itemId, tool, argumentsJson, isError ? 'failed' : 'completed', call);
    this.#output[open.at] = item;
    const told = this.#events?.ended(item, call, open.at) ?? '';
    if (this.#open.size === 0) this.#events?.nextRound(this.#output.length);
    return told;
  }

  end(): string {
    const left = [...this.#open.values()].map(({ at, item }) => this.#events?.ended(item, undefined, at) ?? '');
    const response = this.#told(this.#last, this.#output, this.#usage);
    if (this.#events) return left.join('') + this.#events.end(response);
    return JSON.stringify(response);
  }

  #parse(): JsonObject {
    const body: unknown = JSON.parse(this.#answer);
    this.#answer = '';
    if (!isObject(body)) throw new SyntaxError('no answer of its family');
    return body;
  }

  #callIn(item: JsonObject): LoopCall | undefined {
    const { call_id: id, arguments: argumentsJson } = item;
    const tool = calledTool(item, this.#byAlias);
    if (!tool || typeof id !== 'string' || typeof argumentsJson !== 'string') return undefined;
    return { id, tool, argumentsJson };
  }

  /** Until a call is over, its item says that it never ran. */
  #begin({ id, tool, argumentsJson }: LoopCall, itemId: string): void {
    const item = callItem(itemId, tool, argumentsJson, 'incomplete');
    this.#open.set(id, { at: this.#output.length, itemId, item });
    this.#output.push(item);
  }

  /** `r`: of a request for approval. */
  #newId(kind: '' | 'r' = ''): string {
    return `mcp${kind}_${this.#callId.replaceAll('-', '')}_${this.#count++}`;
  }

  /** A response of a round as that of the request, whose settings it repeats. */
  #told(response: JsonObject, output: readonly JsonObject[], usage?: Json): JsonObject {
    const { tools, tool_choice: choice, max_tool_calls: most } = this.#document.body;
    return {
      ...response,
      id: `resp_${this.#callId.replaceAll('-', '')}`,
      output,
      store: false,
      tools: tools ?? [],
      tool_choice: choice ?? 'auto',
      max_tool_calls: most ?? null,
      ...(usage !== undefined && { usage }),
    };
  }
}

/** What the model calls a tool of the client's, or those of a namespace. */
function namesOf(tool: Json): readonly (Json | undefined)[] {
  if (!isObject(tool)) return [];
  const { name, tools: inner } = tool;
  if (!isArray(inner)) return [name];
  return inner.flatMap((one) => {
    const own = isObject(one) ? one['name'] : undefined;
    return typeof own === 'string' ? [own, flatName(own, name)] : [];
  });
}
