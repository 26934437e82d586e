// Asks a server with one of the libraries (v1, v2, auto) and writes what it learns:
// node reads-client.js LIBRARY URL KEY REQUESTS, each request being [method of the client, params]
import { Client as OlderClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as OlderTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';

const [library, url, key, requests] = process.argv.slice(2);
const self = { name: 'test', version: '1' };
const requestInit = { headers: { authorization: `Bearer ${key}` } };
const client =
  library === 'v1'
    ? new OlderClient(self)
    : new Client(self, library === 'auto' ? { versionNegotiation: { mode: 'auto' } } : {});
const Transport = library === 'v1' ? OlderTransport : StreamableHTTPClientTransport;
await client.connect(new Transport(new URL(url), { requestInit }));
const answers = [];
for (const [method, params] of JSON.parse(requests)) {
  try {
    answers.push(await client[method](params));
  } catch (error) {
    answers.push({ failed: error.code, message: error.message });
  }
}
const capabilities = client.getServerCapabilities();
console.log(JSON.stringify({ capabilities, instructions: client.getInstructions(), answers }));
await client.close();
