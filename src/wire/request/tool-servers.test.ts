import fc from 'fast-check';
import { expect, test } from 'vitest';
import { readDocument } from '../document/document.ts';
import { toolServersIn } from './tool-servers.ts';

const inBody = (body: object) => toolServersIn(readDocument('chat', JSON.stringify(body)));
const tool = { type: 'mcp', server_label: 'docs', server_url: 'https://mcp.example.com:8443/a?key=hidden' };

test.each<[object, string, readonly string[]]>([
  [{ tools: [{ type: 'function' }, tool] }, 'tools[1]', ['docs at mcp.example.com:8443']],
  [
    { tools: [tool, tool, { type: 'mcp_call', server_label: 'docs', name: 'f' }] },
    'tools[0]',
    ['docs at mcp.example.com:8443'],
  ],
  [{ mcp_servers: [{ name: 'a', url: 'https://x.example' }] }, 'mcp_servers', ['a at x.example']],
  [{ mcp_servers: [] }, 'mcp_servers', []],
  [
    { tools: [{ type: 'mcp', server_label: 'Ada <ada@corp.de>', server_url: 'not an address' }] },
    'tools[0]',
    ['unnamed at an unreadable address'],
  ],
  [
    { tools: [{ type: 'mcp', server_label: 'm', connector_id: 'connector_gmail' }] },
    'tools[0]',
    ['m by connector_gmail'],
  ],
  [{ a: { b: [{ c: { McpServers: {} } }] } }, 'a.b[0].c', []],
])('%j: at %s, told as %j', (body, param, names) => {
  expect(inBody(body)).toMatchObject({ param, names });
});

test('credentials of servers are found, and only what looks like one', () => {
  const headers = { 'x-key': 'abcdef0123456789', 'x-note': 'write to ada@corp.de' };
  const found = inBody({
    authorization: 'not-of-a-server',
    tools: [
      { ...tool, authorization: 'Bearer abc.def', headers },
      { type: 'function', authorization: 'elsewhere' },
    ],
  });
  expect([...(found?.credentials ?? [])].map(({ value }) => value).sort()).toEqual([
    'Bearer abc.def',
    'abcdef0123456789',
  ]);
});

test('wherever a server is put, it is found: the way in has no place of its own', () => {
  const around = fc.array(
    fc.oneof(fc.constantFrom('tools', 'input', 'content', 'extra_body', 'x-y', 'output'), fc.nat(3)),
    {
      maxLength: 8,
    },
  );
  const spelled = fc.constantFrom('mcp', 'MCP', 'mcp_toolset', 'Mcp-Call', 'remote_mcp', 'ｍｃｐ', 'connector');
  fc.assert(
    fc.property(around, spelled, fc.boolean(), (steps, type, escaped) => {
      let body: object = { type };
      for (const step of steps.toReversed())
        body = typeof step === 'number' ? Array(step).fill(0).concat(body) : { [step]: body };
      const json = JSON.stringify(Array.isArray(body) ? { tools: body } : body);
      const written = escaped
        ? json.replace(
            /"type":"(.)/,
            (_, c: string) => `"typ\\u0065":"\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`,
          )
        : json;
      expect(toolServersIn(readDocument('chat', written))).toBeDefined();
    }),
  );
});

test('time grows with the request alone, whatever it is filled with', () => {
  const filled = (count: number) => {
    const items = Array.from({ length: count }, (_, at) => ({ [`server_${at}_mcp`]: { type: 'x', mc: ['p'] } }));
    return readDocument('chat', JSON.stringify({ mcp: items }));
  };
  const [small, large] = [filled(1_000), filled(20_000)];
  const least = (document: typeof small): number => {
    const times = Array.from({ length: 5 }, () => {
      const start = performance.now();
      toolServersIn(document);
      return performance.now() - start;
    });
    return Math.min(...times);
  };
  least(small);
  expect(least(large)).toBeLessThan(200 * Math.max(least(small), 2));
});
