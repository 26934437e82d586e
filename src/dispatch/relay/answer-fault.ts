import { asGatewayError } from '#/errors/gateway-error.ts';
import { UpstreamFault } from '#/ports/provider.ts';
import { AnswerOutOfBounds } from '#/wire/answer/answer-bounds.ts';
import { NotAJsonObject } from '#/wire/document/document.ts';
import { AmbiguousJson, TooManyValues } from '#/wire/document/scan.ts';
import { SseEventTooLarge } from '#/wire/answer/sse.ts';
import { ReportedFailure } from '../upstream/upstream-error.ts';

/** An error while reading a provider's answer, as the provider's fault if the answer caused it. */
export function answerFault(thrown: unknown): Error {
  if (thrown instanceof UpstreamFault || thrown instanceof ReportedFailure) return thrown;
  if (thrown instanceof SseEventTooLarge || thrown instanceof AnswerOutOfBounds || thrown instanceof TooManyValues) {
    return new UpstreamFault('too_large', thrown.message, { cause: thrown });
  }
  if (thrown instanceof SyntaxError || thrown instanceof AmbiguousJson || thrown instanceof NotAJsonObject) {
    return new UpstreamFault('protocol', 'the answer is not JSON', { cause: thrown });
  }
  // An answer that is nested too deeply overflows the stack.
  if (thrown instanceof RangeError) {
    return new UpstreamFault('protocol', 'the answer is nested too deeply', { cause: thrown });
  }
  return asGatewayError(thrown);
}
