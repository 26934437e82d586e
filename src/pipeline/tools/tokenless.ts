import { GatewayError, type AttemptReport } from '#/errors/gateway-error.ts';
import type { McpTokenFault } from '#/ports/mcp-servers.ts';

/** The failure of a token endpoint, which is not the server's. */
export function tokenless(thrown: McpTokenFault, name: string, attempts: readonly AttemptReport[]): GatewayError {
  const { kind, retryAfterMs } = thrown;
  const why = {
    refused: 'refused the client of the gateway',
    answer: 'gave no usable access token',
    unreachable: 'cannot be reached',
    timeout: 'did not answer in time',
  }[kind];
  const message = `The token endpoint of the MCP server ${name} ${why}. Nothing was sent to the server.`;
  const report = { cause: kind === 'refused' ? 'credentials' : 'token', attempts };
  if (kind === 'refused' || kind === 'answer')
    return new GatewayError('upstream_error', message, { report }, { cause: thrown });
  return new GatewayError(
    'upstream_overloaded',
    message,
    { report, retryAfterMs: retryAfterMs ?? 2000 },
    { cause: thrown },
  );
}
