import type { ModelFault } from '#/ports/local-models.ts';
import { GatewayError } from './gateway-error.ts';

/** Why a local model gave no answer, as every surface tells it. // spec 4.4.7 */
export function modelError(fault: ModelFault): GatewayError {
  const { kind, retryAfterMs } = fault;
  const [code, message] =
    kind === 'busy'
      ? (['local_model_busy', 'The queue of the local model is full. Send the request again.'] as const)
      : (['local_model_unavailable', 'The local model is not available.'] as const);
  return new GatewayError(code, message, { retryAfterMs }, { cause: fault });
}
