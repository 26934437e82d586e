import { GatewayError, type AttemptReport } from '#/errors/gateway-error.ts';
import { TokenOriginFault, type McpTokenFault } from '#/ports/mcp-servers.ts';

/** The failure of a token endpoint, which is not the server's. */
export function tokenless(thrown: McpTokenFault, name: string, attempts: readonly AttemptReport[]): GatewayError {
  const { kind, retryAfterMs } = thrown;
  const why = {
    refused: 'refused the client of the gateway',
    not_exchanged: 'does not exchange the access token of the caller',
    answer: 'gave no usable access token',
    unreachable: 'cannot be reached',
    busy: 'is asked for too many users at once',
    timeout: 'did not answer in time',
  }[kind];
  const message =
    thrown instanceof TokenOriginFault
      ? `The access token of the caller was not sent to the token endpoint of the MCP server ${name}: its origin is not in GW_MCP_TOKEN_ORIGINS. Ask the administrator of the gateway to add it.`
      : `The token endpoint of the MCP server ${name} ${why}. Nothing was sent to the server.`;
  const report = { cause: kind === 'refused' || kind === 'not_exchanged' ? 'credentials' : 'token', attempts };
  if (kind === 'refused' || kind === 'not_exchanged' || kind === 'answer')
    return new GatewayError('upstream_error', message, { report }, { cause: thrown });
  return new GatewayError(
    'upstream_overloaded',
    message,
    { report, retryAfterMs: retryAfterMs ?? 2000 },
    { cause: thrown },
  );
}
