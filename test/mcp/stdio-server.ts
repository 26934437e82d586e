import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';

/** An MCP server over standard input that behaves as its tools are called. */

interface Message {
  readonly id?: unknown;
  readonly method?: string;
  readonly params?: {
    readonly name?: string;
    readonly requestId?: unknown;
    readonly arguments?: Arguments;
    readonly _meta?: Meta;
  };
  readonly result?: object;
  readonly error?: { readonly code: number };
}

interface Meta {
  readonly progressToken?: unknown;
}

/** What a tool is called with. */
interface Arguments {
  readonly said?: string;
  readonly ms?: number;
  readonly bytes?: number;
  readonly lines?: number;
  readonly code?: number;
}

const write = (line: string): void => void process.stdout.write(`${line}\n`);
const send = (message: object): void => write(JSON.stringify({ jsonrpc: '2.0', ...message }));
const text = (said: string): object => ({ content: [{ type: 'text', text: said }] });
const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
const cancelled: unknown[] = [];
const asked: unknown[] = [];
const GARBAGE = [
  ...['warning: secret-content', '[1,2]', '{"id":1}', '{"jsonrpc":"2.0","id":99999,"result":{}}', '\u0000\ufffd'],
  ...['{"a":1', ''],
];

type Tool = (args: Arguments, id: unknown, meta: Meta | undefined) => object | undefined | Promise<object | undefined>;

const TOOLS: Readonly<Record<string, Tool>> = {
  echo: ({ said = '' }) => text(said),
  slow: async ({ ms = 0, said = '' }) => {
    await pause(ms);
    return text(said);
  },
  never: () => undefined,
  cancelled: () => text(JSON.stringify(cancelled)),
  environment: () => text(JSON.stringify(process.env)),
  arguments: () => text(JSON.stringify(process.argv.slice(2))),
  // The id at the end, as the library of TypeScript writes it, and at the beginning.
  giantLast({ bytes = 0 }, id) {
    write(`{"result":{"x":"${'y'.repeat(bytes)}"},"jsonrpc":"2.0","id":${String(id)}}`);
    return undefined;
  },
  giantFirst({ bytes = 0 }, id) {
    write(`{"jsonrpc":"2.0","id":${String(id)},"result":{"x":"${'y'.repeat(bytes)}"}}`);
    return undefined;
  },
  garbage({ said = '' }) {
    GARBAGE.forEach(write);
    return text(said);
  },
  flood({ lines = 0 }) {
    for (let line = 0; line < lines; line++) process.stderr.write(`flood ${line} ${'z'.repeat(4000)}\n`);
    return text('done');
  },
  progress(_args, _id, meta) {
    const method = 'notifications/progress';
    for (const progress of [1, 2]) send({ method, params: { progressToken: meta?.progressToken, progress, total: 2 } });
    send({ method, params: { progressToken: 'foreign', progress: 9 } });
    return text('done');
  },
  async ask() {
    send({ id: 'q1', method: 'sampling/createMessage', params: {} });
    send({ id: 'q2', method: 'ping' });
    while (asked.length < 2) await pause(10);
    return text(JSON.stringify(asked));
  },
  meta: (_args, _id, meta) => text(JSON.stringify(meta ?? null)),
  child: () => text(String(spawn('sleep', ['300'], { stdio: 'ignore' }).pid)),
  // It leaves the group and holds the output, also when the server ends.
  holder() {
    const { pid } = spawn('sleep', ['300'], { stdio: ['ignore', 'inherit', 'inherit'], detached: true });
    return text(String(pid));
  },
  die: ({ code = 3 }) => process.exit(code),
  fail(_args, id) {
    send({ id, error: { code: -32005, message: 'refused', data: { big: 1 } } });
    return undefined;
  },
};

async function hear(line: string): Promise<void> {
  const { id, method, params = {}, result, error } = JSON.parse(line) as Message;
  if (method === undefined) return void asked.push({ id, result, error: error?.code });
  if (method === 'notifications/cancelled') return void cancelled.push(params.requestId);
  if (id === undefined) return;
  if (method === 'initialize') {
    const capabilities = { tools: { listChanged: true }, logging: {} };
    const serverInfo = { name: 'scripted', version: '1' };
    return send({ id, result: { protocolVersion: '2025-06-18', capabilities, serverInfo } });
  }
  if (method === 'tools/list') {
    const tools = Object.keys(TOOLS).map((name) => ({ name, inputSchema: { type: 'object' } }));
    return send({ id, result: { tools } });
  }
  process.stderr.write(`called ${params.name}\n`);
  const made = await TOOLS[params.name ?? '']?.(params.arguments ?? {}, id, params._meta);
  if (made) send({ id, result: made });
}

createInterface({ input: process.stdin }).on('line', (line) => void hear(line));
