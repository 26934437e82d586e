import { documentError } from '#/errors/document-error.ts';
import { GatewayError } from '#/errors/gateway-error.ts';
import { DocumentFault, type DocumentEngine } from '#/ports/documents.ts';
import { UpstreamFault, type Incoming, type Outgoing } from '#/ports/provider.ts';
import type { Json, JsonObject } from '#/wire/document/json.ts';
import { madeAnswer } from '../http/made-answer.ts';
import { readOcrRequest } from './ocr-request.ts';

/** Reads a document. Rejects with the `GatewayError` of the document's or the engine's fault, or with `UpstreamFault`. */
export async function recognize(
  { body, model, timeoutMs, signal }: Outgoing,
  engine: DocumentEngine,
): Promise<Incoming> {
  const { file, options, pagesAtMost } = readOcrRequest(JSON.parse(body) as JsonObject);
  const { base64, ...named } = file;
  const bytes = Buffer.from(base64, 'base64');
  const late = AbortSignal.timeout(timeoutMs);
  try {
    const pages = await engine.recognize({ ...named, bytes }, options, AbortSignal.any([signal, late]));
    if (pages.length === 0 && options.pages) {
      throw new GatewayError('invalid_request', 'The document has none of the requested pages.', { param: 'pages' });
    }
    if (pages.length > pagesAtMost) {
      const message = 'The document has more pages than its size allows. List the pages you need in pages.';
      throw new GatewayError('document_too_large_to_scan', message, { param: 'pages' });
    }
    const usage_info = { pages_processed: pages.length, doc_size_bytes: bytes.length };
    return madeAnswer(200, { pages: pages as unknown as readonly Json[], model, usage_info });
  } catch (thrown) {
    if (thrown instanceof DocumentFault) throw documentError(thrown, 'document');
    if (signal.aborted) throw new UpstreamFault('aborted', 'the call was aborted', { cause: thrown });
    if (late.aborted) throw new UpstreamFault('timeout', 'the document took too long', { cause: thrown });
    throw thrown;
  }
}
