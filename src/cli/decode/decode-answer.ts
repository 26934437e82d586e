import { UPSTREAM_CODECS } from '#/route/plan.ts';
import type { Finish, Part, StreamEvent } from '#/wire/hub/canonical.ts';
import type { StreamDecoder } from '#/wire/hub/codec.ts';
import type { HubFamily } from '#/wire/document/document.ts';
import { isObject, type JsonObject } from '#/wire/document/json.ts';
import { SseDecoder, type SseEvent } from '#/wire/answer/sse.ts';
import type { Usage } from '#/wire/answer/usage.ts';

/** What a recorded answer says, in the hub's words. */
export interface DecodedAnswer {
  readonly family: HubFamily;
  /** Model as the answer names it. */
  readonly model: string | undefined;
  readonly events: readonly StreamEvent[];
  readonly usage: Usage | undefined;
  readonly warnings: readonly string[];
}

/** The wire families whose answers can be decoded. */
export const FAMILIES = Object.keys(UPSTREAM_CODECS) as readonly HubFamily[];

const MAX_EVENT = 64 * 1024 * 1024;

/** How a recording is kept: one body, one event payload a line, or a stream as it was on the wire. */
export type RecordingForm = 'body' | 'payloads' | 'wire';

/**
 * Decodes a recording. `family`: undefined to guess it by what the answer looks like. Undefined when it is no answer of
 * a conversation; throws `SyntaxError` when it is not JSON.
 */
export function decodeAnswer(text: string, form: RecordingForm, family?: HubFamily): DecodedAnswer | undefined {
  if (form === 'body') return decodeBody(JSON.parse(text), family);
  const events = form === 'payloads' ? payloads(text) : wire(text);
  const samples = events.flatMap(({ data }) => (data?.startsWith('{') ? [JSON.parse(data) as JsonObject] : []));
  const known = family ?? samples.map(guessFamily).find((guess) => guess !== undefined);
  if (known === undefined) return undefined;
  const decoder = UPSTREAM_CODECS[known].streamDecoder();
  const said = [...events.flatMap((event) => decoder.decode(event)), ...decoder.end()];
  return summarize(known, modelOf(samples), [...said, ...broken(decoder, said)]);
}

function decodeBody(body: unknown, family: HubFamily | undefined): DecodedAnswer | undefined {
  if (!isObject(body)) return undefined;
  const known = family ?? guessFamily(body);
  const answer = known && UPSTREAM_CODECS[known].decodeAnswer(body);
  if (!known || !answer) return undefined;
  const parts = answer.parts.map((part, at): StreamEvent => ({ type: 'part-start', index: at, part }));
  return summarize(known, modelOf([body]), [
    { type: 'start', ...(answer.id !== undefined && { id: answer.id }) },
    ...parts,
    { type: 'finish', finish: answer.finish },
    ...(answer.usage ? [{ type: 'usage', usage: answer.usage } as const] : []),
  ]);
}

/** A stream that neither finished nor failed was cut off. */
function broken({ finished }: StreamDecoder, said: readonly StreamEvent[]): readonly StreamEvent[] {
  if (finished || said.some(({ type }) => type === 'error')) return [];
  return [{ type: 'warning', message: 'the stream ends before the answer is complete' }];
}

function summarize(family: HubFamily, model: string | undefined, events: readonly StreamEvent[]): DecodedAnswer {
  const usage = events.findLast((event) => 'usage' in event && event.usage !== undefined);
  const warnings = events.flatMap((event) => (event.type === 'warning' ? [event.message] : []));
  return { family, model, events, usage: usage && 'usage' in usage ? usage.usage : undefined, warnings };
}

const CONVERSE_EVENTS = ['messageStart', 'contentBlockStart', 'contentBlockDelta', 'messageStop'];

/** By members that only one family has. */
function guessFamily(body: JsonObject): HubFamily | undefined {
  const { type, object } = body;
  if (Array.isArray(body['choices']) && object !== 'text_completion') return 'chat';
  if (object === 'response' || (typeof type === 'string' && type.startsWith('response.'))) return 'responses';
  if (type === 'message' || type === 'message_start') return 'messages';
  if ('candidates' in body || 'promptFeedback' in body) return 'gemini';
  if (CONVERSE_EVENTS.some((name) => name in body)) return 'converse';
  if (isObject(body['output']) && 'message' in body['output']) return 'converse';
  return undefined;
}

function modelOf(bodies: readonly JsonObject[]): string | undefined {
  for (const body of bodies) {
    for (const holder of [body, body['message'], body['response']]) {
      if (!isObject(holder)) continue;
      for (const name of ['model', 'modelVersion']) {
        const model = holder[name];
        if (typeof model === 'string' && model !== '') return model;
      }
    }
  }
  return undefined;
}

function payloads(text: string): readonly SseEvent[] {
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  return lines.map((data) => ({ event: undefined, data, raw: `data: ${data}\n\n` }));
}

function wire(text: string): readonly SseEvent[] {
  const decoder = new SseDecoder(MAX_EVENT);
  return [...decoder.push(Buffer.from(text)), ...decoder.end()];
}

/** One event as one line: its kind, then what it says. */
export function describeEvent(event: StreamEvent): string {
  switch (event.type) {
    case 'start':
      return `start       ${event.id ?? '(no id)'}`;
    case 'part-start':
      return `part ${index(event)} opens  ${describePart(event.part)}`;
    case 'part-delta':
      return `part ${index(event)} +      ${JSON.stringify(event.text)}`;
    case 'part-proof':
      return `part ${index(event)} proof  of ${event.proof.family}, ${event.proof.value.length} characters`;
    case 'part-end':
      return `part ${index(event)} closes`;
    case 'usage':
      return `usage       ${JSON.stringify(event.usage)}`;
    case 'finish':
      return `finish      ${describeFinish(event.finish)}`;
    case 'error':
      return `error       ${event.code ?? ''} ${event.message}`;
    case 'warning':
      return `warning     ${event.message}`;
    case 'end':
      return 'end';
  }
}

function index(event: { readonly index: number }): string {
  return String(event.index).padStart(2);
}

function describePart(part: Part): string {
  switch (part.type) {
    case 'text':
    case 'refusal':
      return `${part.type} ${JSON.stringify(part.text)}`;
    case 'reasoning':
      return `reasoning ${JSON.stringify(part.text)}${part.proof ? `, proof of ${part.proof.family}` : ''}`;
    case 'tool-call':
      return `tool-call ${part.name} (${part.id}) ${part.argumentsJson}${part.proof ? `, proof of ${part.proof.family}` : ''}`;
    case 'tool-result':
      return `tool-result (${part.id})`;
    case 'media':
      return `media ${part.mediaType}`;
    case 'opaque':
      return `opaque ${part.name} of ${part.family}`;
  }
}

function describeFinish({ reason, stopSequence }: Finish): string {
  return stopSequence === undefined ? reason : `${reason} ${JSON.stringify(stopSequence)}`;
}
