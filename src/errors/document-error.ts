import type { DocumentFault, DocumentFaultKind } from '#/ports/documents.ts';
import type { ErrorCode } from './catalogue.ts';
import { GatewayError } from './gateway-error.ts';

const CODES: Readonly<Record<DocumentFaultKind, ErrorCode>> = {
  unsupported: 'document_unsupported',
  unreadable: 'document_unreadable',
  encrypted: 'document_encrypted',
  too_large: 'document_too_large_to_scan',
  too_slow: 'document_too_large_to_scan',
  too_many_pages: 'document_too_large_to_scan',
  active_content: 'document_active_content',
  redaction_failed: 'document_not_anonymized',
  busy: 'upstream_overloaded',
  unavailable: 'document_engine_unavailable',
  absent: 'document_engine_unavailable',
  no_renderer: 'pdf_renderer_unavailable',
};

/** Why a document was not processed, as every surface tells it: the document's fault is 422, the engine's 503. // spec 7.1 */
export function documentError(fault: DocumentFault, param?: string): GatewayError {
  const { kind, message, retryAfterMs } = fault;
  const shouldRetry = mayGoBetter(fault);
  const details = {
    ...(param !== undefined && { param }),
    ...(shouldRetry && retryAfterMs !== undefined && { retryAfterMs }),
    shouldRetry,
  };
  return new GatewayError(CODES[kind], sentence(message), details, { cause: fault });
}

/** Busy and out of reach pass; nothing was done yet, so that to come again repeats nothing. */
function mayGoBetter({ kind, cause }: DocumentFault): boolean {
  if (kind !== 'no_renderer') return kind === 'busy' || kind === 'unavailable';
  return cause instanceof Error && 'kind' in cause && cause.kind === 'unavailable';
}

function sentence(message: string): string {
  return `${message.charAt(0).toUpperCase()}${message.slice(1).replace(/\.$/, '')}.`;
}
