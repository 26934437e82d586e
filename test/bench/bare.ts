import Fastify from 'fastify';
import { Agent, request as send } from 'undici';

/**
 * What the gateway is compared with: Fastify and undici forwarding the same bodies, parsed and written again as a proxy
 * that changes a field would, without anything that Gatewarden does. Prints its port; `argv[2]` is the upstream.
 */
const upstream = process.argv[2]!;
const dispatcher = new Agent({ pipelining: 1, keepAliveTimeout: 60_000 });
const app = Fastify({ bodyLimit: 64 * 1024 * 1024 });

app.post('/v1/chat/completions', async (request, reply) => {
  const body = request.body as { model: string; stream?: boolean };
  const answer = await send(`${upstream}/chat/completions`, {
    dispatcher,
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: 'Bearer upstream' },
    body: JSON.stringify({ ...body, model: body.model.slice(body.model.indexOf('/') + 1) }),
  });
  reply.code(answer.statusCode);
  if (!body.stream) return answer.body.json();
  reply.header('content-type', 'text/event-stream');
  return reply.send(answer.body);
});
app.post('/v1/mcp/crm', async (request, reply) => {
  const { 'mcp-protocol-version': version, 'mcp-method': method, 'mcp-name': name, accept } = request.headers;
  const answer = await send(`${upstream}/mcp`, {
    dispatcher,
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept,
      authorization: 'Bearer upstream',
      'mcp-protocol-version': version,
      'mcp-method': method,
      ...(name !== undefined && { 'mcp-name': name }),
    },
    body: JSON.stringify(request.body),
  });
  reply.code(answer.statusCode);
  const type = String(answer.headers['content-type']);
  if (type.startsWith('application/json')) return answer.body.json();
  reply.header('content-type', type);
  return reply.send(answer.body);
});
await app.listen({ host: '127.0.0.1', port: 0 });
console.log((app.server.address() as { port: number }).port);
