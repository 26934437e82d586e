import { BadRequestShape } from '../hub/codec.ts';
import { removeItems, type Edit, type WireDocument } from '../document/document.ts';
import { isObject, type Json, type JsonObject } from '../document/json.ts';
import { member, type ArrayNode, type JsonNode } from '../document/scan.ts';
import type { Steps } from '../document/steps.ts';
import { isArray, requiredString } from '../request/request-shape.ts';
import { byServer, type LoopCall, type LoopTool } from '../hub/tool-loop/loop-codec.ts';
import { SplitText } from '../hub/tool-loop/request-parts.ts';

/** Ids that the gateway gives to items about tools. */
const OWN_ID = /^mcp[lr]?_[0-9a-f]{32}_\d{1,6}$/;
const OWN_TYPES = new Set<Json | undefined>(['mcp_list_tools', 'mcp_call', 'mcp_approval_request']);
/** Items that are read in one step. */
const ITEMS_A_STEP = 256;

/** Whether the input of a request has items of tools that the gateway ran for an earlier one. */
export function hasOwnItems({ body: { input } }: WireDocument): boolean {
  if (!isArray(input)) return false;
  return input.some(
    (item) =>
      isObject(item) && OWN_TYPES.has(item['type']) && typeof item['id'] === 'string' && OWN_ID.test(item['id']),
  );
}

/** A call that the client has approved, and where its result comes in the input. */
interface ApprovedCall extends LoopCall {
  readonly node: JsonNode;
}

/** The input of a request with functions in the place of tools that the gateway has run, and with the items that are added. */
export class LoopHistory {
  /** Calls that the client has approved: their results belong into the input. */
  readonly approved: readonly ApprovedCall[];
  readonly #document: WireDocument;
  readonly #edits: Edit[];
  readonly #isEmpty: boolean;
  readonly #node: JsonNode | undefined;
  readonly #results = new Map<string, string>();
  #split: readonly [choice: readonly Edit[], text: SplitText] | undefined;

  constructor(document: WireDocument, read: ReadItems, edits: readonly Edit[]) {
    this.#document = document;
    this.#node = member(document.root, 'input');
    this.#edits = [...edits, ...read.edits];
    this.#isEmpty = read.left === 0;
    this.approved = read.approved;
  }

  /** The result of a call that the client has approved. */
  ran(id: string, output: string): void {
    this.#results.set(id, output);
  }

  /** The request with more items in its input, and with `choice`, which is the same edits each time. */
  request(choice: readonly Edit[], said: readonly string[]): string {
    const node = this.#node;
    if (this.#split?.[0] !== choice) {
      const edits = [...this.#edits, ...this.#approvedItems(), ...choice];
      this.#split = [choice, new SplitText(this.#document.text, this.#first(edits), placeOf(node))];
    }
    const [, text] = this.#split;
    if (node?.kind === 'string') return text.with([itemOf(node.value), ...said].join(',') + ']');
    return text.with(said.length > 0 && node?.kind === 'array' ? (this.#isEmpty ? '' : ',') + said.join(',') : '');
  }

  /** A text as input becomes a list of items. */
  #first(edits: readonly Edit[]): readonly Edit[] {
    const node = this.#node;
    return node?.kind === 'string' ? [...edits, { start: node.start, end: node.end, text: '[' }] : edits;
  }

  #approvedItems(): readonly Edit[] {
    return this.approved.map(({ id, tool, argumentsJson, node: { start, end } }) => {
      const output = this.#results.get(id) ?? 'It has not run.';
      return { start, end, text: callSource(id, tool.alias, argumentsJson, output) };
    });
  }
}

/** Where more items follow. */
function placeOf(node: JsonNode | undefined): number {
  if (node?.kind === 'array') return node.end - 1;
  return node?.end ?? 0;
}

function itemOf(text: string): string {
  return JSON.stringify({ role: 'user', content: text });
}

/** What the items of an input become. */
interface ReadItems {
  readonly edits: readonly Edit[];
  readonly approved: readonly ApprovedCall[];
  /** Items that stay, or become others. */
  readonly left: number;
}

/** Reads the input of a request, and puts functions in the place of what earlier answers told. Throws `BadRequestShape`. */
export function* readItems({ root, body }: WireDocument, tools: readonly LoopTool[]): Steps<ReadItems> {
  const node = member(root, 'input');
  const { input } = body;
  if (node?.kind !== 'array' || !isArray(input)) return { edits: [], approved: [], left: 0 };
  const reader = new ItemReader(node, input, tools);
  for (let at = 0; at < input.length; at++) {
    if (at % ITEMS_A_STEP === ITEMS_A_STEP - 1) yield;
    reader.note(at);
  }
  for (let at = 0; at < input.length; at++) {
    if (at % ITEMS_A_STEP === ITEMS_A_STEP - 1) yield;
    reader.read(at);
  }
  return reader.end();
}

/** What a client answered to a request for its approval. */
interface ToldApproval {
  readonly approve: boolean;
  readonly reason: string | undefined;
}

class ItemReader {
  readonly #node: ArrayNode;
  readonly #input: readonly Json[];
  readonly #toolOf: ReturnType<typeof byServer>;
  readonly #edits: Edit[] = [];
  readonly #approved: ApprovedCall[] = [];
  readonly #dropped = new Set<JsonNode>();
  /** By the id of the request for approval. */
  readonly #requests = new Map<string, JsonObject>();
  readonly #answers = new Map<string, ToldApproval>();
  readonly #ran = new Set<Json>();

  constructor(node: ArrayNode, input: readonly Json[], tools: readonly LoopTool[]) {
    this.#node = node;
    this.#input = input;
    this.#toolOf = byServer(tools);
  }

  /** Takes notice of what belongs together. */
  note(at: number): void {
    const item = this.#input[at];
    const param = `input[${at}]`;
    if (!isObject(item)) return;
    const { type, approval_request_id: of = null } = item;
    if (type === 'mcp_call' && of !== null) this.#ran.add(of);
    else if (type === 'mcp_approval_request') {
      const id = requiredString(item, 'id', param);
      if (this.#requests.has(id)) throw new BadRequestShape(`${param}.id must not be there twice`, `${param}.id`);
      this.#requests.set(id, item);
    } else if (type === 'mcp_approval_response') this.#noteAnswer(item, param);
  }

  #noteAnswer(item: JsonObject, param: string): void {
    const id = requiredString(item, 'approval_request_id', param);
    const { approve, reason } = item;
    if (typeof approve !== 'boolean') throw new BadRequestShape(`${param}.approve must be true or false`, param);
    if (!this.#requests.has(id)) {
      const message = `${param}.approval_request_id must be the id of an mcp_approval_request before it in the input`;
      throw new BadRequestShape(message, param);
    }
    if (this.#answers.has(id))
      throw new BadRequestShape(`${param} answers the same request as an item before it`, param);
    this.#answers.set(id, { approve, reason: typeof reason === 'string' ? reason : undefined });
  }

  /** Puts a function in the place of an item, or drops it. */
  read(at: number): void {
    const item = this.#input[at];
    const node = this.#node.items[at]!;
    if (!isObject(item)) return;
    const { type } = item;
    const param = `input[${at}]`;
    if (type === 'mcp_list_tools') this.#dropped.add(node);
    else if (type === 'mcp_call') {
      const call = this.#callIn(item, param);
      this.#replace(node, callSource(call.id, call.name, call.argumentsJson, outputOf(item, param)));
    } else if (type === 'mcp_approval_request') this.#readRequest(item, node, param);
    else if (type === 'mcp_approval_response') this.#readAnswer(item, node, param);
  }

  /** A request that was not answered is a call that was not made. */
  #readRequest(item: JsonObject, node: JsonNode, param: string): void {
    const { id, name, argumentsJson } = this.#callIn(item, param);
    if (this.#ran.has(id) || this.#answers.has(id)) this.#dropped.add(node);
    else
      this.#replace(node, callSource(id, name, argumentsJson, 'The user was asked to approve this call, and has not.'));
  }

  /** The call stands where it was decided on. */
  #readAnswer(item: JsonObject, node: JsonNode, param: string): void {
    const id = requiredString(item, 'approval_request_id', param);
    if (this.#ran.has(id)) return void this.#dropped.add(node);
    const { name, tool, argumentsJson } = this.#callIn(this.#requests.get(id)!, param);
    const { approve, reason } = this.#answers.get(id)!;
    if (approve && tool) this.#approved.push({ id, tool, argumentsJson, node });
    else {
      const why = approve ? 'Not run: the request offers no tool with this name.' : denial(reason);
      this.#replace(node, callSource(id, name, argumentsJson, why));
    }
  }

  #callIn(item: JsonObject, param: string) {
    const server = requiredString(item, 'server_label', param);
    const name = requiredString(item, 'name', param);
    const tool = this.#toolOf(server, name);
    return {
      id: requiredString(item, 'id', param),
      tool,
      name: tool?.alias ?? `${server}__${name}`.replaceAll(/[^A-Za-z0-9_-]/g, '_').slice(0, 64),
      argumentsJson: requiredString(item, 'arguments', param),
    };
  }

  #replace({ start, end }: JsonNode, text: string): void {
    this.#edits.push({ start, end, text });
  }

  end(): ReadItems {
    const dropped = this.#dropped;
    return {
      edits: [...this.#edits, ...removeItems(this.#node, (item) => dropped.has(item))],
      approved: this.#approved,
      left: this.#node.items.length - dropped.size,
    };
  }
}

function denial(reason: string | undefined): string {
  return reason === undefined ? 'The user denied this call.' : `The user denied this call: ${reason}`;
}

/** A call and its result, as JSON source. */
function callSource(call_id: string, name: string, argumentsJson: string, output: string): string {
  const call = { type: 'function_call', call_id, name, arguments: argumentsJson };
  return `${JSON.stringify(call)},${JSON.stringify({ type: 'function_call_output', call_id, output })}`;
}

function outputOf({ output, error }: JsonObject, param: string): string {
  if (typeof output === 'string') return output;
  if (output !== undefined && output !== null) throw new BadRequestShape(`${param}.output must be a string`, param);
  return error === undefined || error === null ? '' : JSON.stringify(error);
}
