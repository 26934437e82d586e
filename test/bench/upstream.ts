import { createServer } from 'node:http';

/**
 * A provider that answers at once from memory: buffered, as a stream of 200 chunks, or (model `stall`) as a stream that
 * stays open after its first chunk. Prints its port.
 */
const CHUNKS = 200;
const frame = (delta: object, finish: string | null): string =>
  `data: ${JSON.stringify({ id: 'chatcmpl-bench', object: 'chat.completion.chunk', created: 1, model: 'static', choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`;
const usage = { prompt_tokens: 500, completion_tokens: CHUNKS, total_tokens: 500 + CHUNKS };
const words = 'The quick answer, sent to «EMAIL_1», is in the usual place. ';
const buffered = Buffer.from(
  JSON.stringify({
    id: 'chatcmpl-bench',
    object: 'chat.completion',
    created: 1,
    model: 'static',
    choices: [{ index: 0, message: { role: 'assistant', content: words.repeat(8) }, finish_reason: 'stop' }],
    usage,
  }),
);
const first = frame({ role: 'assistant', content: '' }, null);
const chunks = Array.from({ length: CHUNKS }, (_, index) =>
  frame({ content: index % 50 === 7 ? 'to «EMAIL_1» ' : ' token' }, null),
);
const last =
  frame({}, 'stop') +
  `data: ${JSON.stringify({ id: 'chatcmpl-bench', object: 'chat.completion.chunk', created: 1, model: 'static', choices: [], usage })}\n\n` +
  'data: [DONE]\n\n';
/** Chunks leave in groups, as they do where a provider's and the network's buffers meet. */
const GROUP = 4;

const server = createServer((request, response) => {
  const parts: Buffer[] = [];
  request.on('data', (part: Buffer) => parts.push(part));
  request.on('end', () => {
    const body = parts.length === 1 ? parts[0]! : Buffer.concat(parts);
    if (!body.includes('"stream":true')) {
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': buffered.length });
      response.end(buffered);
      return;
    }
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(first);
    if (body.includes('"model":"stall"')) return;
    let at = 0;
    const next = (): void => {
      if (at >= chunks.length) return void response.end(last);
      response.write(chunks.slice(at, (at += GROUP)).join(''));
      setImmediate(next);
    };
    next();
  });
});
server.keepAliveTimeout = 60_000;
server.listen(0, '127.0.0.1', () => console.log((server.address() as { port: number }).port));
