import { inject } from 'vitest';
import { newKey, resource, startGateway, tenant, type GatewayProcess } from '../harness/gateway.ts';
import { createDatabase } from '../harness/postgres.ts';

/** A gateway before MCP servers, with one tenant. */
export interface McpWorld extends AsyncDisposable {
  readonly gateway: GatewayProcess;
  readonly key: string;
  readonly databaseUrl: string;
  /** Other servers or another policy from now on. */
  configure(options: McpWorldOptions): void;
}

export interface McpWorldOptions {
  /** `spec` of each MCPServer, by name; `endpoint` may be the address alone. */
  readonly servers: Readonly<Record<string, { readonly url: string; readonly [field: string]: unknown }>>;
  readonly policy?: object;
  readonly prices?: readonly object[];
  readonly workload?: object;
  /** Where models are asked; absent: nowhere. */
  readonly upstreamUrl?: string;
  readonly provider?: object;
  readonly organization?: object;
  readonly more?: readonly object[];
}

export async function startMcpWorld(
  options: McpWorldOptions,
  env: Readonly<Record<string, string>> = {},
  redisUrl = inject('redisUrl'),
): Promise<McpWorld> {
  const key = newKey();
  const databaseUrl = await createDatabase(inject('databaseUrl'));
  const resources = (wanted: McpWorldOptions): object[] => mcpResources(wanted, key);
  const gateway = await startGateway({
    resources: resources(options),
    redisUrl,
    databaseUrl,
    env,
  });
  return {
    gateway,
    key,
    databaseUrl,
    configure: (wanted) => gateway.configure(resources(wanted)),
    async [Symbol.asyncDispose]() {
      await gateway.stop();
    },
  };
}

/** What describes such a world. */
export function mcpResources(wanted: McpWorldOptions, key: string): object[] {
  return [
    ...tenant({
      upstreamUrl: wanted.upstreamUrl ?? 'http://127.0.0.1:9',
      key,
      ...(wanted.provider && { provider: wanted.provider }),
      ...(wanted.policy && { policy: wanted.policy }),
      ...(wanted.workload && { workload: wanted.workload }),
      ...(wanted.organization && { organization: wanted.organization }),
      prices: [{ model: 'upstream/*', input: '2', output: '8' }, ...(wanted.prices ?? [])],
    }),
    ...Object.entries(wanted.servers).map(([name, { url, ...spec }]) =>
      resource('MCPServer', name, { endpoint: { url }, jurisdiction: 'US', ...spec }),
    ),
    ...(wanted.more ?? []),
  ];
}

export interface Sent {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  readonly body: {
    readonly id?: unknown;
    readonly result?: {
      readonly isError?: boolean;
      readonly content?: readonly { readonly text?: string }[];
      readonly tools?: readonly { readonly name: string; readonly [other: string]: unknown }[];
      readonly [other: string]: unknown;
    };
    readonly error?: { readonly code: number; readonly message: string; readonly data?: Record<string, unknown> };
  };
}

/** Posts one message as it is. */
export async function post(
  world: Pick<McpWorld, 'gateway' | 'key'>,
  path: string,
  message: unknown,
  headers: Readonly<Record<string, string>> = {},
  signal?: AbortSignal,
): Promise<Sent> {
  const response = await fetch(`${world.gateway.url}${path}`, {
    method: 'POST',
    ...(signal && { signal }),
    headers: {
      authorization: `Bearer ${world.key}`,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...headers,
    },
    body: typeof message === 'string' ? message : JSON.stringify(message),
  });
  const text = await response.text();
  const type = response.headers.get('content-type') ?? '';
  // A slow answer comes as a stream, whose last message it is.
  const source = type.startsWith('text/event-stream')
    ? text
        .match(/^data: .*$/gm)
        ?.at(-1)
        ?.slice(6)
    : undefined;
  const json = source ?? (type.startsWith('application/json') ? text : '{}');
  return { status: response.status, headers: response.headers, text, body: JSON.parse(json) as Sent['body'] };
}

export const META = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientCapabilities': {},
  'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
};

/** One request in an era. `more`: headers, such as those that repeat arguments. `signal`: the client leaves. */
export function ask(
  world: Pick<McpWorld, 'gateway' | 'key'>,
  era: 'legacy' | 'modern',
  path: string,
  method: string,
  params: Readonly<Record<string, unknown>> = {},
  more: Readonly<Record<string, string>> = {},
  signal?: AbortSignal,
): Promise<Sent> {
  const { name } = params;
  if (era === 'legacy') return post(world, path, { jsonrpc: '2.0', id: 1, method, params }, more, signal);
  const message = { jsonrpc: '2.0', id: 1, method, params: { ...params, _meta: META } };
  const headers = {
    'mcp-protocol-version': '2026-07-28',
    'mcp-method': method,
    ...(typeof name === 'string' && { 'mcp-name': name }),
    ...more,
  };
  return post(world, path, message, headers, signal);
}

/** The gateway's code, of an error or of a refusal that a model can read; empty for any other answer. */
export function codeOf({ body }: Sent): string {
  const refusal = body.result?.['_meta'] as { 'gatewarden.dev/error'?: { code: string } } | undefined;
  const code = body.error?.data?.['code'] ?? refusal?.['gatewarden.dev/error']?.code;
  return typeof code === 'string' ? code : '';
}

export function textOf({ body }: Sent): string {
  return body.result?.content?.map(({ text }) => text).join('\n') ?? '';
}
