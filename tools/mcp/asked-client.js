// Calls a tool that asks its client for more: node asked-client.js URL KEY TOOL ARGUMENTS v1|v2|v2-auto
// Says what it was asked, and answers with the personal data of a test.
import { Client as OldClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as OldTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import {
  CreateMessageRequestSchema,
  ElicitRequestSchema,
  ListRootsRequestSchema,
  LoggingMessageNotificationSchema,
} from '@modelcontextprotocol/sdk/types.js';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';

const [url, key, tool, args, mode] = process.argv.slice(2);
const capabilities = { elicitation: {}, sampling: {}, roots: { listChanged: true } };
const isOld = mode === 'v1';
const options = { capabilities, ...(mode === 'v2-auto' && { versionNegotiation: { mode: 'auto' } }) };
const client = new (isOld ? OldClient : Client)({ name: 'test', version: '1' }, options);
const asked = [];
const logged = [];
const answers = {
  'elicitation/create': { action: 'accept', content: { name: 'Bob', email: 'bob@example.com' } },
  'sampling/createMessage': {
    role: 'assistant',
    model: 'test',
    content: { type: 'text', text: 'write to bob@example.com' },
  },
  'roots/list': { roots: [{ uri: 'file:///home/bob@example.com', name: 'bob@example.com' }] },
};
const schemas = {
  'elicitation/create': ElicitRequestSchema,
  'sampling/createMessage': CreateMessageRequestSchema,
  'roots/list': ListRootsRequestSchema,
};
for (const [method, schema] of Object.entries(schemas)) {
  client.setRequestHandler(isOld ? schema : method, async ({ params }) => {
    asked.push({ method, params });
    return answers[method];
  });
}
client.setNotificationHandler(isOld ? LoggingMessageNotificationSchema : 'notifications/message', ({ params }) => {
  logged.push(params);
});
const requestInit = { headers: { authorization: `Bearer ${key}` } };
const transport = new (isOld ? OldTransport : StreamableHTTPClientTransport)(new URL(url), { requestInit });
await client.connect(transport);
if (args === 'wait') {
  await new Promise((resolve) => setTimeout(resolve, 3000));
  console.log(JSON.stringify({ asked, logged, session: transport.sessionId }));
} else {
  const result = await client.callTool({ name: tool, arguments: JSON.parse(args) });
  console.log(JSON.stringify({ asked, logged, result, session: transport.sessionId ?? null }));
}
await transport.terminateSession?.();
await client.close();
