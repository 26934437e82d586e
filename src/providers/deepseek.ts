import { chatVendor } from './chat-vendor.ts';
import { chatMembers, messageMembers } from './family-rules.ts';
import type { Fitting } from './fitting.ts';

/** Thinks unless told otherwise, by a member of its own. // wire-formats 2.3 */
export const deepseek = chatVendor({
  id: 'deepseek',
  families: ['chat', 'completions'],
  rules: {
    chat: {
      members: chatMembers('thinking', 'logprobs', 'top_logprobs'),
      refuses: ['seed', 'user', 'n', 'parallel_tool_calls'],
      messageMembers: messageMembers('prefix', 'reasoning_content'),
      streamOptions: 'usage',
      quirk: switchThinkingOff,
    },
  },
});

function switchThinkingOff(fitting: Fitting): void {
  if (fitting.value('reasoning_effort') !== 'none') return;
  fitting.remove(fitting.root, 'reasoning_effort');
  fitting.set('thinking', '{"type":"disabled"}');
}
