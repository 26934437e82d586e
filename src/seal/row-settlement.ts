import type { SealedRow } from '#/ports/ledger.ts';
import type { Settlement } from '#/ports/limit-counters.ts';
import { totalTokens } from '#/wire/answer/usage.ts';
import type { AuditRow } from './row.ts';

/** What a row says its call is to be settled at. */
export function settlementOf(sealed: SealedRow): Settlement {
  const { usage } = JSON.parse(sealed.row) as AuditRow;
  const { callId, organization, cost } = sealed;
  return { callId, organization, cost, tokens: usage ? totalTokens(usage) : 0 };
}
