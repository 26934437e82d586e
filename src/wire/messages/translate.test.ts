import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { ModelRequest, Part, Turn } from '../hub/canonical.ts';
import { isObject, type Json, type JsonObject } from '../document/json.ts';
import { UNKNOWN_MODEL, type Traits } from '../hub/traits.ts';
import { stringOf } from './decode-answer.ts';
import { CLAUDE, BUDGET, said, answered, text, marked, BASE, encode, decode, words } from './testing/requests.ts';

describe('settings of a request written', () => {
  test.each([
    [{ effort: 'high' }, CLAUDE, { type: 'adaptive', display: 'summarized' }, { effort: 'high' }, []],
    [{ effort: 'none' }, CLAUDE, { type: 'disabled' }, undefined, []],
    [{ effort: 'max' }, CLAUDE, undefined, undefined, ['reasoning_effort']],
    [
      { effort: 'none' },
      { ...CLAUDE, reasoning: { ...CLAUDE.reasoning, canDisable: false } },
      { type: 'adaptive', display: 'summarized' },
      { effort: 'low' },
      [],
    ],
    [{ effort: 'high' }, BUDGET, { type: 'enabled', budget_tokens: 38_400 }, undefined, []],
    [{ effort: 'low', budget: 2000 }, BUDGET, { type: 'enabled', budget_tokens: 2000 }, undefined, []],
    [{ effort: 'minimal' }, BUDGET, { type: 'enabled', budget_tokens: 1024 }, undefined, []],
    [{ effort: 'medium' }, BUDGET, undefined, undefined, ['reasoning_effort']],
    [{ effort: 'none' }, BUDGET, { type: 'disabled' }, undefined, []],
    [{ effort: 'high' }, UNKNOWN_MODEL, undefined, undefined, ['reasoning_effort']],
    [{ effort: 'none' }, UNKNOWN_MODEL, undefined, undefined, []],
    [
      { effort: 'high' },
      { ...CLAUDE, reasoning: { ...CLAUDE.reasoning, control: 'effort' } },
      undefined,
      { effort: 'high' },
      [],
    ],
  ] satisfies readonly [
    NonNullable<ModelRequest['reasoning']>,
    Traits,
    JsonObject | undefined,
    JsonObject | undefined,
    readonly string[],
  ][])('thinking: %j', (reasoning, traits, thinking, config, expected) => {
    const { body, losses } = encode({ reasoning }, traits);
    expect(body['thinking']).toEqual(thinking);
    expect(body['output_config']).toEqual(config);
    expect(losses).toEqual(expected);
  });

  test('a budget leaves something of the answer, or is not given', () => {
    const within = (maxOutputTokens: number) =>
      encode({ maxOutputTokens, reasoning: { effort: 'high', budget: 5000 } }, BUDGET);
    expect(within(2000).body['thinking']).toEqual({ type: 'enabled', budget_tokens: 1999 });
    expect(within(1025).body['thinking']).toEqual({ type: 'enabled', budget_tokens: 1024 });
    expect(within(1024)).toMatchObject({ losses: ['reasoning_effort'] });
    expect(within(1024).body['thinking']).toBeUndefined();
  });

  test('a model that is given a budget is told the effort too where it knows the word', () => {
    const both = { ...BUDGET, reasoning: { ...BUDGET.reasoning, words: { high: 'high' } } };
    const { body } = encode({ reasoning: { effort: 'high' } }, both);
    expect(body['thinking']).toMatchObject({ type: 'enabled' });
    expect(body['output_config']).toEqual({ effort: 'high' });
  });

  test('a model with a budget thinks on behind a call only with the proof of what led to it', () => {
    const thoughts = (...first: Part[]): unknown => {
      const call: Part = { type: 'tool-call', id: 'c', name: 'f', argumentsJson: '{}' };
      const turns: Turn[] = [
        said(text('a')),
        answered(...first, call),
        said({ type: 'tool-result', id: 'c', parts: [text('r')], isError: false }),
      ];
      const request: Partial<ModelRequest> = { turns, tools: [{ name: 'f' }], reasoning: { effort: 'high' } };
      const { body, losses } = encode(request, BUDGET);
      expect(losses.includes('reasoning_effort')).toBe(body['thinking'] === undefined);
      expect(encode(request, CLAUDE).body['thinking']).toMatchObject({ type: 'adaptive' });
      return body['thinking'] !== undefined;
    };
    const proof = { family: 'messages', value: 'c2ln' } as const;
    expect(thoughts()).toBe(false);
    expect(thoughts({ type: 'reasoning', text: 'hm' })).toBe(false);
    expect(thoughts({ type: 'reasoning', text: 'hm', proof: { ...proof, family: 'gemini' } })).toBe(false);
    expect(thoughts({ type: 'reasoning', text: 'hm', proof })).toBe(true);
    const value = { type: 'redacted_thinking', data: 'c2VhbGVk' };
    expect(thoughts({ type: 'opaque', family: 'messages', name: 'redacted_thinking', value })).toBe(true);
  });

  test('what cannot be said of an image is named', () => {
    const image = { type: 'media', kind: 'image', mediaType: 'image/png', source: { data: 'AAAA' } } as const;
    const losses = (more: object) => encode({ turns: [said({ ...image, ...more })] }).losses;
    expect(losses({ detail: 'low' })).toEqual(['image_url.detail']);
    expect(losses({ name: 'a.png' })).toEqual(['file.filename']);
    expect(losses({ detail: 'auto' })).toEqual([]);
  });

  const choose = { tools: [{ name: 'f' }], toolChoice: { type: 'required' } } as const;
  test.each([
    [choose, CLAUDE, { type: 'any' }, []],
    [choose, { ...CLAUDE, forcedTools: false }, { type: 'auto' }, ['tool_choice']],
    [{ ...choose, reasoning: { effort: 'high' } }, BUDGET, { type: 'any' }, ['reasoning_effort']],
    [{ ...choose, reasoning: { effort: 'high' } }, CLAUDE, { type: 'any' }, ['reasoning_effort']],
    [{ ...choose, reasoning: { effort: 'none' } }, CLAUDE, { type: 'any' }, []],
    [
      { ...choose, reasoning: { effort: 'high' } },
      { ...CLAUDE, forcedTools: false },
      { type: 'auto' },
      ['tool_choice'],
    ],
    [{ tools: [{ name: 'f' }], toolChoice: { type: 'none' }, parallelTools: false }, CLAUDE, { type: 'none' }, []],
    [{ tools: [{ name: 'f' }], parallelTools: false }, CLAUDE, { type: 'auto', disable_parallel_tool_use: true }, []],
    [{ tools: [{ name: 'f' }] }, CLAUDE, undefined, []],
    [{ toolChoice: { type: 'auto' } }, CLAUDE, undefined, []],
    [choose, { ...CLAUDE, tools: false }, undefined, ['tools']],
  ] satisfies readonly [Partial<ModelRequest>, Traits, JsonObject | undefined, readonly string[]][])(
    'tool choice: %j',
    (request, traits, choice, expected) => {
      const { body, losses } = encode(request, traits);
      expect(body['tool_choice']).toEqual(choice);
      expect(losses).toEqual(expected);
    },
  );

  test.each([
    [{ temperature: 0.3, topP: 0.5 }, CLAUDE, { temperature: 0.3, top_p: 0.5 }, []],
    [{ temperature: 0.3, topP: 0.5 }, BUDGET, { temperature: 0.3 }, ['top_p']],
    [{ temperature: 0.3, topK: 5, reasoning: { effort: 'high' } }, BUDGET, {}, ['temperature', 'top_k']],
    [{ temperature: 0.3, reasoning: { effort: 'high' } }, CLAUDE, {}, ['temperature']],
    [{ temperature: 0.3 }, { ...CLAUDE, sampling: 'fixed' }, {}, ['temperature']],
  ] satisfies readonly [Partial<ModelRequest>, Traits, JsonObject, readonly string[]][])(
    'sampling: %j',
    (request, traits, expected, expectedLosses) => {
      const { body, losses } = encode(request, traits);
      const { temperature, top_p, top_k } = body;
      expect(JSON.parse(JSON.stringify({ temperature, top_p, top_k }))).toEqual(expected);
      expect(losses).toEqual(expectedLosses);
    },
  );

  test('JSON is asked for in words where the model cannot be held to it', () => {
    const schema = { type: 'object', properties: { a: { type: 'string' } } };
    const asked = (format: ModelRequest['format'] & object, traits: Traits) => {
      const { body, losses } = encode({ format }, traits);
      const [block] = (body['system'] ?? []) as unknown as readonly [{ text: string }?];
      return { words: block?.text, config: body['output_config'], losses };
    };
    expect(asked({ type: 'json' }, CLAUDE)).toMatchObject({
      words: expect.stringContaining('JSON') as string,
      losses: [],
    });
    const told = asked({ type: 'json-schema', name: 'n', schema }, { ...CLAUDE, json: 'tool' });
    expect(told).toMatchObject({ config: undefined, losses: ['response_format'] });
    expect(told.words).toContain(JSON.stringify(schema));
  });

  test('the objects of a schema are closed, but not its values', () => {
    const schema = {
      type: 'object',
      properties: {
        type: { type: 'object' },
        enum: { enum: [{ type: 'object' }] },
        open: { type: 'object', additionalProperties: true },
      },
      items: [{ anyOf: [{ type: 'object' }] }],
    };
    const { body } = encode({ format: { type: 'json-schema', name: 'n', schema } });
    expect(body['output_config']).toEqual({
      format: {
        type: 'json_schema',
        schema: {
          type: 'object',
          properties: {
            type: { type: 'object', additionalProperties: false },
            enum: { enum: [{ type: 'object' }] },
            open: { type: 'object', additionalProperties: true },
          },
          items: [{ anyOf: [{ type: 'object', additionalProperties: false }] }],
          additionalProperties: false,
        },
      },
    });
  });
});

describe('cache markers', () => {
  function marks(request: Partial<ModelRequest>, traits: Traits) {
    const { body, losses } = encode(request, traits);
    const found: string[] = [];
    const visit = (value: Json | undefined): void => {
      if (Array.isArray(value)) (value as readonly Json[]).forEach(visit);
      else if (isObject(value)) {
        const { cache_control: mark } = value;
        if (isObject(mark))
          found.push(`${stringOf(value, 'text') || stringOf(value, 'name')} ${stringOf(mark, 'ttl') || '-'}`);
        for (const member of Object.values(value)) visit(member);
      }
    };
    visit([body['tools'] ?? null, body['system'] ?? null, body['messages'] ?? null]);
    return { found, losses };
  }
  const many: Partial<ModelRequest> = {
    tools: [{ name: 'f', cache: {} }],
    system: [{ type: 'text', text: 's', cache: {} }],
    turns: [said(marked('a'), marked('b')), answered(marked('c')), said(marked('d'))],
  };

  test('at most four: tools, instructions and the end of the conversation', () => {
    expect(marks(many, CLAUDE)).toEqual({ found: ['f -', 's -', 'c -', 'd -'], losses: ['cache_control'] });
  });

  test('none where the model honours none', () => {
    expect(marks(many, { ...CLAUDE, cacheMarks: 'none' })).toEqual({ found: [], losses: ['cache_control'] });
  });

  test('an hour only where it is known, and never behind five minutes', () => {
    const turns = [said(marked('a', '1h'), marked('b', '5m'), marked('c', '1h'))];
    expect(marks({ turns }, CLAUDE)).toEqual({ found: ['a 1h', 'b 5m', 'c -'], losses: ['cache_control.ttl'] });
    const short = marks({ turns }, { ...CLAUDE, cacheMarks: 'five-minutes' });
    expect(short.found).toEqual(['a -', 'b 5m', 'c -']);
    expect(new Set(short.losses)).toEqual(new Set(['cache_control.ttl']));
  });

  test('those within a result are said of the result', () => {
    const result: Part = { type: 'tool-result', id: 't', parts: [marked('in', '1h')], isError: false };
    const { body } = encode({ turns: [said(result)] });
    expect(body['messages']).toEqual([
      {
        role: 'user',
        content: [
          {
            type: 'tool_result',
            tool_use_id: 't',
            content: [{ type: 'text', text: 'in' }],
            cache_control: { type: 'ephemeral', ttl: '1h' },
          },
        ],
      },
    ]);
  });
});

const id = fc.stringMatching(/^[A-Za-z0-9_-]{1,20}$/);
const cache = fc.constantFrom({}, { cache: {} });

const media = fc.constantFrom<Part>(
  { type: 'media', kind: 'image', mediaType: 'image/png', source: { data: 'AAAA' } },
  { type: 'media', kind: 'document', mediaType: 'application/pdf', source: { data: 'BBBB' }, name: 'n' },
  { type: 'media', kind: 'document', mediaType: 'text/plain', source: { data: 'w6k=' } },
);

const plain = words.map(text);

const userPart = fc.oneof(
  fc.tuple(plain, cache).map(([part, mark]) => ({ ...part, ...mark })),
  media,
);

const assistantPart = fc.oneof(
  plain,
  fc.record({ text: fc.string(), value: words }).map(({ text: thought, value }): Part => {
    return { type: 'reasoning', text: thought, proof: { family: 'messages', value } };
  }),
  fc.record({ id, name: id }).map((call): Part => ({ type: 'tool-call', ...call, argumentsJson: '{"a":[1]}' })),
);

const result = fc
  .record({
    id: id.map((some) => `r_${some}`),
    parts: fc.array(fc.oneof(plain, media), { maxLength: 2 }),
    isError: fc.boolean(),
  })
  .map((some): Part => ({ type: 'tool-result', ...some }));

const userTurn = fc
  .tuple(fc.array(result, { maxLength: 2 }), fc.array(userPart, { minLength: 1, maxLength: 3 }))
  .map(([results, parts]) => said(...results, ...parts));

const assistantTurn = fc.array(assistantPart, { minLength: 1, maxLength: 3 }).map((parts) => answered(...parts));

const turns = fc
  .tuple(fc.array(fc.tuple(userTurn, assistantTurn), { maxLength: 3 }), userTurn)
  .map(([pairs, last]) => [...pairs.flat(), last]);

test('any conversation that the family can express is read as it was written', () => {
  fc.assert(
    fc.property(turns, fc.array(words, { maxLength: 2 }), fc.boolean(), (conversation, system, stream) => {
      const limited = { n: 0 };
      const few = conversation.map((turn) => ({
        ...turn,
        parts: turn.parts.map((part) => {
          if (!('cache' in part) || ++limited.n <= 4) return part;
          const { cache: _mark, ...rest } = part;
          return rest;
        }),
      }));
      const request: ModelRequest = {
        ...BASE,
        stream,
        system: system.map((some) => ({ type: 'text', text: some })),
        turns: few,
        tools: [{ name: 'f', description: 'd', parameters: { type: 'object' } }],
        toolChoice: { type: 'tool', name: 'f' },
        parallelTools: false,
        maxOutputTokens: 10,
        topP: 0.5,
        stop: ['END'],
        user: 'u',
        serviceTier: 'default',
      };
      const { body, losses } = encode(request);
      expect(losses).toEqual([]);
      const names = new Map<string, string>();
      const named = (part: Part): Part => {
        if (part.type === 'tool-call') names.set(part.id, part.name);
        const name = part.type === 'tool-result' ? names.get(part.id) : undefined;
        return name === undefined ? part : ({ ...part, name } as Part);
      };
      const expected = { ...request, turns: few.map((turn) => ({ ...turn, parts: turn.parts.map(named) })) };
      const again = decode(body);
      expect(again.losses).toEqual([]);
      expect(again.request).toEqual(expected);
    }),
  );
});
