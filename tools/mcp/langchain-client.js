// Lists and calls tools with LangChain: node langchain-client.js URL KEY TOOL ARGUMENTS
import { MultiServerMCPClient } from '@langchain/mcp-adapters';

const [url, key, tool, args] = process.argv.slice(2);
const headers = { authorization: `Bearer ${key}` };
const client = new MultiServerMCPClient({ mcpServers: { gateway: { transport: 'http', url, headers } } });
const tools = await client.getTools();
const said = await tools.find(({ name }) => name === tool).invoke(JSON.parse(args));
const content = [{ type: 'text', text: typeof said === 'string' ? said : JSON.stringify(said) }];
console.log(JSON.stringify({ names: tools.map(({ name }) => name), result: { content } }));
await client.close();
