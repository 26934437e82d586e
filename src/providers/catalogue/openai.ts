import type { Effort } from '#/wire/hub/canonical.ts';
import type { ReasoningTraits, Traits } from '#/wire/hub/traits.ts';
import { effortWords } from '#/vendors/efforts.ts';
import type { Row } from './row.ts';

const effort = (...known: Effort[]): ReasoningTraits => ({
  control: 'effort',
  words: effortWords(known),
  canDisable: known[0] === 'none',
});

const NO_REASONING: ReasoningTraits = { control: 'none', words: {}, canDisable: true };

/** Parameters that reasoning models refuse, in addition to sampling. */
const NOT_WHILE_REASONING = ['presence_penalty', 'frequency_penalty', 'logit_bias', 'logprobs', 'top_logprobs'];

const reasoning = (words: ReasoningTraits, more: Partial<Traits> = {}): Partial<Traits> => ({
  reasoning: words,
  sampling: 'fixed',
  systemRole: 'developer',
  ceilingName: 'max_completion_tokens',
  maxStops: 0,
  rejects: new Set(NOT_WHILE_REASONING),
  ...more,
});

/** OpenAI's models, at OpenAI, Azure and wherever else they are offered. // wire-formats 2.3, 2.5 */
export const OPENAI_ROWS: readonly Row[] = [
  { match: /(?:^|[./])(?:gpt-[34]|chatgpt-4o)/, traits: { reasoning: NO_REASONING, documents: true } },
  { match: /(?:^|[./])gpt-(?:3\.5|4(?!o|\.|-turbo|-vision))/, traits: { vision: false, documents: false } },
  { match: /(?:^|[./])o[134](?:-|$)/, traits: reasoning(effort('low', 'medium', 'high'), { documents: true }) },
  {
    match: /(?:^|[./])gpt-5(?:-|$)/,
    traits: reasoning(effort('minimal', 'low', 'medium', 'high'), { documents: true }),
  },
  {
    match: /(?:^|[./])gpt-5\.1(?:-|$)/,
    traits: reasoning(effort('none', 'low', 'medium', 'high'), { sampling: 'quiet', documents: true }),
  },
  {
    match: /(?:^|[./])gpt-5\.[2-9](?:-|$)/,
    traits: reasoning(effort('none', 'low', 'medium', 'high', 'xhigh'), { sampling: 'quiet', documents: true }),
  },
  {
    match: /(?:^|[./])gpt-5\.[6-9](?:-|$)/,
    traits: { reasoning: effort('none', 'low', 'medium', 'high', 'xhigh', 'max'), chat: 'without-tools' },
  },
  {
    match: /(?:^|[./])gpt-(?:[6-9]|[1-9]\d)(?:[.-]|$)/,
    traits: reasoning(effort('none', 'low', 'medium', 'high', 'xhigh', 'max'), {
      sampling: 'quiet',
      documents: true,
      chat: 'without-tools',
      rejects: new Set([...NOT_WHILE_REASONING, 'prompt_cache_retention']),
    }),
  },
  {
    match: /(?:^|[./])gpt-6(?:-astra|\.1-sol)(?:-|$)/,
    traits: { reasoning: effort('low', 'medium', 'high', 'xhigh', 'max'), sampling: 'fixed' },
  },
  {
    match: /(?:^|[./])(?:gpt-[345](?:[o-]|$)|gpt-[345]\.[0-5]|o[134](?:-|$)|chatgpt)/,
    traits: { rejects: new Set(['prompt_cache_options']) },
  },
  {
    match: /(?:^|[./])gpt-5(?:\.\d)?-chat/,
    traits: { reasoning: NO_REASONING, sampling: 'free', systemRole: 'system', maxStops: 4 },
  },
  {
    // These exist on the responses path only.
    match:
      /(?:^|[./])(?:codex|computer-use|(?:gpt-[5-9](?:\.\d)?|o[134])[a-z-]{0,20}-(?:codex|pro|deep-research))|-codex(?:-|$)|(?:^|[./])(?:gpt-[5-9](?:\.\d)?|o[134])-(?:pro|deep-research)/,
    traits: { chat: 'nothing' },
  },
  // The only model that OpenAI answers decisions with. // developers.openai.com/api/docs/guides/decisions
  { vendors: ['openai'], match: /^gpt-6-luna(?:-|$)/, traits: { decides: 'decisions' } },
  {
    match: /gpt-oss/,
    traits: {
      reasoning: effort('low', 'medium', 'high'),
      vision: false,
      audio: false,
      documents: false,
      sampling: 'free',
    },
  },
  {
    vendors: ['bedrock'],
    match: /(?:^|\.)openai\.gpt-5/,
    traits: { reasoning: { ...effort('none', 'low', 'medium', 'high'), field: 'reasoning.effort' } },
  },
  // On Bedrock they refuse stop strings.
  { vendors: ['bedrock'], match: /(?:^|\.)openai\./, traits: { maxStops: 0, remoteMedia: false } },
];
