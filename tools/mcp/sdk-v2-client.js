// Lists and calls tools with the newer library: node sdk-v2-client.js URL KEY TOOL ARGUMENTS MODE
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';

const [url, key, tool, args, mode] = process.argv.slice(2);
const client = new Client({ name: 'test', version: '1' }, mode ? { versionNegotiation: { mode } } : {});
const requestInit = { headers: { authorization: `Bearer ${key}` } };
await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit }));
const progress = [];
const { tools } = await client.listTools();
const result = await client.callTool(
  { name: tool, arguments: JSON.parse(args) },
  { onprogress: (one) => progress.push(one) },
);
const version = client.getNegotiatedProtocolVersion?.() ?? null;
console.log(JSON.stringify({ names: tools.map(({ name }) => name), result, progress, version }));
await client.close();
