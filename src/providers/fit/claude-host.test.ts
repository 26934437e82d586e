import { afterAll, describe, expect, it } from 'vitest';
import type { Provider } from '#/ports/provider.ts';
import { BadRequestShape } from '#/wire/hub/codec.ts';
import { BEDROCK_CLAUDE, betasFor, VERTEX_CLAUDE, withMembers } from '../catalogue/claude-hosts.ts';
import { createProviders } from '../registry.ts';
import { fitTo, type Fitted } from '../testing/asking.ts';
import { configOf } from '../testing/config.ts';
import { createTransport } from '../http/transport.ts';

const transport = createTransport();
const providers = createProviders(transport);
afterAll(() => transport.close());

const MODEL = 'claude-sonnet-4-5';

function provider(vendor: 'bedrock' | 'vertex'): Provider {
  const made = providers(configOf(vendor, { region: 'eu', project: 'p' }));
  if (!made) throw new Error(`${vendor} is not registered`);
  return made;
}

function fit(vendor: 'bedrock' | 'vertex', body: unknown, promptCache = false): Fitted {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  return fitTo(provider(vendor), 'messages', text, { model: MODEL, promptCache });
}

const MESSAGES = [{ role: 'user', content: 'hi' }];

describe('members', () => {
  const all = {
    model: MODEL,
    messages: MESSAGES,
    max_tokens: 5,
    stream: true,
    system: 's',
    temperature: 0.5,
    thinking: { type: 'enabled', budget_tokens: 1024 },
    output_config: { effort: 'low' },
    context_management: { edits: [] },
    anthropic_version: 'x',
    anthropic_beta: ['a'],
    betas: ['a'],
    mcp_servers: [{ url: 'https://x' }],
    inference_geo: 'us',
    container: 'c',
    service_tier: 'auto',
    speed: 'fast',
    tomorrow: 1,
  };
  const dropped = [
    ...['anthropic_beta', 'betas', 'mcp_servers', 'inference_geo', 'container', 'service_tier', 'speed', 'tomorrow'],
  ];

  it('that a cloud does not know are dropped and named', () => {
    for (const [vendor, stream] of [['bedrock', {}] as const, ['vertex', { stream: true }] as const]) {
      const { body, losses } = fit(vendor, all);
      const { messages, max_tokens, system, temperature, thinking, output_config, context_management } = all;
      expect(body).toEqual({
        ...{ messages, max_tokens, system, temperature, thinking, output_config, context_management },
        ...stream,
      });
      expect(losses.toSorted()).toEqual(dropped.toSorted());
    }
  });

  it('that stay keep their bytes, wherever the others stood', () => {
    const kept = '"messages": [ {"role":"user","content":"\\u00e9"} ] ,"max_tokens":1.0';
    expect(fit('vertex', `{"model":"m", ${kept}}`).text).toBe(`{${kept}}`);
    expect(fit('bedrock', `{${kept},"model":"m","stream":false}`).text).toBe(`{${kept}}`);
  });
});

describe('tools', () => {
  const own = { name: 'f', input_schema: { type: 'object' } };
  const search = { type: 'web_search_20250305', name: 'web_search' };
  const code = { type: 'code_execution_20250825', name: 'code_execution' };
  const bash = { type: 'bash_20250124', name: 'bash' };

  it('of the client stay, those of the host go where it has none', () => {
    const tools = [code, own, { ...own, type: 'custom' }, search, bash, code];
    const vertex = fit('vertex', { messages: MESSAGES, tools });
    expect(vertex.body['tools']).toEqual([own, { ...own, type: 'custom' }, search, bash]);
    expect(vertex.losses).toEqual(['tools[code_execution_20250825]']);
    const bedrock = fit('bedrock', { messages: MESSAGES, tools, tool_choice: { type: 'tool', name: 'web_search' } });
    expect(bedrock.body['tools']).toEqual([own, { ...own, type: 'custom' }, bash]);
    expect(bedrock.body['tool_choice']).toEqual({ type: 'auto' });
    expect(bedrock.losses).toEqual(['tools[code_execution_20250825]', 'tools[web_search_20250305]', 'tool_choice']);
  });

  it('that are chosen and stay are chosen still', () => {
    const tool_choice = { type: 'tool', name: 'f' };
    const { body, losses } = fit('bedrock', { messages: MESSAGES, tools: [own, search], tool_choice });
    expect(body).toEqual({ messages: MESSAGES, tools: [own], tool_choice });
    expect(losses).toEqual(['tools[web_search_20250305]']);
  });

  it('that all go take the choice with them', () => {
    const { body, losses } = fit('bedrock', { messages: MESSAGES, tools: [search], tool_choice: { type: 'any' } });
    expect(body).toEqual({ messages: MESSAGES });
    expect(losses).toEqual(['tools[web_search_20250305]', 'tool_choice']);
  });
});

describe('cache markers', () => {
  const mark = { type: 'ephemeral', ttl: '1h' };
  const marked = {
    messages: [{ role: 'user', content: [{ type: 'text', text: 'hi', cache_control: mark }] }],
    tools: [
      { type: 'web_search_20250305', name: 'w', cache_control: mark },
      { name: 'f', cache_control: mark },
    ],
    cache_control: mark,
  };

  it('stay where the organization wants them', () => {
    expect(fit('vertex', marked, true)).toMatchObject({ body: marked, losses: [] });
  });

  it('go where it does not, also inside a tool that goes itself', () => {
    const { body, losses } = fit('bedrock', marked);
    expect(body).toEqual({
      messages: [{ role: 'user', content: [{ type: 'text', text: 'hi' }] }],
      tools: [{ name: 'f' }],
    });
    expect(losses).toEqual(['cache_control', 'tools[web_search_20250305]']);
  });
});

describe('files', () => {
  const image = (source: unknown): unknown => ({ type: 'image', source });
  const inUser = (...content: unknown[]): unknown => ({ messages: [{ role: 'user', content }] });

  it.each([
    ['an address', inUser(image({ type: 'url', url: 'https://x' }))],
    ['an id', inUser(image({ type: 'file', file_id: 'f' }))],
    [
      'an address in a tool result',
      inUser({ type: 'tool_result', content: [image({ type: 'url', url: 'https://x' })] }),
    ],
    [
      'an address in a document',
      inUser({ type: 'document', source: { type: 'content', content: [image({ type: 'url', url: 'u' })] } }),
    ],
  ])('named by %s are refused', (_name, body) => {
    expect(() => fit('bedrock', body)).toThrow(BadRequestShape);
  });

  it('given by their bytes, and words about addresses, pass', () => {
    const body = inUser(image({ type: 'base64', media_type: 'image/png', data: 'AAAA' }), {
      type: 'tool_use',
      id: 't',
      name: 'f',
      input: { source: { type: 'url' } },
    });
    expect(fit('vertex', body).body).toEqual(body);
  });
});

describe('beta flags', () => {
  it('are those the host knows, in order, once each, from one header or several', () => {
    const flags = 'web-search-2025-03-05 ,context-1m-2025-08-07,,claude-code-20250219,context-1m-2025-08-07';
    expect(betasFor(VERTEX_CLAUDE, flags)).toEqual(['web-search-2025-03-05', 'context-1m-2025-08-07']);
    expect(betasFor(BEDROCK_CLAUDE, flags)).toEqual(['context-1m-2025-08-07']);
    expect(betasFor(BEDROCK_CLAUDE, ['oauth-2025-04-20', 'interleaved-thinking-2025-05-14'])).toEqual([
      'interleaved-thinking-2025-05-14',
    ]);
    expect(betasFor(BEDROCK_CLAUDE, undefined)).toEqual([]);
  });
});

it('members are put before those of a body, whatever blanks it begins with', () => {
  expect(withMembers(' \n{ "a":1}', { v: 'x' })).toBe('{"v":"x", "a":1}');
});
