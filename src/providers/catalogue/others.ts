import { effortWords } from '#/vendors/efforts.ts';
import type { Row } from './row.ts';

/** Models of all other vendors, mostly open ones on many hosts. // wire-formats 1.5, 2.3, 2.6 */
export const OTHER_ROWS: readonly Row[] = [
  { match: /deepseek/, traits: { vision: false, audio: false } },
  {
    vendors: ['deepseek'],
    match: /^deepseek/,
    traits: {
      reasoning: {
        control: 'effort',
        // Its provider tells `none` in a member of its own.
        words: { none: 'none', minimal: 'low', low: 'low', medium: 'high', high: 'high', xhigh: 'high', max: 'high' },
        canDisable: true,
      },
    },
  },
  {
    vendors: ['groq'],
    match: /(?:^|\/)qwen/,
    traits: {
      reasoning: {
        control: 'effort',
        words: {
          none: 'none',
          minimal: 'default',
          low: 'default',
          medium: 'default',
          high: 'default',
          xhigh: 'default',
          max: 'default',
        },
        canDisable: true,
      },
      adds: { reasoning_format: 'parsed' },
    },
  },
  {
    vendors: ['xai'],
    match: /^grok-3-mini/,
    traits: {
      reasoning: {
        control: 'effort',
        words: { minimal: 'low', low: 'low', high: 'high', xhigh: 'high', max: 'high' },
        canDisable: false,
      },
    },
  },
  {
    vendors: ['xai'],
    match: /^grok-(?:3-mini|code|[4-9](?!.{0,40}non-reasoning))/,
    traits: { maxStops: 0, rejects: new Set(['presence_penalty', 'frequency_penalty']) },
  },
  { match: /(?:^|[/-])glm-/, traits: { flatText: true, audio: false } },
  { match: /(?:^|[./])llama-?3(?:\.[13])?-/, traits: { vision: false, audio: false } },
  { match: /(?:^|[./])(?:meta-)?llama/, traits: { audio: false, documents: false } },
  {
    match: /(?:^|\.)amazon\.nova/,
    traits: {
      documents: true,
      audio: false,
      maxTemperature: 1,
      cacheMarks: 'five-minutes',
      json: 'tool',
    },
  },
  { match: /amazon\.nova-micro/, traits: { vision: false, documents: false } },
  {
    match: /amazon\.nova-2/,
    traits: {
      reasoning: {
        control: 'effort',
        field: 'reasoningConfig',
        words: effortWords(['low', 'medium', 'high']),
        canDisable: true,
      },
    },
  },
];
