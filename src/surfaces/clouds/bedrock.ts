import { GatewayError } from '#/errors/gateway-error.ts';
import { messagesEnvelope } from '#/errors/envelopes.ts';
import { messagesCodec } from '#/wire/messages/codec.ts';
import { isObject } from '#/wire/document/json.ts';
import type { AuthenticatedRequest, Endpoint } from '../endpoint/endpoint.ts';
import { messagesHeaders } from '../messages/headers.ts';
import { messagesProtocol } from '../messages/protocol.ts';
import type { RequestHeaders, ClientProtocol } from '../endpoint/client-protocol.ts';
import { eventFrames } from './frames.ts';
import { asMessages, readBody } from './hosted-body.ts';

/** What AWS calls a status; its clients know a failure by this name. // wire-formats 1.2 */
const ERROR_TYPES: Readonly<Record<number, string>> = {
  401: 'UnrecognizedClientException',
  402: 'ServiceQuotaExceededException',
  403: 'AccessDeniedException',
  404: 'ResourceNotFoundException',
  424: 'ModelErrorException',
  429: 'ThrottlingException',
  500: 'InternalServerException',
  503: 'ServiceUnavailableException',
  504: 'ModelTimeoutException',
  529: 'ServiceUnavailableException',
};

/** Headers of the service that change what a model may say; nothing here applies them, so they must not pass unheard. */
const GUARDRAIL = 'x-amzn-bedrock-guardrailidentifier';

/** Claude as Amazon Bedrock's clients speak to it: the messages protocol, its streams in binary frames. */
export const bedrockProtocol: ClientProtocol = {
  ...messagesProtocol,
  idHeaders: ['x-request-id', 'x-amzn-requestid'],
  failure: (error, callId) => ({ message: error.message, ...messagesEnvelope(error, callId) }),
  failureHeaders: ({ status }) => ({ 'x-amzn-errortype': ERROR_TYPES[status] ?? 'ValidationException' }),
  readHeaders,
  framing: eventFrames,
};

function readHeaders(headers: RequestHeaders): RequestHeaders {
  if (headers[GUARDRAIL] !== undefined) {
    const message = 'Guardrails of Amazon Bedrock are not supported. Remove the header, and use policies instead.';
    throw new GatewayError('invalid_request', message, { param: GUARDRAIL });
  }
  // The protocol's version and beta flags stand in the body here.
  const { 'anthropic-beta': _beta, 'vendor-beta': _vendorBeta, 'anthropic-version': _version, ...rest } = headers;
  return messagesHeaders(rest);
}

const MODEL = '/model/:model';

/** `InvokeModel` and its stream. */
export const BEDROCK_DOORS: readonly Endpoint[] = [
  { operation: 'invoke', stream: false },
  { operation: 'invoke-with-response-stream', stream: true },
].map(({ operation, stream }) => ({
  surface: 'messages',
  paths: [`${MODEL}/${operation}`],
  codec: messagesCodec,
  protocol: bedrockProtocol,
  receive: (text, { model = '' }, authenticated, signal) =>
    asMessages(text, { cloud: 'bedrock', model, stream }, authenticated, signal),
}));

const SERVED = /^\/model\/[^/]+\/(?:invoke|invoke-with-response-stream|count-tokens)$/;

/** Whether something is served at a path, by whatever method. */
export function isBedrockPath(path: string): boolean {
  return SERVED.test(path);
}

export const BEDROCK_COUNT = `${MODEL}/count-tokens`;

/** The request within a `CountTokens` request. Throws `invalid_request`. */
export async function countedRequest(
  text: string,
  authenticated: AuthenticatedRequest,
  signal: AbortSignal,
): Promise<string> {
  const { input } = (await readBody(text, authenticated, signal)).body;
  const invoke = isObject(input) ? input['invokeModel'] : undefined;
  const bytes = isObject(invoke) ? invoke['body'] : undefined;
  if (typeof bytes === 'string') return Buffer.from(bytes, 'base64').toString('utf8');
  throw new GatewayError(
    'invalid_request',
    'input.invokeModel.body must be a request to the model, encoded in base64.',
    {
      param: 'input',
    },
  );
}
