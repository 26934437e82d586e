import { expect, test } from 'vitest';
import { endedWell } from './ended-well.ts';

test.each([
  ['{"choices":[{"finish_reason":"stop"},{"finish_reason": "length"}]}', true],
  ['{"choices":[{"finish_reason":"stop"},{"finish_reason":"content_filter"}]}', false],
  ['{"choices":[{"finish_reason":"error"}]}', false],
  ['{"choices":[{"finish_reason":"something_new"}]}', false],
  ['data: {"finish_reason":null}\n\ndata: {"finish_reason":"tool_calls"}\n\n', true],
  ['{"stop_reason":"end_turn"}', true],
  ['{"stop_reason":"refusal"}', false],
  ['{"stopReason":"guardrail_intervened"}', false],
  ['{"candidates":[{"finishReason":"STOP"}]}', true],
  ['{"candidates":[{"finishReason":"SAFETY"}]}', false],
  ['{"promptFeedback":{"blockReason":"OTHER"}}', false],
  ['{"status":"completed"}', true],
  ['{"status":"failed"}', false],
  ['{"status":"incomplete","incomplete_details":{"reason":"max_output_tokens"}}', true],
  ['{"status":"incomplete","incomplete_details":{"reason":"content_filter"}}', false],
  ['{"data":[{"embedding":[1,2]}]}', true],
  // What a text says is no finish: its quotes are escaped.
  [JSON.stringify({ content: '{"finish_reason":"error","status":"failed"}', finish_reason: 'stop' }), true],
])('%s: %s', (answer, well) => {
  expect(endedWell(answer)).toBe(well);
});
