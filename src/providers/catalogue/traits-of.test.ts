import { describe, expect, test } from 'vitest';
import type { ModelConfig } from '#/config/snapshot.ts';
import type { VendorId } from '#/vendors/list.ts';
import { UNKNOWN_MODEL, type Traits } from '#/wire/hub/traits.ts';
import { configOf } from '../testing/config.ts';
import { traitsOf } from './traits-of.ts';

const words = (traits: Traits) =>
  (['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'] as const)
    .map((effort) => traits.reasoning.words[effort] ?? '-')
    .join(' ');

const of = (vendor: VendorId, model: string) => traitsOf(configOf(vendor), model);

describe('the words for an effort', () => {
  test.each<readonly [VendorId, string, Traits['reasoning']['control'], string]>([
    ['openai', 'o3', 'effort', 'low low low medium high high high'],
    ['openai', 'o4-mini-2025-04-16', 'effort', 'low low low medium high high high'],
    ['openai', 'gpt-5', 'effort', 'minimal minimal low medium high high high'],
    ['openai', 'gpt-5-mini', 'effort', 'minimal minimal low medium high high high'],
    ['azure', 'gpt-5.1', 'effort', 'none low low medium high high high'],
    ['openai', 'gpt-5.2-2025-12-11', 'effort', 'none low low medium high xhigh xhigh'],
    ['openai', 'gpt-5.6', 'effort', 'none low low medium high xhigh max'],
    ['openai', 'gpt-6-luna', 'effort', 'none low low medium high xhigh max'],
    ['openai', 'gpt-6-astra', 'effort', 'low low low medium high xhigh max'],
    ['openai', 'gpt-6.1-sol', 'effort', 'low low low medium high xhigh max'],
    ['openai', 'gpt-6.1-terra', 'effort', 'none low low medium high xhigh max'],
    ['openai', 'gpt-4.1', 'none', '- - - - - - -'],
    ['openai', 'gpt-4o-mini', 'none', '- - - - - - -'],
    ['openai', 'gpt-5-chat-latest', 'none', '- - - - - - -'],
    ['openai', 'of-tomorrow', 'effort', 'none minimal low medium high xhigh max'],
    ['anthropic', 'claude-opus-4-7', 'adaptive', 'low low low medium high xhigh max'],
    ['anthropic', 'claude-opus-4-6', 'adaptive', 'low low low medium high high max'],
    ['anthropic', 'claude-sonnet-5', 'adaptive', 'low low low medium high xhigh max'],
    ['anthropic', 'claude-opus-4-5', 'budget', 'low low low medium high high high'],
    ['anthropic', 'claude-sonnet-4-5-20250929', 'budget', '- - - - - - -'],
    ['anthropic', 'claude-sonnet-4-20250514', 'budget', '- - - - - - -'],
    ['anthropic', 'claude-3-7-sonnet-20250219', 'budget', '- - - - - - -'],
    ['anthropic', 'claude-3-5-haiku-20241022', 'none', '- - - - - - -'],
    ['bedrock', 'eu.anthropic.claude-opus-4-7-v1:0', 'adaptive', 'low low low medium high xhigh max'],
    ['vertex', 'claude-opus-4@20250514', 'budget', '- - - - - - -'],
    ['gemini', 'gemini-2.5-flash', 'budget', '- - - - - - -'],
    ['gemini', 'gemini-3.1-flash', 'level', 'MINIMAL MINIMAL LOW MEDIUM HIGH HIGH HIGH'],
    ['vertex', 'gemini-3.1-pro-preview', 'level', 'LOW LOW LOW MEDIUM HIGH HIGH HIGH'],
    ['gemini', 'gemini-3-pro-preview', 'level', 'LOW LOW LOW HIGH HIGH HIGH HIGH'],
    ['gemini', 'gemini-4-hydrogen', 'level', 'LOW LOW LOW MEDIUM HIGH XHIGH XHIGH'],
    ['gemini', 'gemini-2.0-flash', 'none', '- - - - - - -'],
    ['mistral', 'mistral-large-4', 'effort', 'low low low medium high high high'],
    ['mistral', 'mistral-small-latest', 'none', '- - - - - - -'],
    ['scaleway', 'mistral-medium-3.5', 'effort', 'none high high high high high high'],
    ['deepseek', 'deepseek-v4', 'effort', 'none low low high high high high'],
    ['groq', 'openai/gpt-oss-20b', 'effort', 'low low low medium high high high'],
    ['groq', 'qwen/qwen3-32b', 'effort', 'none default default default default default default'],
    ['xai', 'grok-3-mini', 'effort', '- low low - high high high'],
    ['xai', 'grok-4.20-reasoning', 'none', '- - - - - - -'],
    ['bedrock', 'amazon.nova-2-lite-v1:0', 'effort', 'low low low medium high high high'],
    ['bedrock', 'amazon.nova-pro-v1:0', 'none', '- - - - - - -'],
    ['custom', 'llama3', 'none', '- - - - - - -'],
  ])('%s %s', (vendor, model, control, expected) => {
    const traits = of(vendor, model);
    expect([traits.reasoning.control, words(traits)]).toEqual([control, expected]);
  });
});

test.each([
  ['amazon.nova-2-lite-v1:0', 'reasoningConfig'],
  ['openai.gpt-5.4', 'reasoning.effort'],
  ['openai.gpt-oss-120b-1:0', undefined],
])('%s on Bedrock is told its effort in %s', (model, field) => {
  const { reasoning } = of('bedrock', model);
  expect([reasoning.control, reasoning.field]).toEqual(['effort', field]);
});

describe('what Claude takes', () => {
  const CLAUDE: readonly (readonly [string, Partial<Traits>])[] = [
    [
      'claude-3-haiku-20240307',
      { sampling: 'free', maxOutputTokens: 4096, prefill: true, json: 'tool', documents: false },
    ],
    ['claude-3-5-sonnet-20241022', { sampling: 'free', maxOutputTokens: 8192, prefill: true, documents: true }],
    ['claude-3-7-sonnet', { maxOutputTokens: 64_000, prefill: true, json: 'tool' }],
    ['claude-opus-4-20250514', { sampling: 'either', maxOutputTokens: 32_000, json: 'tool', prefill: true }],
    ['claude-opus-4-1', { sampling: 'either', maxOutputTokens: 32_000, json: 'tool' }],
    ['claude-opus-4-1-20250805', { sampling: 'either', maxOutputTokens: 32_000, json: 'tool' }],
    ['claude-sonnet-4-20250514', { sampling: 'either', maxOutputTokens: 64_000, prefill: true }],
    [
      'claude-haiku-4-5',
      { sampling: 'either', maxOutputTokens: 64_000, json: 'schema', prefill: true, midSystem: false },
    ],
    ['claude-opus-4-6', { sampling: 'either', maxOutputTokens: 128_000, prefill: false, forcedTools: true }],
    ['claude-opus-4-7', { sampling: 'fixed', midSystem: false, forcedTools: true }],
    ['claude-opus-4-8', { sampling: 'fixed', midSystem: true }],
    ['claude-opus-5', { sampling: 'fixed', midSystem: true, forcedTools: true }],
    ['claude-opus-5-5', { sampling: 'fixed', midSystem: true, forcedTools: false }],
    ['claude-sonnet-5', { sampling: 'fixed', midSystem: false, forcedTools: true }],
    ['claude-sonnet-5-5', { midSystem: true, forcedTools: false }],
    ['claude-haiku-5-5', { sampling: 'fixed', midSystem: false, forcedTools: true }],
    ['claude-fable-5', { sampling: 'fixed', midSystem: true, forcedTools: true }],
    ['claude-fable-5-1', { midSystem: true, forcedTools: false }],
    ['claude-fable-5-2', { midSystem: false, forcedTools: false }],
    ['claude-mythos-5', { sampling: 'fixed', midSystem: true }],
  ];

  test.each(CLAUDE)('%s', (model, expected) => {
    for (const [vendor, id] of [
      ['anthropic', model],
      ['vertex', model.replace(/-(20\d{6})$/, '@$1')],
      ['bedrock', `eu.anthropic.${model}-v1:0`],
    ] as const) {
      const { forcedTools, ...rest } = expected;
      const own =
        vendor === 'bedrock' && model.startsWith('claude-sonnet-5') ? { forcedTools: false } : { forcedTools };
      const traits = of(vendor, id);
      expect(traits, id).toMatchObject({
        ...rest,
        ...(forcedTools === undefined ? {} : own),
        claude: true,
        maxTemperature: 1,
      });
      expect(traits.remoteMedia).toBe(vendor === 'anthropic');
    }
  });

  test.each([
    ['claude-opus-5-5', false],
    ['claude-sonnet-5-5', false],
    ['claude-fable-5', false],
    ['claude-opus-5', true],
    ['claude-sonnet-5', true],
    ['claude-opus-4-7', true],
    ['claude-sonnet-4-5', true],
  ])('%s: thinking can be switched off: %s', (model, canDisable) => {
    expect(of('anthropic', model).reasoning.canDisable).toBe(canDisable);
  });

  test('an hour of cache came to Bedrock with 4.5', () => {
    expect(of('bedrock', 'anthropic.claude-sonnet-4-20250514-v1:0').cacheMarks).toBe('five-minutes');
    expect(of('bedrock', 'eu.anthropic.claude-sonnet-4-5-20250929-v1:0').cacheMarks).toBe('hour');
    expect(of('anthropic', 'claude-sonnet-4-20250514').cacheMarks).toBe('hour');
    expect(of('bedrock', 'amazon.nova-lite-v1:0').cacheMarks).toBe('five-minutes');
    expect(of('bedrock', 'meta.llama3-3-70b-instruct-v1:0').cacheMarks).toBe('none');
  });
});

describe('what else the catalogue says', () => {
  test.each<readonly [VendorId, string, Partial<Traits>]>([
    ['openai', 'gpt-5.6', { chat: 'without-tools', sampling: 'quiet' }],
    ['openai', 'gpt-5-codex', { chat: 'nothing' }],
    ['openai', 'gpt-5.1-codex-max', { chat: 'nothing' }],
    ['openai', 'gpt-5.2-pro', { chat: 'nothing' }],
    ['openai', 'o3-deep-research', { chat: 'nothing' }],
    ['openai', 'o1-pro', { chat: 'nothing' }],
    ['openai', 'codex-mini-latest', { chat: 'nothing' }],
    [
      'openai',
      'gpt-5',
      { sampling: 'fixed', systemRole: 'developer', ceilingName: 'max_completion_tokens', maxStops: 0 },
    ],
    ['openai', 'gpt-4o', { sampling: 'free', systemRole: 'system', vision: true, maxStops: 4 }],
    ['openai', 'gpt-4', { vision: false }],
    ['openai', 'gpt-4-turbo', { vision: true }],
    ['openai', 'gpt-3.5-turbo', { vision: false }],
    ['bedrock', 'openai.gpt-oss-120b-1:0', { maxStops: 0, vision: false, remoteMedia: false }],
    ['gemini', 'gemini-2.5-pro', { audio: true, documents: true, remoteMedia: false, maxStops: 5 }],
    ['mistral', 'pixtral-large-latest', { vision: true, toolIds: 'nine', ceilingName: 'max_tokens' }],
    ['mistral', 'codestral-latest', { vision: false, toolIds: 'nine' }],
    ['mistral', 'voxtral-small', { audio: true }],
    ['bedrock', 'mistral.mistral-large-2407-v1:0', { toolIds: 'nine', remoteMedia: false }],
    ['deepseek', 'deepseek-v4', { json: 'object', vision: false }],
    ['nebius', 'zai-org/GLM-4.6', { flatText: true }],
  ])('%s %s', (vendor, model, expected) => {
    expect(of(vendor, model)).toMatchObject(expected);
  });

  test('only some models exist on one path', () => {
    for (const model of ['gpt-5', 'gpt-4o', 'o3', 'gpt-5-mini', 'gpt-4o-mini', 'promo-5', 'gpt-5.5']) {
      expect(of('openai', model).chat, model).toBeUndefined();
    }
  });

  test("Gemini 2.5's budgets are what each takes", () => {
    expect(of('gemini', 'gemini-2.5-pro').reasoning).toMatchObject({
      canDisable: false,
      budget: { least: 128, most: 32_768 },
    });
    expect(of('gemini', 'gemini-2.5-flash-lite').reasoning).toMatchObject({
      canDisable: true,
      budget: { least: 0, most: 24_576 },
    });
  });

  test("what one of Google's addresses takes and the other does not", () => {
    expect([...of('gemini', 'gemini-2.5-flash').rejects]).toEqual(['presencePenalty', 'frequencyPenalty']);
    expect([...of('vertex', 'gemini-2.5-flash').rejects]).toEqual(['serviceTier']);
    expect([...of('gemini', 'gemini-3.1-flash').rejects]).toEqual([]);
  });

  test('Converse takes no temperature above 1', () => {
    for (const model of [
      'meta.llama3-3-70b-instruct-v1:0',
      'mistral.mistral-large-2407-v1:0',
      'openai.gpt-oss-20b-1:0',
    ]) {
      expect(of('bedrock', model).maxTemperature, model).toBe(1);
    }
  });

  test('a model that nobody knows', () => {
    // A server of one's own gets cache directives and tools as they are. // spec 4.3.2
    expect(of('custom', 'acme-7')).toEqual({ ...UNKNOWN_MODEL, cacheMarks: 'as-written', customTools: true });
  });

  test('what refuses members adds up', () => {
    const { rejects } = traitsOf(configOf('openai', { models: [{ id: 'gpt-5', rejects: ['user'] }] }), 'gpt-5');
    expect([...rejects]).toEqual(expect.arrayContaining(['user', 'logit_bias', 'prompt_cache_options']));
    expect(of('openai', 'gpt-6-sol').rejects.has('prompt_cache_retention')).toBe(true);
    expect(of('openai', 'gpt-6-sol').rejects.has('prompt_cache_options')).toBe(false);
    expect(of('openai', 'gpt-5.6').rejects.has('prompt_cache_options')).toBe(false);
    expect(of('openai', 'gpt-4.1').rejects.has('prompt_cache_options')).toBe(true);
  });
});

describe('what the configuration says of a model', () => {
  const traits = (model: Partial<ModelConfig>, over: Parameters<typeof configOf>[1] = {}) =>
    traitsOf(configOf('custom', { ...over, models: [{ id: 'm', ...model }] }), 'm');

  test('holds over what the catalogue says', () => {
    expect(traits({ vision: false, maxOutputTokens: 5, upstreamId: 'gpt-4o' })).toMatchObject({
      vision: false,
      maxOutputTokens: 5,
    });
    expect(traits({}, { nativeFiles: true }).documents).toBe(true);
    expect(traits({ upstreamId: 'gemini-2.5-pro' }, { nativeFiles: false }).documents).toBe(false);
    expect(traits({}, { promptCache: 'explicit_markers' }).cacheMarks).toBe('five-minutes');
    expect(traits({ upstreamId: 'claude-opus-5' }, { promptCache: 'explicit_markers' }).cacheMarks).toBe('hour');
    expect(traits({ upstreamId: 'claude-opus-5' }, { promptCache: 'none' }).cacheMarks).toBe('none');
  });

  test("the provider's own name for a model tells what it is", () => {
    expect(
      traits({ upstreamId: 'arn:aws:bedrock:eu-central-1:1:inference-profile/eu.anthropic.claude-opus-4-7' }).claude,
    ).toBe(true);
  });

  test.each([
    ['none', 'none', '- - - - - - -'],
    ['effort', 'effort', 'low low low medium high high high'],
    ['adaptive_thinking', 'adaptive', 'low low low medium high high high'],
    ['thinking_level', 'level', 'MINIMAL MINIMAL LOW MEDIUM HIGH HIGH HIGH'],
    ['thinking_budget', 'budget', '- - - - - - -'],
  ] as const)('reasoning: %s', (reasoning, control, expected) => {
    const found = traits({ reasoning });
    expect([found.reasoning.control, words(found)]).toEqual([control, expected]);
    expect(found.reasoning.budget === undefined).toBe(control !== 'budget');
  });
});

test('what is known of a model is found out once, and of few models at a time', () => {
  const config = configOf('openai');
  const first = traitsOf(config, 'gpt-5');
  expect(traitsOf(config, 'gpt-5')).toBe(first);
  for (let index = 0; index < 600; index++) traitsOf(config, `gpt-4-${index}`);
  expect(traitsOf(config, 'gpt-5')).not.toBe(first);
  expect(traitsOf(config, 'gpt-5')).toEqual(first);
});
