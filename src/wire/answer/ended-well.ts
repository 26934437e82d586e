/** End reasons of complete answers, or of answers cut at a requested limit, in the words of every family. */
const GOOD = new Set([
  'stop',
  'length',
  'tool_calls',
  'function_call',
  'eos',
  'end_turn',
  'max_tokens',
  'stop_sequence',
  'tool_use',
  'STOP',
  'MAX_TOKENS',
]);
const FINISH = /"(?:finish_reason|stop_reason|finishReason|stopReason)"\s*:\s*"([^"\\]*)"/g;
/** The responses family tells it by status. */
const BAD_STATUS = /"status"\s*:\s*"(?:failed|cancelled)"|"reason"\s*:\s*"content_filter"|"blockReason"\s*:/;

/**
 * Whether a provider's answer, buffered or a whole stream, ended well: not refused, filtered or given up by the
 * provider. A word that is not known is no good end. Quotes within its texts are escaped, so that no text passes for one.
 */
export function endedWell(answer: string): boolean {
  for (const [, word] of answer.matchAll(FINISH)) if (!GOOD.has(word!)) return false;
  return !BAD_STATUS.test(answer);
}
