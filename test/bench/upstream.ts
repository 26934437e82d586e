import { createServer, type ServerResponse } from 'node:http';
import { answerMcp } from './mcp-answers.ts';

/**
 * A provider that answers at once from memory: buffered, as a stream of 200 chunks, or as a stream that stays open after
 * its first chunk, in silence (model `stall`) or with a chunk now and then (model `rare`: each second for one in a hundred
 * of these streams). At `/mcp` it is an MCP server of the new era (`mcp-answers.ts`). Prints its port.
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
/** The same answers in the messages family. */
const event = (data: { readonly type: string }): string => `event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`;
const message = { id: 'msg_bench', type: 'message', role: 'assistant', model: 'static', stop_sequence: null };
const counted = { input_tokens: 500, output_tokens: CHUNKS };
const messagesBuffered = Buffer.from(
  JSON.stringify({
    ...message,
    content: [{ type: 'text', text: words.repeat(8) }],
    stop_reason: 'end_turn',
    usage: counted,
  }),
);
const text = (value: string): string =>
  event({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: value } } as { type: string });
const open = { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } };
const start = { type: 'message_start', message: { ...message, content: [], stop_reason: null, usage: counted } };
const stop = { type: 'message_delta', delta: { stop_reason: 'end_turn', stop_sequence: null }, usage: counted };
const messagesStream: Stream = {
  first: event(start) + event(open),
  chunks: Array.from({ length: CHUNKS }, (_, index) => text(index % 50 === 7 ? 'to «EMAIL_1» ' : ' token')),
  last:
    event({ type: 'content_block_stop', index: 0 } as { type: string }) + event(stop) + event({ type: 'message_stop' }),
};
const chatStream: Stream = { first, chunks, last };

interface Stream {
  readonly first: string;
  readonly chunks: readonly string[];
  readonly last: string;
}

/** Chunks leave in groups, as they do where a provider's and the network's buffers meet. */
const GROUP = 4;

const kept = new Set<ServerResponse>();

function keepOpen(response: ServerResponse): void {
  kept.add(response);
  response.once('close', () => kept.delete(response));
}

let second = 0;
setInterval(() => {
  second = (second + 1) % 100;
  let index = 0;
  for (const response of kept) if (index++ % 100 === second) response.write(chunks[0]);
}, 1000).unref();

const server = createServer((request, response) => {
  const parts: Buffer[] = [];
  request.on('data', (part: Buffer) => parts.push(part));
  request.on('end', () => {
    const body = parts.length === 1 ? parts[0]! : Buffer.concat(parts);
    if (request.url === '/mcp') return answerMcp(body.toString(), response);
    const ofMessages = request.url?.endsWith('/messages') ?? false;
    if (!body.includes('"stream":true')) {
      const answer = ofMessages ? messagesBuffered : buffered;
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': answer.length });
      response.end(answer);
      return;
    }
    const stream = ofMessages ? messagesStream : chatStream;
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(stream.first);
    if (body.includes('"model":"stall"')) return;
    if (body.includes('"model":"rare"')) return keepOpen(response);
    let at = 0;
    const next = (): void => {
      if (at >= stream.chunks.length) return void response.end(stream.last);
      response.write(stream.chunks.slice(at, (at += GROUP)).join(''));
      setImmediate(next);
    };
    next();
  });
});
server.keepAliveTimeout = 60_000;
server.listen(0, '127.0.0.1', () => console.log((server.address() as { port: number }).port));
