import { SseDecoder, writeEvent, type SseEvent } from '../answer/sse.ts';
import { isObject, type Json, type JsonObject } from '../document/json.ts';
import type { LoopTool, RanCall } from '../hub/tool-loop/loop-codec.ts';
import { approvalItem, calledTool, callItem } from './loop-items.ts';

/** Events of a round that speak of its response, not of an item. */
const OF_THE_RESPONSE = new Set<Json | undefined>(['response.created', 'response.in_progress', 'response.queued']);
const TERMINAL = new Set<Json | undefined>(['response.completed', 'response.incomplete', 'response.failed']);
/** Events about arguments: of a function, and of a tool of a server. */
const ARGUMENTS: ReadonlyMap<string, string> = new Map([
  ['response.function_call_arguments.delta', 'response.mcp_call_arguments.delta'],
  ['response.function_call_arguments.done', 'response.mcp_call_arguments.done'],
]);

/** A call of a tool that the client learned of. */
interface ToldCall {
  readonly id: string;
  readonly tool: LoopTool;
}

/** What the events of all rounds have in common. */
export interface EventsOptions {
  readonly tools: ReadonlyMap<string, LoopTool>;
  /** Makes ids for calls of tools. */
  readonly newId: (kind?: 'r') => string;
  /** Lists of tools, which come before the items of the first round. */
  readonly lists: readonly JsonObject[];
  /** The response of a round, with the settings of the request. */
  readonly tell: (response: JsonObject) => JsonObject;
  readonly limit: number;
}

/** Makes one stream of those of all rounds: one count of events and items, and calls of tools in the words for them. */
export class LoopEvents {
  readonly #options: EventsOptions;
  #decoder: SseDecoder;
  #sequence = 0;
  /** Items before those of this round. */
  #base = 0;
  #hasListed = false;
  /** Items of this round as they ended, by their place in it. */
  #items = new Map<number, JsonObject>();
  #calls = new Map<number, ToldCall>();
  /** Places of items that have begun. */
  #begun = new Set<number>();
  /** Calls that ran before the first round. */
  readonly #before: [item: JsonObject, ran: Pick<RanCall, 'isError'>][] = [];
  #response: JsonObject | undefined;

  constructor(options: EventsOptions) {
    this.#options = options;
    this.#decoder = new SseDecoder(options.limit);
  }

  /** The events for the client, from whole events of a round. */
  hear(piece: string): string {
    return this.#decoder
      .push(Buffer.from(piece))
      .map((event) => this.#read(event))
      .join('');
  }

  #read({ data }: SseEvent): string {
    const event: unknown = data === undefined ? undefined : JSON.parse(data);
    return isObject(event) ? this.#hear(event) : '';
  }

  /** The response of the round that is over, and the ids of its calls of tools by their places. Throws `SyntaxError`. */
  endRound(): { readonly response: JsonObject; readonly ids: ReadonlyMap<number, string> } {
    // The last event: a line end of it may have been missing.
    for (const event of this.#decoder.end()) this.#read(event);
    if (!this.#response) throw new SyntaxError('the stream has no end');
    const places = [...this.#items.keys()].sort((a, b) => a - b);
    const response = { ...this.#response, output: places.map((place) => this.#items.get(place)!) };
    const ids = new Map(
      places.flatMap((place, at) => (this.#calls.has(place) ? [[at, this.#calls.get(place)!.id]] : [])),
    );
    return { response, ids };
  }

  /** A call ran before the first round: its events follow the beginning of the response. */
  ranBefore(item: JsonObject, ran: Pick<RanCall, 'isError'>): void {
    this.#before.push([item, ran]);
  }

  /** The end of a call of a tool. */
  ended(item: JsonObject, ran: Pick<RanCall, 'isError'> | undefined, outputIndex: number): string {
    const at = { item_id: item['id']!, output_index: outputIndex };
    const over = ran ? this.#say(`response.mcp_call.${ran.isError ? 'failed' : 'completed'}`, at) : '';
    return over + this.#say('response.output_item.done', { output_index: outputIndex, item });
  }

  /** The items so far are `count`, and a round follows. */
  nextRound(count: number): void {
    this.#base = count;
    this.#items = new Map();
    this.#calls = new Map();
    this.#begun = new Set();
    this.#response = undefined;
    this.#decoder = new SseDecoder(this.#options.limit);
  }

  /** The last event. */
  end(response: JsonObject): string {
    const { status } = response;
    return (
      this.#list() +
      this.#say(`response.${status === 'incomplete' || status === 'failed' ? status : 'completed'}`, { response })
    );
  }

  #hear(event: JsonObject): string {
    const { type, response } = event;
    if (TERMINAL.has(type)) {
      if (isObject(response)) this.#response = response;
      return '';
    }
    if (OF_THE_RESPONSE.has(type)) {
      if (this.#hasListed || !isObject(response)) return '';
      const told = this.#say(type as string, { response: this.#options.tell(response) });
      return type === 'response.in_progress' ? told + this.#list() : told;
    }
    return this.#list() + this.#hearItem(event);
  }

  #hearItem(event: JsonObject): string {
    const { type, output_index: place, item } = event;
    if (typeof type !== 'string' || typeof place !== 'number') return '';
    if (type === 'response.output_item.added' && isObject(item)) return this.#added(event, item, place);
    let begun = '';
    if (type === 'response.output_item.done' && isObject(item)) {
      // A provider may tell a call only once it is whole.
      const tool = calledTool(item, this.#options.tools);
      if (!this.#begun.has(place) && tool) begun = this.#added(event, item, place);
      this.#items.set(place, item);
      if (tool?.asksClient === true) return this.#askClient(item, tool, place);
    }
    const call = this.#calls.get(place);
    const output_index = this.#base + place;
    if (!call) return this.#say(type, { ...event, output_index });
    // A call that the client must approve has one event for the whole item.
    if (call.tool.asksClient) return '';
    const word = ARGUMENTS.get(type);
    if (word === undefined) return begun;
    const { delta, arguments: whole } = event;
    const said = whole === undefined ? { delta: delta ?? '' } : { arguments: whole };
    return this.#say(word, { item_id: call.id, output_index, ...said });
  }

  #added(event: JsonObject, item: JsonObject, place: number): string {
    const output_index = this.#base + place;
    const tool = calledTool(item, this.#options.tools);
    this.#begun.add(place);
    if (!tool) return this.#say('response.output_item.added', { ...event, output_index });
    const id = this.#options.newId(tool.asksClient ? 'r' : undefined);
    this.#calls.set(place, { id, tool });
    if (tool.asksClient) return '';
    const begun = callItem(id, tool, '', 'in_progress');
    return (
      this.#say('response.output_item.added', { output_index, item: begun }) +
      this.#say('response.mcp_call.in_progress', { item_id: id, output_index })
    );
  }

  #askClient({ arguments: args, status }: JsonObject, tool: LoopTool, place: number): string {
    if (status === 'incomplete') return '';
    const output_index = this.#base + place;
    const item = approvalItem(this.#calls.get(place)!.id, tool, typeof args === 'string' ? args : '');
    return (
      this.#say('response.output_item.added', { output_index, item }) +
      this.#say('response.output_item.done', { output_index, item })
    );
  }

  /** The lists come once, after the response has begun, and then the calls that ran before. */
  #list(): string {
    if (this.#hasListed) return '';
    this.#hasListed = true;
    const lists = this.#options.lists
      .map((item) => {
        const at = { item_id: item['id']!, output_index: this.#base };
        const output_index = this.#base++;
        return (
          this.#say('response.output_item.added', { output_index, item: { ...item, tools: [] } }) +
          this.#say('response.mcp_list_tools.in_progress', at) +
          this.#say('response.mcp_list_tools.completed', at) +
          this.#say('response.output_item.done', { output_index, item })
        );
      })
      .join('');
    return lists + this.#before.map(([item, ran]) => this.#toldBefore(item, ran)).join('');
  }

  #toldBefore(item: JsonObject, ran: Pick<RanCall, 'isError'>): string {
    const output_index = this.#base++;
    const at = { item_id: item['id']!, output_index };
    const begun = { ...item, status: 'in_progress', arguments: '', output: null, error: null };
    return (
      this.#say('response.output_item.added', { output_index, item: begun }) +
      this.#say('response.mcp_call.in_progress', at) +
      this.#say('response.mcp_call_arguments.done', { ...at, arguments: item['arguments']! }) +
      this.ended(item, ran, output_index)
    );
  }

  #say(type: string, members: JsonObject): string {
    const { type: _type, sequence_number: _number, ...said } = members;
    return writeEvent(JSON.stringify({ type, sequence_number: this.#sequence++, ...said }), type);
  }
}
