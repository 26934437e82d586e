import type { ConverseRequest } from '@aws-sdk/client-bedrock-runtime';
import type { OnTheWire } from '../../../../test/harness/wire-type.ts';
import type { CacheMark, ModelRequest, Part, Turn } from '../../hub/canonical.ts';
import { UNKNOWN_MODEL, type Traits } from '../../hub/traits.ts';
import { converseUpstream } from '../codec.ts';

export type Body = Omit<OnTheWire<ConverseRequest>, 'modelId'>;

export const CLAUDE: Traits = {
  ...UNKNOWN_MODEL,
  claude: true,
  documents: true,
  audio: false,
  maxTemperature: 1,
  maxOutputTokens: 64_000,
  cacheMarks: 'hour',
  prefill: false,
  reasoning: { control: 'adaptive', words: { high: 'high' }, canDisable: true },
};

export const NOVA: Traits = {
  ...UNKNOWN_MODEL,
  json: 'none',
  reasoning: {
    control: 'effort',
    field: 'reasoningConfig',
    words: { none: 'low', low: 'low', high: 'high' },
    canDisable: true,
  },
};

export const said = (...parts: readonly Part[]): Turn => ({ role: 'user', parts });
export const answered = (...parts: readonly Part[]): Turn => ({ role: 'assistant', parts });

export const text = (words: string, cache?: CacheMark): Part => ({
  type: 'text',
  text: words,
  ...(cache ? { cache } : {}),
});

export const call = (id: string, argumentsJson = '{}'): Part => ({ type: 'tool-call', id, name: 'f', argumentsJson });

export const result = (id: string, ...parts: readonly Part[]): Part => ({
  type: 'tool-result',
  id,
  parts,
  isError: false,
});

export function encode(
  request: Partial<ModelRequest>,
  traits: Traits = CLAUDE,
): { body: Body; losses: readonly string[] } {
  const losses: string[] = [];
  const base: ModelRequest = { model: 'm', stream: true, system: [], turns: [said(text('hi'))], tools: [], stop: [] };
  const body = converseUpstream.encodeRequest({ ...base, ...request }, traits, (what) => losses.push(what));
  return { body, losses };
}
