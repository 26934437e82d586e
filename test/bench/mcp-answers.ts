import type { ServerResponse } from 'node:http';

/** An MCP server that answers at once from memory; its tool `stall` says that it has begun, and then nothing. */
const TOOLS = [
  ...['find', 'stall'].map((name) => toolNamed(name)),
  ...Array.from({ length: 98 }, (_, at) => toolNamed(`tool_${at}`)),
];
const COMPLETE = { resultType: 'complete' };
const words = 'The customer of «EMAIL_1» is in the usual place. ';
const RESULTS: Readonly<Record<string, object>> = {
  'server/discover': {
    ...COMPLETE,
    supportedVersions: ['2026-07-28'],
    capabilities: { tools: {} },
    ttlMs: 3_600_000,
    cacheScope: 'private',
  },
  'tools/list': { ...COMPLETE, tools: TOOLS, ttlMs: 3_600_000, cacheScope: 'private' },
  'tools/call': { ...COMPLETE, content: [{ type: 'text', text: words.repeat(10) }] },
};
const texts = new Map(Object.entries(RESULTS).map(([method, result]) => [method, JSON.stringify(result)]));

/** A definition of the size that real ones have: a kilobyte and a half. */
function toolNamed(name: string): object {
  const description = 'Finds what the numbers of the third quarter say of a customer, and who is to be asked next. ';
  const field = { type: 'string', description };
  const properties = Object.fromEntries(['text', 'region', 'quarter', 'language', 'unit'].map((one) => [one, field]));
  return { name, description: description.repeat(5), inputSchema: { type: 'object', properties } };
}

export function answerMcp(body: string, response: ServerResponse): void {
  const { id, method, params } = JSON.parse(body) as {
    id: unknown;
    method: string;
    params: { name?: string; _meta?: { progressToken?: unknown } };
  };
  if (params.name === 'stall') {
    const progress = { progressToken: params._meta?.progressToken, progress: 1 };
    const notice = { jsonrpc: '2.0', method: 'notifications/progress', params: progress };
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(`data: ${JSON.stringify(notice)}\n\n`);
    return;
  }
  const answer = `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":${texts.get(method)}}`;
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(answer) });
  response.end(answer);
}
