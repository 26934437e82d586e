import type { Effort } from '#/wire/hub/canonical.ts';
import type { ReasoningTraits } from '#/wire/hub/traits.ts';
import { NEW_CLAUDE } from '#/vendors/anthropic.ts';
import { effortWords } from '#/vendors/efforts.ts';
import type { Row } from './row.ts';

const adaptive = (...known: Effort[]): ReasoningTraits => ({
  control: 'adaptive',
  words: effortWords(known),
  canDisable: true,
});

const ALL = adaptive('low', 'medium', 'high', 'xhigh', 'max');

const BUDGET: ReasoningTraits = {
  control: 'budget',
  words: {},
  budget: { shares: { minimal: 0, low: 0.1, medium: 0.3, high: 0.6, xhigh: 0.6, max: 0.6 }, least: 1024 },
  canDisable: true,
};

/**
 * Claude, at Anthropic and on clouds, under any of its names: `claude-opus-4-5`, `eu.anthropic.claude-opus-4-5-…-v1:0`,
 * `claude-opus-4-5@20251101`. A model that is not in the list is taken for a new one. A number of two digits at most is
 * a version, a longer one a date: `claude-opus-4-20250514` is 4. // wire-formats 2.3, 2.4, 2.6
 */
export const CLAUDE_ROWS: readonly Row[] = [
  { match: /(?:^|[./])claude/, traits: NEW_CLAUDE },
  { vendors: ['bedrock', 'vertex'], match: /(?:^|[./])claude/, traits: { remoteMedia: false } },
  // Up to 4.5: budgets, no effort, and the answer's beginning may be given.
  {
    match: /claude-(?:[a-z]+-4(?!\d)(?:(?![-.]\d{1,2}(?!\d))|[-.][015](?!\d))|3|2|v2|instant)/,
    traits: { reasoning: BUDGET, sampling: 'either', prefill: true, maxOutputTokens: 64_000 },
  },
  // Up to 4.1.
  {
    match: /claude-(?:[a-z]+-4(?!\d)(?:(?![-.]\d{1,2}(?!\d))|[-.][01](?!\d))|3|2|v2|instant)/,
    traits: { json: 'tool' },
  },
  {
    match: /claude-opus-4(?!\d)(?:(?![-.]\d{1,2}(?!\d))|[-.][01](?!\d))/,
    traits: { maxOutputTokens: 32_000 },
  },
  {
    match: /claude-opus-4-5(?!\d)/,
    traits: { reasoning: { ...BUDGET, words: effortWords(['low', 'medium', 'high']) } },
  },
  { match: /claude-3/, traits: { sampling: 'free' } },
  {
    match: /claude-3-(?!7)/,
    traits: { reasoning: { control: 'none', words: {}, canDisable: true }, maxOutputTokens: 8192 },
  },
  { match: /claude-3-(?:haiku|opus|sonnet)/, traits: { maxOutputTokens: 4096, documents: false } },
  {
    match: /claude-[a-z]+-4-6(?!\d)/,
    traits: { reasoning: adaptive('low', 'medium', 'high', 'max'), sampling: 'either' },
  },
  // An instruction in the middle of the conversation.
  { match: /claude-(?:opus-4-8|opus-5|sonnet-5-5|fable-5|mythos)(?!\d)/, traits: { midSystem: true } },
  { match: /claude-fable-5-2(?!\d)/, traits: { midSystem: false } },
  // No tool may be forced; thinking cannot be switched off.
  { match: /claude-(?:opus-5-5|sonnet-5-5|fable-5-[12])(?!\d)/, traits: { forcedTools: false } },
  { match: /claude-(?:opus-5-5|sonnet-5-5|fable)(?!\d)/, traits: { reasoning: { ...ALL, canDisable: false } } },
  { vendors: ['bedrock'], match: /claude-sonnet-5(?!\d)/, traits: { forcedTools: false } },
  // On Bedrock an hour of cache came with 4.5.
  {
    vendors: ['bedrock'],
    match: /claude-(?:[a-z]+-4(?!\d)(?:(?![-.]\d{1,2}(?!\d))|[-.][01](?!\d))|3|2|v2|instant)/,
    traits: { cacheMarks: 'five-minutes' },
  },
];
