/**
 * Texts that a stream tells in pieces (`….delta`) and then whole (`….done`), by what their events' names begin with. Both
 * modes read a stream by this table: a new text is one row here. Verbatim restores texts without a row too, since any
 * delta that is a string goes on from event to event.
 */
export const STREAM_TEXTS: Readonly<Record<string, StreamText>> = {
  'response.output_text': { part: 'text', counter: 'content_index', whole: 'text', isAnswer: true },
  'response.refusal': { part: 'refusal', counter: 'content_index', whole: 'refusal' },
  'response.reasoning_summary_text': { part: 'reasoning', counter: 'summary_index' },
  'response.reasoning_text': { part: 'reasoning', counter: 'content_index' },
  'response.function_call_arguments': { part: 'tool-call', isCall: true, isJson: true },
  'response.mcp_call_arguments': { part: 'opaque', isCall: true, isJson: true },
  'response.custom_tool_call_input': { part: 'opaque', isCall: true },
  'response.code_interpreter_call_code': { part: 'opaque', isCall: true },
  'response.shell_call_command': { part: 'opaque', counter: 'command_index' },
  'response.apply_patch_call_operation_diff': { part: 'opaque' },
};

/** A text that goes on from event to event. */
export interface StreamText {
  /** What it is to the hub; `opaque`: of an item that only this family knows, and that is passed on whole at its end. */
  readonly part: 'text' | 'refusal' | 'reasoning' | 'tool-call' | 'opaque';
  /** The member that tells apart the texts of one item. */
  readonly counter?: string;
  /** The member of the `….done` event that repeats the text, where the hub makes up from it for missing pieces. */
  readonly whole?: string;
  /** The answer itself: JSON where JSON was asked for. */
  readonly isAnswer?: true;
  /** All that goes to a tool. */
  readonly isCall?: true;
  readonly isJson?: true;
}

/** What goes to a tool, by the vendor's way of naming such events: for those without a row. */
const CALL = /^response\.[a-z_]{1,40}_call_(?:arguments|input|code)$/;

/** Members that tell apart the texts of one item. */
export const COUNTERS = [...new Set(Object.values(STREAM_TEXTS).flatMap(({ counter }) => counter ?? []))];

/** Events that repeat the answer itself. */
export const WHOLE_ANSWERS = Object.keys(STREAM_TEXTS).flatMap((name) =>
  STREAM_TEXTS[name]!.isAnswer ? [`${name}.done`] : [],
);

const ROWS: ReadonlyMap<string, StreamText> = new Map(
  Object.entries(STREAM_TEXTS).flatMap(([name, row]) => [
    [`${name}.delta`, row],
    [`${name}.done`, row],
  ]),
);

/** The text that an event of this type speaks of; undefined for one without a row. */
export function streamText(type: string): StreamText | undefined {
  return ROWS.get(type);
}

/** Whether an event of this type says what goes to a tool, or repeats it (`….done`). */
export function tellsTool(type: string, ending: '.delta' | '.done'): boolean {
  if (!type.endsWith(ending)) return false;
  return streamText(type)?.isCall === true || CALL.test(type.slice(0, -ending.length));
}
