import type { CallContext } from '#/call/call.ts';
import type { McpRequest, ToolNotice } from '#/call/tool-call.ts';
import type { Detection } from '#/inspect/detection.ts';
import type { Inspection } from '#/inspect/inspect.ts';
import { locate, render, type WireDocument } from '#/wire/document/document.ts';
import { isObject, type Json, type JsonObject } from '#/wire/document/json.ts';
import { lookAt, restoredNotice } from './results.ts';

/** Most notices of one call that are passed on; others are dropped. */
const MOST_NOTICES = 1000;
/** Longer ones are dropped, in UTF-16 code units. */
const MOST_LENGTH = 64 * 1024;

/** Passes progress and log messages on while a tool works, each looked through like a result. */
export interface Notices {
  take(notice: WireDocument): void;
  /** Resolves when all that were taken are passed on. */
  done(): Promise<void>;
}

/** All that a client said to the server so far: it grows while the client answers questions. */
export interface Said {
  readonly inspection: Inspection | undefined;
  /** Answers to the tool's questions, as the client wrote them. */
  readonly written: readonly string[];
}

/** Undefined where the client wants none. */
export function noticesFor(
  request: McpRequest,
  said: Said,
  parts: { readonly detection: Detection },
): Notices | undefined {
  const { onNotice } = request;
  if (!onNotice) return undefined;
  let count = 0;
  let last = Promise.resolve();
  const pass = async (kind: ToolNotice['kind'], params: WireDocument): Promise<void> => {
    const { edits, refusal } = await lookAt(params, request, parts);
    if (refusal || request.signal.aborted) return;
    const text = restoredNotice(render(params.text, edits), {
      request,
      inspection: said.inspection,
      said: { arguments: request.arguments?.source, answers: said.written },
    });
    if (text !== undefined) onNotice({ kind, params: text });
  };
  return {
    take({ body }) {
      if (count >= MOST_NOTICES) return;
      count += 1;
      const read = readNotice(body);
      // One after the other. A notice that cannot be looked through is not passed on.
      if (read) last = last.then(() => pass(read.kind, read.params)).catch(() => undefined);
    },
    done: () => last,
  };
}

/** A log message outside of calls, as a whole message for the client; undefined: it is something else, or is not passed on. */
export async function passedLog(
  { body }: WireDocument,
  request: CallContext,
  parts: { readonly detection: Detection },
): Promise<string | undefined> {
  const read = readNotice(body);
  if (read?.kind !== 'message') return undefined;
  const { edits, refusal } = await lookAt(read.params, request, parts);
  if (refusal) return undefined;
  return `{"jsonrpc":"2.0","method":"notifications/message","params":${render(read.params.text, edits)}}`;
}

/** What a notice says, as far as it is passed on; undefined: nothing of it is. */
function readNotice(
  body: JsonObject,
): { readonly kind: ToolNotice['kind']; readonly params: WireDocument } | undefined {
  const kind = KINDS.get(body['method']);
  if (kind === undefined || !isObject(body['params'])) return undefined;
  // The protocol asks for it, and what follows the client's token must not be nothing.
  if (kind === 'progress' && typeof body['params']['progress'] !== 'number') return undefined;
  const members = Object.entries(body['params']).filter(([name]) => PASSED[kind].has(name));
  const params = Object.fromEntries(members);
  const text = JSON.stringify(params);
  return text.length > MOST_LENGTH ? undefined : { kind, params: locate('mcp', text, params, { lenient: true }) };
}

const KINDS: ReadonlyMap<Json | undefined, ToolNotice['kind']> = new Map([
  ['notifications/progress', 'progress'],
  ['notifications/message', 'message'],
]);

/** Members that go on; the token is the client's own. */
const PASSED: Readonly<Record<ToolNotice['kind'], ReadonlySet<string>>> = {
  progress: new Set(['progress', 'total', 'message']),
  message: new Set(['level', 'logger', 'data']),
};
