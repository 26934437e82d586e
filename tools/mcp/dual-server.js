// A server of both eras on the newer library; writes its address: node dual-server.js
import { createServer } from 'node:http';
import { createMcpHandler, McpServer } from '@modelcontextprotocol/server';
import { toNodeHandler } from '@modelcontextprotocol/node';
import { z } from 'zod';

const handler = createMcpHandler(
  () => {
    const server = new McpServer({ name: 'dual', version: '1' });
    const inputSchema = z.object({
      text: z.string(),
      region: z.string().optional().meta({ 'x-mcp-header': 'Region' }),
    });
    server.registerTool('echo', { description: 'Repeats a text', inputSchema }, async ({ text, region }) => ({
      content: [{ type: 'text', text: region === undefined ? text : `${text} ${region}` }],
    }));
    return server;
  },
  { legacy: 'stateless' },
);
const server = createServer(toNodeHandler(handler));
server.listen(0, '127.0.0.1', () => console.log(`http://127.0.0.1:${server.address().port}/mcp`));
