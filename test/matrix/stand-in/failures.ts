import type { ExitFamily } from '../exits/read-asked.ts';
import type { Kind } from '../kinds/kind.ts';
import type { Frame } from './framing.ts';

/** What the provider says when it fails: clients are told these very words. */
export const COMPLAINT = 'The machines are on fire.';

/** An error in mid-stream, as each family tells it. */
export function errorFrame(family: ExitFamily, { framing }: Kind, index: number): Frame {
  if (framing !== 'sse') return { event: 'modelStreamErrorException', isException: true, data: { message: COMPLAINT } };
  switch (family) {
    case 'messages':
      return { event: 'error', data: { type: 'error', error: { type: 'overloaded_error', message: COMPLAINT } } };
    case 'responses':
      return {
        event: 'error',
        data: { type: 'error', code: 'server_error', message: COMPLAINT, param: null, sequence_number: index },
      };
    case 'gemini':
      return { data: { error: { code: 503, message: COMPLAINT, status: 'UNAVAILABLE' } } };
    default:
      return { data: { error: { message: COMPLAINT, type: 'server_error', param: null, code: null } } };
  }
}

/** Whether that error says that the provider has too much to do. */
export function saysOverloaded(family: ExitFamily, { framing }: Kind): boolean {
  return framing === 'sse' && (family === 'messages' || family === 'gemini');
}

/** The body and headers of an answer with status 500. */
export function errorAnswer(
  family: ExitFamily,
  { framing, name }: Kind,
): { body: object; headers: Record<string, string> } {
  if (framing !== 'sse') {
    return { body: { message: COMPLAINT }, headers: { 'x-amzn-errortype': 'InternalServerException:http://x/' } };
  }
  if (family === 'messages')
    return { body: { type: 'error', error: { type: 'api_error', message: COMPLAINT } }, headers: {} };
  if (family === 'gemini')
    return { body: { error: { code: 500, message: COMPLAINT, status: 'INTERNAL' } }, headers: {} };
  if (name === 'mistral')
    return { body: { object: 'error', message: COMPLAINT, type: 'internal', code: 1 }, headers: {} };
  return { body: { error: { message: COMPLAINT, type: 'server_error', param: null, code: null } }, headers: {} };
}
