import { createHmac, createSecretKey } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Alert, AlertSink } from '#/ports/alerts.ts';

export interface AlertWebhookOptions {
  readonly url: string;
  /** Signs requests: `x-gw-signature: t=<seconds>,v1=<HMAC-SHA256 of "<seconds>.<body>", hexadecimal>`. */
  readonly secret: string;
  /** Between attempts. */
  readonly waitsMs?: readonly number[];
  readonly timeoutMs?: number;
}

const WAITS_MS = [1000, 2000, 4000, 8000];
const TIMEOUT_MS = 5000;

/** Posts alerts as JSON to one address; an answer other than 2xx, or none in time, is tried again, five times in all. */
export function createAlertWebhook(options: AlertWebhookOptions): AlertSink {
  const { url, secret, waitsMs = WAITS_MS, timeoutMs = TIMEOUT_MS } = options;
  const key = createSecretKey(Buffer.from(secret));
  const attempt = async (body: string): Promise<boolean> => {
    const seconds = Math.floor(Date.now() / 1000);
    const signature = createHmac('sha256', key).update(`${seconds}.${body}`).digest('hex');
    try {
      const answer = await fetch(url, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-gw-signature': `t=${seconds},v1=${signature}` },
        body,
        redirect: 'error',
        signal: AbortSignal.timeout(timeoutMs),
      });
      await answer.body?.cancel();
      return answer.ok;
    } catch {
      return false;
    }
  };
  return {
    async deliver(alert) {
      const body = bodyOf(alert);
      for (const wait of waitsMs) {
        if (await attempt(body)) return true;
        await sleep(wait, undefined, { ref: false });
      }
      return attempt(body);
    },
  };
}

function bodyOf({ amount, spent, left, at, ...facts }: Alert): string {
  return JSON.stringify({
    type: 'money.alert',
    ...facts,
    at: new Date(at).toISOString(),
    amount_nano_eur: String(amount),
    spent_nano_eur: String(spent),
    left_nano_eur: String(left),
  });
}
