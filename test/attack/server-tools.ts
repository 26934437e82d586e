export const MCP_TOOL = { type: 'mcp', server_label: 'docs', server_url: 'https://mcp.example.com/sse' };
export const CONNECTOR = { type: 'mcp', server_label: 'mail', connector_id: 'connector_gmail' };
const FUNCTION = { type: 'function', function: { name: 'f', parameters: { type: 'object' } } };
export type Attacks = Readonly<Record<string, object | string>>;
export const say = { messages: [{ role: 'user', content: 'Hi' }] };

/** By path: what each attack adds to an ordinary body. A text is members as they are written. */
export const SURFACES: Readonly<Record<string, { readonly body: object; readonly attacks: Attacks }>> = {
  '/v1/chat/completions': {
    body: say,
    attacks: {
      'servers of the request': { mcp_servers: [{ type: 'url', url: 'https://mcp.example.com', name: 'docs' }] },
      'an empty list of servers': { mcp_servers: [] },
      'a server in a list of tools': { tools: [FUNCTION, MCP_TOOL] },
      'a connector': { tools: [CONNECTOR] },
      'a connector by its own type': { tools: [{ type: 'connector', connector_id: 'c1' }] },
      'a server without a type': { tools: [{ server_url: 'https://mcp.example.com' }] },
      'servers within a tool': { tools: [{ mcpServers: [{ streamableHttpTransport: { url: 'https://x.example' } }] }] },
      'servers in members of a vendor': {
        extra_body: { google: { tools: [{ mcp_servers: [{ url: 'https://x' }] }] } },
      },
      'a call in a message': { messages: [{ role: 'assistant', content: [{ type: 'mcp_call', id: 'x', name: 'f' }] }] },
      'a choice of tool': { tools: [FUNCTION], tool_choice: { type: 'mcp', server_label: 'docs' } },
      'an escaped name': String.raw`"\u006d\u0063p_servers":[{"url":"https://x.example"}]`,
      'an escaped type': String.raw`"tools":[{"type":"\u006dcp","server_\u0075rl":"https://x.example"}]`,
      'a name in capitals': { MCP_SERVERS: [{ url: 'https://x.example' }] },
      'a type in capitals': { tools: [{ type: 'MCP', Server_URL: 'https://x.example' }] },
      'two types in one tool': { tools: [{ type: 'function', Type: 'mcp', function: { name: 'f' } }] },
      'behind a long text': { pad: 'x'.repeat(70_000), tools: [MCP_TOOL] },
    },
  },
  '/v1/messages': {
    body: { ...say, max_tokens: 9 },
    attacks: {
      'servers of the request': { mcp_servers: [{ type: 'url', url: 'https://mcp.example.com', name: 'docs' }] },
      'an empty list of servers': { mcp_servers: [] },
      'a set of tools': { tools: [{ type: 'mcp_toolset', mcp_server_name: 'docs' }] },
      'a call of an earlier turn': {
        messages: [{ role: 'assistant', content: [{ type: 'mcp_tool_use', id: 'x', name: 'f', server_name: 'docs' }] }],
      },
      'a result of an earlier turn': {
        messages: [{ role: 'user', content: [{ type: 'mcp_tool_result', tool_use_id: 'x', content: [] }] }],
      },
      'a tool of another family': { tools: [MCP_TOOL] },
    },
  },
  '/v1/responses': {
    body: { input: 'Hi' },
    attacks: {
      'a server in a list of tools': { tools: [MCP_TOOL] },
      'a connector': { tools: [CONNECTOR] },
      'a server in a group of tools': { tools: [{ type: 'namespace', name: 'n', tools: [MCP_TOOL] }] },
      'a choice among tools': { tool_choice: { type: 'allowed_tools', mode: 'auto', tools: [{ type: 'mcp' }] } },
      'a call of an earlier turn': { input: [{ type: 'mcp_call', id: 'x', server_label: 'docs', name: 'f' }] },
      'a list of tools of an earlier turn': {
        input: [{ type: 'mcp_list_tools', id: 'x', server_label: 'd', tools: [] }],
      },
      'an approval': { input: [{ type: 'mcp_approval_response', approval_request_id: 'x', approve: true }] },
      'an approval after a kept answer': {
        previous_response_id: 'resp_1',
        input: [{ type: 'mcp_approval_response', approval_request_id: 'x', approve: true }],
      },
      'servers of the request': { mcp_servers: [{ url: 'https://mcp.example.com' }] },
    },
  },
};

export const PLAIN: Readonly<Record<string, object>> = {
  '/v1/completions': { model: 'chatty/m', prompt: 'Hi' },
  '/v1/embeddings': { model: 'chatty/m', input: 'Hi' },
  '/v1/moderations': { model: 'chatty/m', input: 'Hi' },
  '/v1/rerank': { model: 'chatty/m', query: 'Hi', documents: ['Hi'] },
  '/v1/decisions': {
    model: 'chatty/m',
    input: 'Hi',
    questions: [{ type: 'predicate', instructions: 'It is urgent.' }],
  },
  '/v1/images/generations': { model: 'chatty/m', prompt: 'Hi' },
  '/v1/images/edits': { model: 'chatty/m', prompt: 'Hi', images: [] },
  '/v1/audio/speech': { model: 'chatty/m', input: 'Hi', voice: 'a' },
  '/v1/videos': { model: 'chatty/m', prompt: 'Hi' },
  '/v1/messages/count_tokens': { model: 'claude/m', messages: say.messages },
};

export const FIELDS: readonly (readonly [name: string, value: string])[] = [
  ['mcp_servers', '[{"url":"https://x.example"}]'],
  ['mcp_servers', 'https://x.example'],
  ['mcp_servers[0][url]', 'https://x.example'],
  ['MCP-Servers', '[]'],
  ['tools', JSON.stringify([MCP_TOOL])],
  ['tools[]', JSON.stringify(MCP_TOOL)],
  ['tools[0][type]', 'mcp'],
  ['tools.0.server_url', 'https://x.example'],
  ['tools', '[{"type":"mcp","type":"function"}]'],
  ['extra', '{"body":{"mcp_servers":[{"url":"https://x.example"}]}}'],
];
