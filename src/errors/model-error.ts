import type { ModelFault } from '#/ports/local-models.ts';
import { GatewayError } from './gateway-error.ts';

/** Why a local model gave no answer, as every surface tells it. // spec 4.4.7 */
export function modelError(fault: ModelFault): GatewayError {
  const { kind, retryAfterMs } = fault;
  const [code, message] =
    kind === 'busy'
      ? (['local_model_busy', 'The local model has more to do than it can take: send the request again.'] as const)
      : (['local_model_unavailable', 'The local model cannot answer now.'] as const);
  return new GatewayError(code, message, { retryAfterMs }, { cause: fault });
}
