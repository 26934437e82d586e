// Lists and calls tools with the older library: node sdk-v1-client.js URL KEY TOOL ARGUMENTS
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';

const [url, key, tool, args] = process.argv.slice(2);
const client = new Client({ name: 'test', version: '1' });
const requestInit = { headers: { authorization: `Bearer ${key}` } };
await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit }));
const progress = [];
const { tools } = await client.listTools();
const result = await client.callTool({ name: tool, arguments: JSON.parse(args) }, undefined, {
  onprogress: (one) => progress.push(one),
});
console.log(
  JSON.stringify({ names: tools.map(({ name }) => name), result, progress, server: client.getServerVersion() }),
);
await client.close();
