import type { FinishReason } from '../hub/canonical.ts';

/** Content of an answer besides plain text, which its end must match. */
export interface Holds {
  readonly calls: boolean;
  readonly refusal: boolean;
}

const REASONS: Readonly<Record<string, FinishReason>> = {
  stop: 'stop',
  end_turn: 'stop',
  eos: 'stop',
  length: 'length',
  max_tokens: 'length',
  // The host ran out of resources: the answer is cut off.
  insufficient_system_resource: 'length',
  abort: 'length',
  model_length: 'context',
  tool_calls: 'tool-calls',
  function_call: 'tool-calls',
  content_filter: 'filter',
  error: 'malformed',
};

/** Why an answer ended; undefined for a word that is not known. // wire-formats 3.1 */
export function decodeFinish(word: string, { calls, refusal }: Holds): FinishReason | undefined {
  const reason = REASONS[word];
  if (reason !== 'stop' && reason !== 'tool-calls') return reason;
  if (calls) return 'tool-calls';
  return refusal ? 'refusal' : 'stop';
}

/** The family's word for it. */
export function encodeFinish(reason: FinishReason, { calls, refusal }: Holds): string {
  switch (reason) {
    case 'length':
    case 'context':
      return 'length';
    case 'filter':
      return 'content_filter';
    case 'refusal':
      // Without words of refusal the family has no other way to say that the model declined.
      return refusal ? 'stop' : 'content_filter';
    case 'tool-calls':
    case 'stop':
    case 'stop-sequence':
    case 'pause':
    case 'malformed':
      return calls ? 'tool_calls' : 'stop';
  }
}
