import { describe, expect, test } from 'vitest';
import type { ProviderConfig } from '#/config/snapshot.ts';
import type { VendorId } from '#/vendors/list.ts';
import { traitsOf } from '../catalogue/traits-of.ts';
import { promptCacheRule, type PromptCacheRule } from './cache.ts';
import { configOf } from '../testing/config.ts';

const rule = (
  vendor: VendorId,
  model: string,
  promptCache: boolean,
  over: Partial<Omit<ProviderConfig, 'models'>> = {},
): string => {
  const config = configOf(vendor, over);
  const context = { model, stream: false, includeUsage: false, promptCache, organizationCacheKey: 'org' };
  const { markers, key, options }: PromptCacheRule = promptCacheRule(config, traitsOf(config, model), context);
  return `${markers} ${key} ${options ? 'options' : '-'}`;
};

describe('the table of spec 4.3.2, with the opt-in and without', () => {
  test.each<readonly [VendorId, string, string, string]>([
    ['anthropic', 'claude-opus-5', 'explicit strip -', 'none strip -'],
    ['bedrock', 'eu.anthropic.claude-opus-5', 'explicit strip -', 'none strip -'],
    ['bedrock', 'amazon.nova-pro-v1:0', 'explicit strip -', 'none strip -'],
    ['bedrock', 'meta.llama3-3-70b-instruct-v1:0', 'none strip -', 'none strip -'],
    ['openai', 'gpt-5', 'breakpoints forward options', 'none strip -'],
    ['azure', 'gpt-5', 'breakpoints forward options', 'none strip -'],
    ['gemini', 'gemini-2.5-pro', 'none strip -', 'none strip -'],
    ['vertex', 'gemini-2.5-pro', 'none strip -', 'none strip -'],
    ['vertex', 'claude-opus-5', 'explicit strip -', 'none strip -'],
    ['mistral', 'mistral-large-4', 'none strip -', 'none strip -'],
    ['deepseek', 'deepseek-v4', 'none strip -', 'none strip -'],
    ['xai', 'grok-4', 'none strip -', 'none strip -'],
    ['groq', 'openai/gpt-oss-120b', 'none strip -', 'none strip -'],
    ['together', 'm', 'none strip -', 'none strip -'],
    ['fireworks', 'm', 'none strip -', 'none strip -'],
    ['cerebras', 'm', 'none strip -', 'none strip -'],
    ['scaleway', 'm', 'none strip -', 'none strip -'],
    ['ovhcloud', 'm', 'none strip -', 'none strip -'],
    ['ionos', 'm', 'none strip -', 'none strip -'],
    ['nebius', 'm', 'none strip -', 'none strip -'],
    ['custom', 'm', 'all forward options', 'all forward options'],
  ])('%s %s', (vendor, model, on, off) => {
    expect([rule(vendor, model, true), rule(vendor, model, false)]).toEqual([on, off]);
  });

  test("on a managed account the key is always the organization's, where caches go by key", () => {
    const managed = { keyOwnership: 'managed' } as const;
    expect(rule('openai', 'gpt-5', true, managed)).toBe('breakpoints own options');
    expect(rule('azure', 'gpt-5', false, managed)).toBe('none own -');
    expect(rule('fireworks', 'm', true, managed)).toBe('none strip -');
  });

  test('the configuration says otherwise', () => {
    expect(rule('nebius', 'm', false, { promptCache: 'passthrough' })).toBe('all forward options');
    expect(rule('custom', 'm', true, { promptCache: 'explicit_markers' })).toBe('explicit strip -');
    expect(rule('custom', 'm', true, { promptCache: 'none' })).toBe('none strip -');
    expect(rule('anthropic', 'claude-opus-5', true, { promptCache: 'none' })).toBe('none strip -');
  });
});
