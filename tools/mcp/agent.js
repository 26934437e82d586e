// An agent of a few lines: model and tools both through the gateway: node agent.js URL KEY MODEL PROMPT
import { createMCPClient } from '@ai-sdk/mcp';
import { createOpenAI } from '@ai-sdk/openai';
import { generateText, stepCountIs } from 'ai';

const [url, key, model, prompt] = process.argv.slice(2);
const headers = { authorization: `Bearer ${key}` };
const openai = createOpenAI({ baseURL: `${url}/v1`, apiKey: key });
const client = await createMCPClient({ transport: { type: 'http', url: `${url}/v1/mcp`, headers } });
const { text, steps } = await generateText({
  model: openai.chat(model),
  tools: await client.tools(),
  prompt,
  stopWhen: stepCountIs(5),
});
console.log(JSON.stringify({ text, steps: steps.length }));
await client.close();
