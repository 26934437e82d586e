// What a proxy costs that has the newer library on both sides; prints its port: node sdk-proxy.js URL
import { createServer } from 'node:http';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { toNodeHandler } from '@modelcontextprotocol/node';
import { createMcpHandler, McpServer } from '@modelcontextprotocol/server';

const client = new Client({ name: 'proxy', version: '1' }, { versionNegotiation: { mode: 'auto' } });
await client.connect(new StreamableHTTPClientTransport(new URL(process.argv[2])));
const handler = createMcpHandler(() => {
  const server = new McpServer({ name: 'proxy', version: '1' }, { capabilities: { tools: {} } });
  server.server.setRequestHandler('tools/list', ({ params }) => client.listTools(params));
  server.server.setRequestHandler('tools/call', ({ params: { name, arguments: given } }) =>
    client.callTool({ name, arguments: given }),
  );
  return server;
});
const http = createServer(toNodeHandler(handler));
http.listen(0, '127.0.0.1', () => console.log(http.address().port));
