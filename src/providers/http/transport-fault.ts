import { UpstreamFault } from '#/ports/provider.ts';
import { BrokenAnswer } from './http1/broken-answer.ts';

const NEVER_CONNECTED = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
  'ERR_MACHINE_ADDRESS',
]);

const MESSAGES = {
  connect: 'no connection to the provider',
  reset: 'the provider cut the connection',
  protocol: 'the provider did not speak HTTP',
} as const;

/** Names a transport error without repeating its text, which holds addresses. */
export function classify(error: Error, answered: boolean): UpstreamFault {
  const code = (error as { code?: unknown }).code;
  const name = typeof code === 'string' ? code : 'unknown';
  let kind: keyof typeof MESSAGES = 'reset';
  if (!answered && (NEVER_CONNECTED.has(name) || name.startsWith('ERR_TLS') || name.includes('CERT'))) kind = 'connect';
  else if (error instanceof BrokenAnswer) kind = 'protocol';
  return new UpstreamFault(kind, `${MESSAGES[kind]} (${name})`, { cause: error });
}
