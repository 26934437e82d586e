import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { ModelRequest, Turn } from '../hub/canonical.ts';
import { UNKNOWN_MODEL, type Traits } from '../hub/traits.ts';
import { type Body, CLAUDE, NOVA, said, answered, text, call, result, encode } from './testing/requests.ts';

test('a whole request, as the vendor types it', () => {
  const schema = { type: 'object', properties: { a: { type: 'string' } } };
  const { body, losses } = encode({
    system: [{ type: 'text', text: 'be brief', cache: { ttl: '1h' } }],
    turns: [
      said({ type: 'media', kind: 'image', mediaType: 'image/jpeg', source: { data: 'AAAA' } }, text('look', {})),
      answered(
        { type: 'reasoning', text: 'hm', proof: { family: 'messages', value: 'c2ln' } },
        {
          type: 'opaque',
          family: 'messages',
          name: 'redacted_thinking',
          value: { type: 'redacted_thinking', data: 'AA==' },
        },
        call('toolu_1', '{"a":1}'),
      ),
      said({ type: 'tool-result', id: 'toolu_1', parts: [text('no')], isError: true }, text('well?')),
    ],
    tools: [{ name: 'f', description: 'does', parameters: schema, strict: true, cache: {} }],
    toolChoice: { type: 'auto' },
    parallelTools: false,
    maxOutputTokens: 100_000,
    temperature: 1.5,
    topK: 3,
    stop: ['END', ' '],
    format: { type: 'json-schema', name: 'n', schema },
    reasoning: { effort: 'high' },
    user: 'user-1',
    serviceTier: 'standard_only',
  });
  const expected = {
    system: [{ text: 'be brief' }, { cachePoint: { type: 'default', ttl: '1h' } }],
    messages: [
      {
        role: 'user',
        content: [
          { image: { format: 'jpeg', source: { bytes: 'AAAA' } } },
          { text: 'look' },
          { cachePoint: { type: 'default' } },
        ],
      },
      {
        role: 'assistant',
        content: [
          { reasoningContent: { reasoningText: { text: 'hm', signature: 'c2ln' } } },
          { reasoningContent: { redactedContent: 'AA==' } },
          { toolUse: { toolUseId: 'toolu_1', name: 'f', input: { a: 1 } } },
        ],
      },
      {
        role: 'user',
        content: [
          { toolResult: { toolUseId: 'toolu_1', content: [{ text: 'no' }], status: 'error' } },
          { text: 'well?' },
        ],
      },
    ],
    inferenceConfig: { maxTokens: 64_000, temperature: 1, stopSequences: ['END'] },
    toolConfig: {
      tools: [
        { toolSpec: { name: 'f', description: 'does', inputSchema: { json: schema }, strict: true } },
        { cachePoint: { type: 'default' } },
      ],
      toolChoice: { auto: {} },
    },
    outputConfig: {
      textFormat: {
        type: 'json_schema',
        structure: { jsonSchema: { schema: JSON.stringify({ ...schema, additionalProperties: false }), name: 'n' } },
      },
    },
    additionalModelRequestFields: {
      thinking: { type: 'adaptive', display: 'summarized' },
      output_config: { effort: 'high' },
      top_k: 3,
      tool_choice: { type: 'auto', disable_parallel_tool_use: true },
    },
    additionalModelResponseFieldPaths: ['/delta/stop_sequence'],
    requestMetadata: { user: 'user-1' },
    serviceTier: { type: 'default' },
  } satisfies Body;
  expect(body).toEqual(expected);
  expect(losses).toEqual(['temperature', 'stop']);
});

test('what has no place is named', () => {
  const { losses } = encode(
    {
      turns: [said(text('a', {})), answered({ type: 'reasoning', text: 'hm' }, text('b')), said(text('c'))],
      tools: [{ name: 'f', strict: true }],
      parallelTools: false,
      topK: 3,
      seed: 1,
      presencePenalty: 1,
      frequencyPenalty: 1,
      promptCacheKey: 'k',
      user: 'ada <a>',
      serviceTier: 'scale',
      format: { type: 'json-schema', name: 'n', schema: {} },
      reasoning: { effort: 'max' },
    },
    { ...UNKNOWN_MODEL, json: 'object' },
  );
  expect(losses.toSorted()).toEqual([
    'cache_control',
    'frequency_penalty',
    'parallel_tool_calls',
    'presence_penalty',
    'prompt_cache_key',
    'reasoning_effort',
    'response_format',
    'seed',
    'service_tier',
    'thinking',
    'tools.strict',
    'top_k',
    'user',
  ]);
});

describe('thinking', () => {
  const told = (request: Partial<ModelRequest>, traits: Traits) => {
    const { body, losses } = encode(request, traits);
    return [body.additionalModelRequestFields, losses];
  };
  const budget = (most: Partial<ModelRequest>) =>
    told(most, {
      ...CLAUDE,
      reasoning: {
        control: 'budget',
        words: {},
        budget: { shares: { low: 0.1, high: 0.6 }, least: 1024 },
        canDisable: true,
      },
    });

  test('in tokens leaves something of the ceiling, or is not asked for', () => {
    const enabled = (budget_tokens: number) => [{ thinking: { type: 'enabled', budget_tokens } }, []];
    expect(budget({ reasoning: { effort: 'high' }, maxOutputTokens: 10_000 })).toEqual(enabled(6000));
    expect(budget({ reasoning: { effort: 'low' }, maxOutputTokens: 2000 })).toEqual(enabled(1024));
    expect(budget({ reasoning: { effort: 'high', budget: 9000 }, maxOutputTokens: 8000 })).toEqual(enabled(7999));
    expect(budget({ reasoning: { effort: 'low' }, maxOutputTokens: 1024 })).toEqual([undefined, ['reasoning_effort']]);
    expect(budget({ reasoning: { effort: 'none' } })).toEqual([{ thinking: { type: 'disabled' } }, []]);
  });

  test('gives way to a tool that must be called', () => {
    const forced: Partial<ModelRequest> = {
      reasoning: { effort: 'high' },
      tools: [{ name: 'f' }],
      toolChoice: { type: 'required' },
    };
    expect(told(forced, CLAUDE)).toEqual([undefined, ['reasoning_effort']]);
    const { body, losses } = encode(forced, { ...CLAUDE, forcedTools: false });
    expect(body.additionalModelRequestFields).toMatchObject({ thinking: { type: 'adaptive' } });
    expect(body.toolConfig).not.toHaveProperty('toolChoice');
    expect(losses).toEqual(['tool_choice']);
  });

  test('is told to each vendor in its own words', () => {
    expect(told({ reasoning: { effort: 'none' } }, CLAUDE)).toEqual([{ thinking: { type: 'disabled' } }, []]);
    const gpt: Traits = {
      ...UNKNOWN_MODEL,
      reasoning: { control: 'effort', words: { low: 'low' }, canDisable: false },
    };
    expect(told({ reasoning: { effort: 'low' } }, gpt)).toEqual([{ reasoning_effort: 'low' }, []]);
    const nested: Traits = { ...gpt, reasoning: { ...gpt.reasoning, field: 'reasoning.effort' } };
    expect(told({ reasoning: { effort: 'low' } }, nested)).toEqual([{ reasoning: { effort: 'low' } }, []]);
    expect(told({ reasoning: { effort: 'none' } }, NOVA)).toEqual([{ reasoningConfig: { type: 'disabled' } }, []]);
  });

  test('of the hardest kind takes no ceiling and no sampling beside it on Nova', () => {
    const ask = { maxOutputTokens: 9, temperature: 0.5, stop: ['x'] };
    const high = encode({ ...ask, reasoning: { effort: 'high' } }, NOVA);
    expect(high.body.inferenceConfig).toEqual({ stopSequences: ['x'] });
    expect(high.losses.toSorted()).toEqual(['max_tokens', 'temperature']);
    const low = encode({ ...ask, reasoning: { effort: 'low' }, topK: 4 }, NOVA).body;
    expect(low.inferenceConfig).toEqual({ maxTokens: 9, temperature: 0.5, stopSequences: ['x'] });
    expect(low.additionalModelRequestFields).toEqual({
      reasoningConfig: { type: 'enabled', maxReasoningEffort: 'low' },
      inferenceConfig: { topK: 4 },
    });
  });
});

describe('tools', () => {
  const tools = [{ name: 'f' }];
  const history = [said(text('a')), answered(call('1')), said(result('1', text('r')))];

  test('are kept when the history speaks of them, whatever the choice', () => {
    const none = { type: 'none' } as const;
    expect(encode({ tools, toolChoice: none }).body).not.toHaveProperty('toolConfig');
    const kept = encode({ tools, toolChoice: none, turns: history });
    expect(kept.body.toolConfig).toEqual({
      tools: [{ toolSpec: { name: 'f', inputSchema: { json: { type: 'object', properties: {} } } } }],
    });
    expect(kept.losses).toEqual(['tool_choice']);
    expect(encode({ turns: history }).body.toolConfig?.tools).toHaveLength(1);
    expect(encode({}).body).not.toHaveProperty('toolConfig');
  });

  test('their calls and results keep each other under the ids that a model takes', () => {
    const odd = [said(text('a')), answered(call('ft:1/ä')), said(result('ft:1/ä'))];
    for (const traits of [CLAUDE, { ...CLAUDE, toolIds: 'nine' as const }]) {
      const { messages = [] } = encode({ turns: odd }, traits).body;
      const id = messages[1]?.content?.[0]?.toolUse?.toolUseId;
      expect(id).toMatch(traits.toolIds === 'nine' ? /^[A-Za-z0-9]{9}$/ : /^[A-Za-z0-9_-]{1,64}$/);
      expect(messages[2]?.content).toEqual([{ toolResult: { toolUseId: id, content: [{ text: '(no output)' }] } }]);
    }
  });

  test('one of them can be forced', () => {
    const choice = (toolChoice: NonNullable<ModelRequest['toolChoice']>) =>
      encode({ tools, toolChoice }).body.toolConfig?.toolChoice;
    expect(choice({ type: 'required' })).toEqual({ any: {} });
    expect(choice({ type: 'tool', name: 'f' })).toEqual({ tool: { name: 'f' } });
    const single = encode({ tools, toolChoice: { type: 'tool', name: 'f' }, parallelTools: false }).body;
    expect(single.additionalModelRequestFields).toEqual({
      tool_choice: { type: 'tool', name: 'f', disable_parallel_tool_use: true },
    });
  });
});

test('an answer that was begun goes on where the model can, and not while Claude thinks', () => {
  const turns = [said(text('a')), answered(text('b '))];
  const end = (traits: Traits, request: Partial<ModelRequest> = {}) =>
    encode({ ...request, turns }, traits).body.messages?.at(-1);
  const begun = { role: 'assistant', content: [{ text: 'b' }] };
  const gone = { role: 'user', content: [{ text: 'Continue.' }] };
  expect(end(NOVA)).toEqual(begun);
  expect(end(CLAUDE)).toEqual(gone);
  expect(end({ ...CLAUDE, prefill: true })).toEqual(begun);
  expect(end({ ...CLAUDE, prefill: true }, { reasoning: { effort: 'high' } })).toEqual(gone);
});

test('tools are lost on a model that knows none', () => {
  const { body, losses } = encode({ tools: [{ name: 'f' }] }, { ...NOVA, tools: false });
  expect([body.toolConfig, losses]).toEqual([undefined, ['tools']]);
});

describe('any conversation', () => {
  const words = fc.constantFrom('a', 'b', ' ', '', '\n', 'c ');
  const turn: fc.Arbitrary<readonly Turn[]> = fc.oneof(
    fc
      .record({
        role: fc.constantFrom('user' as const, 'assistant' as const, 'system' as const),
        parts: fc.array(
          fc.oneof(
            words.map((word) => text(word)),
            fc.record({ type: fc.constant('reasoning' as const), text: words }),
          ),
        ),
      })
      .map((one) => [one]),
    fc
      .tuple(fc.constantFrom('1', '2'), words)
      .map(([id, output]) => [answered(text('t'), call(id, '{"n":1.5}')), said(text('x'), result(id, text(output)))]),
  );

  test('alternates, begins with the user, has results first, no blank and loses no word', () => {
    fc.assert(
      fc.property(fc.array(turn, { minLength: 1, maxLength: 6 }), fc.constantFrom(CLAUDE, NOVA), (turns, traits) => {
        const flat = turns.flat();
        const { messages = [] } = encode({ turns: flat }, traits).body;
        expect(messages.map(({ role }) => role)).toEqual(
          messages.map((_message, index) => (index % 2 === 0 ? 'user' : 'assistant')),
        );
        if (!traits.prefill) expect(messages.at(-1)?.role).toBe('user');
        const blocks = messages.flatMap(({ content = [] }) => content);
        for (const { content = [] } of messages) {
          expect(content).not.toHaveLength(0);
          const results = content.map((block) => block.toolResult !== undefined);
          expect(results).toEqual(results.toSorted((a, b) => Number(b) - Number(a)));
        }
        const sent = blocks.flatMap(({ text: one }) => (one === undefined || one === 'Continue.' ? [] : [one.trim()]));
        const meant = flat
          .flatMap(({ parts }) => parts)
          .flatMap((part) => (part.type === 'text' ? [part.text.trim()] : []));
        expect(sent.toSorted()).toEqual(meant.filter((one) => one !== '').toSorted());
        const calls = blocks.flatMap(({ toolUse }) => (toolUse ? [toolUse.toolUseId] : []));
        const results = blocks.flatMap(({ toolResult }) => (toolResult ? [toolResult.toolUseId] : []));
        expect(results).toEqual(calls);
        for (const { toolResult } of blocks) {
          for (const { text: one } of toolResult?.content ?? []) expect(one?.trim()).not.toBe('');
        }
      }),
    );
  });
});
