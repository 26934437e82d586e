// A server of both eras on the newer library with resources, prompts and completions; writes its address:
// node reads-server.js
import { createServer } from 'node:http';
import { completable, createMcpHandler, McpServer, ResourceTemplate } from '@modelcontextprotocol/server';
import { toNodeHandler } from '@modelcontextprotocol/node';
import { z } from 'zod';

const CITIES = ['Berlin', 'Bern', 'Paris'];
const startingWith = (typed) => CITIES.filter((city) => city.startsWith(typed));

const handler = createMcpHandler(
  () => {
    const server = new McpServer(
      { name: 'reads', version: '1' },
      { instructions: 'Read notes before cities.\nThen ask.' },
    );
    server.registerResource('notes', 'memo://notes', { title: 'Notes', mimeType: 'text/plain' }, async (uri) => ({
      contents: [{ uri: uri.href, mimeType: 'text/plain', text: 'Call ada@example.com' }],
    }));
    const template = new ResourceTemplate('city://{name}', { list: undefined, complete: { name: startingWith } });
    server.registerResource('city', template, { mimeType: 'text/plain' }, async (uri, { name }) => ({
      contents: [{ uri: uri.href, mimeType: 'text/plain', text: `City of ${name}` }],
    }));
    const argsSchema = z.object({ city: completable(z.string(), startingWith) });
    server.registerPrompt('visit', { description: 'Plans a visit', argsSchema }, async ({ city }) => ({
      messages: [{ role: 'user', content: { type: 'text', text: `Plan a visit of ${city}` } }],
    }));
    const inputSchema = z.object({});
    server.registerTool('link', { description: 'Links to the notes', inputSchema }, async () => ({
      content: [{ type: 'resource_link', uri: 'memo://notes', name: 'notes' }],
    }));
    return server;
  },
  { legacy: 'stateless' },
);
const server = createServer(toNodeHandler(handler));
server.listen(0, '127.0.0.1', () => console.log(`http://127.0.0.1:${server.address().port}/mcp`));
