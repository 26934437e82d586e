import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { AuditRow } from '#/seal/row.ts';
import type { DocumentWorld } from '../documents/world.ts';
import { rowOf } from '../harness/ledger-rows.ts';
import { ask, type Sent } from './world.ts';

/** Helpers to call the gateway's own tools, and to compare them with the endpoints that do the same. */

interface Asking {
  readonly as?: string;
  readonly era?: 'legacy' | 'modern';
  readonly path?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Calls a method of `/v1/mcp/gw`, or of another path. */
export function askOwn(
  world: DocumentWorld,
  method: string,
  params: Readonly<Record<string, unknown>> = {},
  { as = 'app', era = 'modern', path = '/v1/mcp/gw', headers = {} }: Asking = {},
): Promise<Sent> {
  return ask({ gateway: world.gateway, key: world.keys[as] ?? '' }, era, path, method, params, headers);
}

/** Calls a tool at `/v1/mcp/gw`. */
export function callOwn(world: DocumentWorld, name: string, args: object, as = 'app'): Promise<Sent> {
  return askOwn(world, 'tools/call', { name, arguments: args }, { as });
}

/** Names of the tools that a workload is offered. */
export async function namesFor(world: DocumentWorld, as: string, path = '/v1/mcp/gw'): Promise<readonly string[]> {
  const { body } = await askOwn(world, 'tools/list', {}, { as, path });
  return body.result?.tools?.map(({ name }) => name) ?? [];
}

/** The code of a result that says it failed. */
export function codeOf({ body }: Sent): unknown {
  const meta = body.result?.['_meta'] as Record<string, { code?: unknown }> | undefined;
  return body.result?.isError === true ? meta?.['gatewarden.dev/error']?.code : undefined;
}

export function rowAfter(world: DocumentWorld, sent: Pick<Sent, 'headers'>): Promise<AuditRow> {
  return rowOf(world.databaseUrl, sent.headers.get('x-request-id'));
}

/** What calls over HTTP and through a tool must have in common: all but when they were made, and where. */
export function comparable(row: AuditRow): object {
  const without = (fields: object, ...names: readonly string[]): object =>
    Object.fromEntries(Object.entries(fields).filter(([name]) => !names.includes(name)));
  const attempts = row.attempts.map((attempt) => without(attempt, 'duration_ms'));
  return { ...without(row, 'at', 'call_id', 'duration_ms', 'sequence', 'strand', 'surface'), attempts };
}

const PEERS = join(import.meta.dirname, '../../tools/mcp');
const run = promisify(execFile);

/** Clients of others that list and call a tool. */
export const CLIENTS: readonly (readonly [script: string, mode: string])[] = [
  ['sdk-v1-client.js', ''],
  ['sdk-v2-client.js', ''],
  ['sdk-v2-client.js', 'auto'],
];

export interface SdkReport {
  readonly names: readonly string[];
  readonly result: {
    readonly isError?: boolean;
    readonly structuredContent?: Readonly<Record<string, unknown>>;
    readonly content: readonly { readonly type: string; readonly text?: string }[];
  };
}

/** Has such a client list the tools at a path and call one: it checks results against the output schema. */
export async function bySdk(
  world: DocumentWorld,
  [script, mode]: readonly [string, string],
  tool: string,
  args: object,
  path = '/v1/mcp/gw',
): Promise<SdkReport> {
  const given = [join(PEERS, script), `${world.gateway.url}${path}`, world.keys['app'] ?? '', tool];
  const more = mode === '' ? [] : [mode];
  const { stdout } = await run(process.execPath, [...given, JSON.stringify(args), ...more], { timeout: 40_000 });
  return JSON.parse(stdout) as SdkReport;
}
