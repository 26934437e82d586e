// A server of both eras with all that the conformance suite asks for, whose names and texts it sets; legacy clients get
// sessions. Says its address when it is ready: node everything-server.js
// ERA=legacy or ERA=modern: it speaks that one alone.
import { randomBytes, randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import { NodeStreamableHTTPServerTransport, toNodeHandler } from '@modelcontextprotocol/node';
import {
  acceptedContent,
  classifyInboundRequest,
  CLIENT_CAPABILITIES_META_KEY,
  createMcpHandler,
  createRequestStateCodec,
  fromJsonSchema,
  inputRequired,
  isInitializeRequest,
  McpServer,
  ResourceTemplate,
} from '@modelcontextprotocol/server';
import { z } from 'zod';

const PIXEL = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const SOUND = 'UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAA=';
const text = (said) => ({ type: 'text', text: said });
const image = { type: 'image', data: PIXEL, mimeType: 'image/png' };
const embedded = (uri, mimeType, said) => ({ type: 'resource', resource: { uri, mimeType, text: said } });
const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
const NONE = z.object({});
const state = createRequestStateCodec({ key: randomBytes(32) });

/** Results that never change. */
const PLAIN = {
  test_simple_text: [text('This is a simple text response for testing.')],
  test_image_content: [image],
  test_audio_content: [{ type: 'audio', data: SOUND, mimeType: 'audio/wav' }],
  test_embedded_resource: [embedded('test://embedded-resource', 'text/plain', 'This is an embedded resource content.')],
  test_multiple_content_types: [
    text('Multiple content types test:'),
    image,
    embedded('test://mixed-content-resource', 'application/json', '{"test":"data","value":123}'),
  ],
  test_streaming_elicitation: [text('Nothing was asked.')],
};

/** A form with one field. */
const form = (message, name, type = 'string') =>
  inputRequired.elicit({
    message,
    requestedSchema: { type: 'object', properties: { [name]: { type } }, required: [name] },
  });
const sampling = (said, maxTokens) =>
  inputRequired.createMessage({ messages: [{ role: 'user', content: text(said) }], maxTokens });
const mint = (more) => state.mint({ ...more, nonce: randomUUID() });
const done = (said) => ({ content: [text(said)] });

/** Tools that ask for input, round by round. */
const ROUNDS = {
  async test_missing_capability(request) {
    if (request.inputResponses?.llm_answer) return done('Sampled.');
    return inputRequired({ inputRequests: { llm_answer: sampling('Say pong', 16) } });
  },
  async test_input_required_result_elicitation(request) {
    const name = acceptedContent(request.inputResponses, 'user_name')?.name;
    if (typeof name === 'string') return done(`Hello, ${name}!`);
    return inputRequired({ inputRequests: { user_name: form('What is your name?', 'name') } });
  },
  async test_input_required_result_sampling(request) {
    const answer = request.inputResponses?.capital_question;
    if (answer) return done(`Sampling response: ${answer.content?.text}`);
    return inputRequired({ inputRequests: { capital_question: sampling('What is the capital of France?', 100) } });
  },
  async test_input_required_result_list_roots(request) {
    const roots = request.inputResponses?.client_roots?.roots;
    if (Array.isArray(roots)) return done(`Roots: ${roots.map(({ uri }) => uri).join(', ')}`);
    return inputRequired({ inputRequests: { client_roots: inputRequired.listRoots() } });
  },
  async test_input_required_result_request_state(request) {
    if (request.requestState() && acceptedContent(request.inputResponses, 'confirm')) return done('state-ok');
    const inputRequests = { confirm: form('Please confirm', 'ok', 'boolean') };
    return inputRequired({ inputRequests, requestState: await mint({ tool: 'state' }) });
  },
  async test_input_required_result_tampered_state(request) {
    if (request.requestState() && acceptedContent(request.inputResponses, 'confirm')) return done('integrity-ok');
    const inputRequests = { confirm: form('Please confirm', 'ok', 'boolean') };
    return inputRequired({ inputRequests, requestState: await mint({ tool: 'tampered' }) });
  },
  async test_input_required_result_multiple_inputs({ inputResponses }) {
    const name = acceptedContent(inputResponses, 'user_name')?.name;
    const greeting = inputResponses?.greeting?.content?.text;
    const roots = inputResponses?.client_roots?.roots;
    if (name && greeting && Array.isArray(roots)) return done(`${greeting} ${name}, ${roots.length} roots`);
    const inputRequests = {
      user_name: form('What is your name?', 'name'),
      greeting: sampling('Generate a greeting', 50),
      client_roots: inputRequired.listRoots(),
    };
    return inputRequired({ inputRequests, requestState: await mint({ tool: 'multiple' }) });
  },
  async test_input_required_result_multi_round(request) {
    const round = request.requestState()?.round ?? 0;
    if (round === 2) return done('Multi-round complete');
    const [step, question] = round === 0 ? ['step1', form('Name?', 'name')] : ['step2', form('Color?', 'color')];
    return inputRequired({ inputRequests: { [step]: question }, requestState: await mint({ round: round + 1 }) });
  },
  async test_input_required_result_capabilities({ inputResponses, envelope }) {
    if (inputResponses) return done('Answered.');
    const declared = envelope?.[CLIENT_CAPABILITIES_META_KEY] ?? {};
    const inputRequests = {
      ...(declared.elicitation && { user_name: form('What is your name?', 'name') }),
      ...(declared.sampling && { greeting: sampling('Generate a greeting', 50) }),
      ...(declared.roots && { client_roots: inputRequired.listRoots() }),
    };
    return Object.keys(inputRequests).length === 0 ? done('Nothing to ask.') : inputRequired({ inputRequests });
  },
};

/** Forms of the legacy era, which its server sends while it works. */
const OPTIONS = ['option1', 'option2', 'option3'];
const TITLED = [1, 2, 3].map((at) => ({ const: `value${at}`, title: `Option ${at}` }));
const FORMS = {
  test_elicitation_sep1034_defaults: {
    name: { type: 'string', default: 'John Doe' },
    age: { type: 'integer', default: 30 },
    score: { type: 'number', default: 95.5 },
    status: { type: 'string', enum: ['active', 'inactive', 'pending'], default: 'active' },
    verified: { type: 'boolean', default: true },
  },
  test_elicitation_sep1330_enums: {
    untitledSingle: { type: 'string', enum: OPTIONS },
    titledSingle: { type: 'string', oneOf: TITLED },
    legacyEnum: { type: 'string', enum: ['opt1', 'opt2', 'opt3'], enumNames: ['One', 'Two', 'Three'] },
    untitledMulti: { type: 'array', minItems: 1, maxItems: 3, items: { type: 'string', enum: OPTIONS } },
    titledMulti: { type: 'array', minItems: 1, maxItems: 3, items: { anyOf: TITLED } },
  },
};

const HEADER_SCHEMA = fromJsonSchema({
  type: 'object',
  properties: { region: { type: 'string', 'x-mcp-header': 'Region' }, level: { type: 'integer' } },
});
const WIDE_SCHEMA = fromJsonSchema({
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  type: 'object',
  $defs: {
    address: {
      $anchor: 'addressDef',
      type: 'object',
      properties: { street: { type: 'string' }, city: { type: 'string' } },
    },
  },
  properties: {
    name: { type: 'string' },
    address: { $ref: '#/$defs/address' },
    contactMethod: { type: 'string', enum: ['phone', 'email'] },
    phone: { type: 'string' },
    email: { type: 'string' },
  },
  allOf: [{ anyOf: [{ required: ['phone'] }, { required: ['email'] }] }],
  if: { properties: { contactMethod: { const: 'phone' } }, required: ['contactMethod'] },
  // oxlint-disable-next-line unicorn/no-thenable -- a keyword of JSON Schema
  then: { required: ['phone'] },
  else: { required: ['email'] },
  additionalProperties: false,
});

function addTools(server, sessions) {
  for (const [name, content] of Object.entries(PLAIN))
    server.registerTool(name, { description: 'Always the same' }, async () => ({ content }));
  for (const [name, round] of Object.entries(ROUNDS))
    server.registerTool(name, { description: 'Asks for input', inputSchema: NONE }, (_, { mcpReq }) => round(mcpReq));
  const tool = (name, inputSchema, run) =>
    server.registerTool(name, { description: name, inputSchema }, async (args, context) =>
      done(await run(args, context)),
    );
  tool('test_x_mcp_header', HEADER_SCHEMA, ({ region }) => `region=${region}`);
  tool('json_schema_2020_12_tool', WIDE_SCHEMA, (args) => JSON.stringify(args));
  tool('test_error_handling', NONE, () => {
    throw new Error('This tool intentionally returns an error for testing');
  });
  tool('test_logging_tool', NONE, async (_, { mcpReq }) => {
    await mcpReq.log('info', 'only where the request has a level');
    return 'logged';
  });
  tool('test_tool_with_logging', NONE, async (_, { mcpReq }) => {
    for (const data of ['started', 'processing', 'completed']) {
      await mcpReq.notify({ method: 'notifications/message', params: { level: 'info', data } });
      await sleep(50);
    }
    return 'logged';
  });
  tool('test_tool_with_progress', NONE, async (_, { mcpReq }) => {
    const { progressToken } = mcpReq._meta ?? {};
    for (const progress of progressToken === undefined ? [] : [0, 50, 100]) {
      await mcpReq.notify({ method: 'notifications/progress', params: { progressToken, progress, total: 100 } });
      await sleep(50);
    }
    return String(progressToken ?? 'no-progress-token');
  });
  tool('test_reconnection', NONE, async (_, { sessionId, mcpReq }) => {
    sessions.get(sessionId)?.closeSSEStream(mcpReq.id);
    await sleep(100);
    return 'Reconnected.';
  });
  tool('test_sampling', z.object({ prompt: z.string() }), async ({ prompt }, { mcpReq }) => {
    const messages = [{ role: 'user', content: text(prompt) }];
    const { content } = await mcpReq.send({ method: 'sampling/createMessage', params: { messages, maxTokens: 100 } });
    return `LLM response: ${content.text}`;
  });
  const elicit = async ({ mcpReq }, message, properties, required) => {
    const requestedSchema = { type: 'object', properties, required };
    const answer = await mcpReq.send({ method: 'elicitation/create', params: { message, requestedSchema } });
    return `action=${answer.action}, content=${JSON.stringify(answer.content ?? {})}`;
  };
  tool(
    'test_elicitation',
    z.object({ message: z.string() }),
    async ({ message }, context) =>
      `User response: ${await elicit(context, message, { response: { type: 'string' } }, ['response'])}`,
  );
  for (const [name, properties] of Object.entries(FORMS))
    tool(name, NONE, async (_, context) => `Elicitation completed: ${await elicit(context, 'A form', properties, [])}`);
  tool('test_trigger_tool_change', NONE, () => (modern.notify.toolsChanged(), 'published'));
  tool('test_trigger_prompt_change', NONE, () => (modern.notify.promptsChanged(), 'published'));
}

function addResources(server) {
  const contents = (uri, mimeType, more) => ({ contents: [{ uri: String(uri), mimeType, ...more }] });
  const fixed = (name, uri, mimeType, more) =>
    server.registerResource(name, uri, { mimeType }, async () => contents(uri, mimeType, more));
  fixed('static-text', 'test://static-text', 'text/plain', {
    text: 'This is the content of the static text resource.',
  });
  fixed('static-binary', 'test://static-binary', 'image/png', { blob: PIXEL });
  fixed('watched-resource', 'test://watched-resource', 'text/plain', { text: 'Watched' });
  const template = new ResourceTemplate('test://template/{id}/data', { list: undefined });
  server.registerResource('template', template, { mimeType: 'application/json' }, async (uri, { id }) =>
    contents(uri, 'application/json', { text: JSON.stringify({ id, templateTest: true, data: `Data for ID: ${id}` }) }),
  );
  for (const method of ['resources/subscribe', 'resources/unsubscribe'])
    server.server.setRequestHandler(method, async () => ({}));
}

function addPrompts(server) {
  const messages = (...contents) => ({ messages: contents.map((content) => ({ role: 'user', content })) });
  const prompt = (name, run, argsSchema) =>
    server.registerPrompt(name, { description: name, ...(argsSchema && { argsSchema }) }, async (...given) =>
      run(...given),
    );
  prompt('test_simple_prompt', () => messages(text('This is a simple prompt for testing.')));
  prompt(
    'test_prompt_with_arguments',
    ({ arg1, arg2 }) => messages(text(`Prompt with arguments: arg1='${arg1}', arg2='${arg2}'`)),
    z.object({ arg1: z.string(), arg2: z.string() }),
  );
  prompt(
    'test_prompt_with_embedded_resource',
    ({ resourceUri }) =>
      messages(
        embedded(resourceUri, 'text/plain', 'Embedded resource content for testing.'),
        text('Please process the embedded resource above.'),
      ),
    z.object({ resourceUri: z.string() }),
  );
  prompt('test_prompt_with_image', () => messages(image, text('Please analyze the image above.')));
  prompt('test_input_required_result_prompt', ({ mcpReq }) => {
    const context = acceptedContent(mcpReq.inputResponses, 'user_context')?.context;
    if (typeof context === 'string') return messages(text(`Use the following context: ${context}`));
    return inputRequired({ inputRequests: { user_context: form('Which context?', 'context') } });
  });
}

const sessions = new Map();

function build() {
  const capabilities = {
    tools: { listChanged: true },
    resources: { subscribe: true, listChanged: true },
    prompts: { listChanged: true },
    logging: {},
    completions: {},
  };
  const options = { capabilities, requestState: { verify: state.verify } };
  const server = new McpServer({ name: 'everything', version: '1.0.0' }, options);
  addTools(server, sessions);
  addResources(server);
  addPrompts(server);
  server.server.setRequestHandler('logging/setLevel', async () => ({}));
  server.server.setRequestHandler('completion/complete', async () => ({
    completion: { values: [], total: 0, hasMore: false },
  }));
  return server;
}

const modern = createMcpHandler(build, process.env.ERA === 'modern' ? { legacy: 'reject' } : {});
const handleModern = toNodeHandler(modern);

/** Events of legacy streams, for clients that come back for them. */
function eventStore() {
  const events = [];
  return {
    async storeEvent(streamId, message) {
      return `${streamId}::${events.push({ streamId, message }) - 1}`;
    },
    async replayEventsAfter(last, { send }) {
      const [streamId, at] = last.split('::');
      for (const [index, event] of events.entries())
        if (index > Number(at) && event.streamId === streamId && Object.keys(event.message ?? {}).length > 0)
          await send(`${streamId}::${index}`, event.message);
      return streamId;
    },
  };
}

async function open() {
  const transport = new NodeStreamableHTTPServerTransport({
    sessionIdGenerator: randomUUID,
    eventStore: eventStore(),
    retryInterval: 500,
    onsessioninitialized: (id) => sessions.set(id, transport),
  });
  transport.onclose = () => sessions.delete(transport.sessionId);
  await build().connect(transport);
  return transport;
}

async function handle(request, response, body) {
  const { method, headers } = request;
  if (!/^(localhost|127\.0\.0\.1)(:|$)/.test(headers.host ?? '')) return response.writeHead(403).end();
  const inbound = classifyInboundRequest({
    httpMethod: method,
    protocolVersionHeader: headers['mcp-protocol-version'],
    mcpMethodHeader: headers['mcp-method'],
    body,
  });
  const { ERA } = process.env;
  if (ERA !== 'legacy' && (ERA === 'modern' || (method === 'POST' && inbound.kind !== 'legacy')))
    return handleModern(request, response, body);
  const id = headers['mcp-session-id'];
  const transport = id === undefined && isInitializeRequest(body) ? await open() : sessions.get(id);
  if (transport) return transport.handleRequest(request, response, body);
  const error = { code: -32001, message: 'Session not found' };
  response.writeHead(id === undefined ? 400 : 404, { 'content-type': 'application/json' });
  return response.end(JSON.stringify({ jsonrpc: '2.0', error, id: null }));
}

const http = createServer((request, response) => {
  const parts = [];
  request.on('data', (part) => parts.push(part));
  request.on('end', () => {
    let body;
    try {
      if (parts.length > 0) body = JSON.parse(Buffer.concat(parts).toString());
    } catch {
      return response.writeHead(400).end();
    }
    return handle(request, response, body).catch((error) => {
      console.error(error);
      response.writeHead(500).end();
    });
  });
});
http.listen(0, '127.0.0.1', () => console.log(`http://127.0.0.1:${http.address().port}/mcp`));
