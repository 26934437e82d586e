import type { Case } from '../cases.ts';
import type { ExitFamily } from '../exits/read-asked.ts';
import type { Kind } from '../kinds/kind.ts';
import { at, type Body } from '../vocabulary.ts';
import type { Frame } from './framing.ts';
import { habitsOf, habitsOfStream } from './habits.ts';
import { rewrite } from './rewrite.ts';
import { streamWithUsage, usageIn, withUsage } from './usage.ts';

/** The words of aimock for how a family's answer ends, where it is not the one it takes by itself. */
export function finishWord(one: Case, family: ExitFamily): string | undefined {
  switch (one.ending) {
    case 'calls':
      return family === 'gemini' ? 'STOP' : undefined;
    case 'length':
      return 'length';
    case 'stop-sequence':
      return family === 'messages' || family === 'converse' ? 'stop_sequence' : undefined;
    case 'refusal':
      return {
        chat: 'content_filter',
        responses: undefined,
        messages: 'refusal',
        gemini: 'SAFETY',
        converse: 'guardrail_intervened',
      }[family];
    default:
      return undefined;
  }
}

/** An answer of aimock's as the vendor gives it: usage, refusals and endings in its own words. */
export function dressBody(body: unknown, kind: Kind, one: Case, family: ExitFamily): unknown {
  if (isBlocked(kind, one))
    return { promptFeedback: { blockReason: 'SAFETY' }, usageMetadata: usageIn(family, kind.usage) };
  return habitsOf(withUsage(dress(body, kind, one, family), family, kind.usage), kind, family);
}

/** The same for a stream; `asked`: usage was asked for. */
export function dressFrames(
  frames: readonly Frame[],
  kind: Kind,
  one: Case,
  family: ExitFamily,
  asked: boolean,
): readonly Frame[] {
  if (isBlocked(kind, one)) return [{ data: dressBody({}, kind, one, family) }];
  const dressed = frames.map(({ event, data }): Frame => {
    const body = dress(data, kind, one, family);
    const type = at(body, 'type');
    // aimock names every end alike; the vendor's events are named by their type.
    return { ...(event !== undefined && { event: family === 'converse' ? event : String(type) }), data: body };
  });
  return habitsOfStream(streamWithUsage(dressed, family, kind.usage, asked), kind, family);
}

function isBlocked(kind: Kind, one: Case): boolean {
  return one.ending === 'refusal' && kind.refusal === 'blocked';
}

function dress(data: unknown, kind: Kind, one: Case, family: ExitFamily): unknown {
  if (typeof data === 'string') return data;
  if (family === 'responses') return dressResponse(data as Body, kind, one);
  if (family === 'messages' && one.ending === 'stop-sequence')
    return rewrite(data, (object) =>
      object['stop_reason'] === 'stop_sequence' ? { ...object, stop_sequence: one.stop } : object,
    );
  if (family !== 'chat') return data;
  return rewrite(data, (object) => {
    const { reasoning_content: thoughts, ...rest } = object;
    const renamed = kind.thoughts && thoughts !== undefined ? { ...rest, [kind.thoughts]: thoughts } : object;
    return one.ending === 'refusal' && kind.refusal === 'words' ? refusedInChat(renamed) : renamed;
  });
}

/** The model's own words of refusal stand in a member of their own. */
function refusedInChat(object: Body): Body {
  if (object['finish_reason'] === 'content_filter') return { ...object, finish_reason: 'stop' };
  const { content } = object;
  return typeof content === 'string' && content !== '' ? { ...object, content: null, refusal: content } : object;
}

function dressResponse(data: Body, kind: Kind, one: Case): unknown {
  const reason =
    one.ending === 'length'
      ? 'max_output_tokens'
      : one.ending === 'refusal' && kind.refusal !== 'words'
        ? 'content_filter'
        : undefined;
  const inWords = one.ending === 'refusal' && kind.refusal === 'words';
  return rewrite(data, (object) => {
    const type = object['type'];
    if (object['object'] === 'response' && object['status'] !== 'in_progress') {
      const status = reason === undefined ? object['status'] : 'incomplete';
      return { ...object, status, incomplete_details: reason === undefined ? null : { reason }, error: null };
    }
    if (type === 'response.completed' && reason !== undefined) return { ...object, type: 'response.incomplete' };
    if (!inWords || typeof type !== 'string') return object;
    if (type === 'output_text') return { type: 'refusal', refusal: object['text'] };
    if (!type.startsWith('response.output_text.')) return object;
    const { text, ...rest } = object;
    const renamed = type.replace('output_text', 'refusal');
    return { ...rest, type: renamed, ...(text !== undefined && { refusal: text }) };
  });
}
