// Lists and calls tools with the AI SDK: node ai-sdk-client.js URL KEY TOOL ARGUMENTS
import { createMCPClient } from '@ai-sdk/mcp';

const [url, key, tool, args] = process.argv.slice(2);
const headers = { authorization: `Bearer ${key}` };
const client = await createMCPClient({ transport: { type: 'http', url, headers } });
const tools = await client.tools();
const result = await tools[tool].execute(JSON.parse(args), { toolCallId: 'one', messages: [] });
console.log(JSON.stringify({ names: Object.keys(tools), result }));
await client.close();
