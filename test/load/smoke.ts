import { check } from 'k6';
import http from 'k6/http';
import type { Options } from 'k6/options';
import { ask, CHAT, MESSAGES } from './lib/calls.ts';
import { GATEWAYS, KEYS } from './lib/settings.ts';

/** Whether a deployment is up: every gateway answers every key on each surface, buffered and streamed, and no other. */
export const options: Options = {
  scenarios: { once: { executor: 'per-vu-iterations', exec: 'once', vus: 1, iterations: 1 } },
  thresholds: { checks: ['rate==1'], gw_errors: ['rate==0'] },
};

export function once(): void {
  for (const gateway of GATEWAYS) {
    for (const [client, key] of KEYS.entries()) {
      for (const door of [CHAT, MESSAGES]) {
        for (const stream of [false, true]) {
          const name = `${gateway}${door.path}${stream ? ' streams' : ' answers'}`;
          check(ask({ door, client, stream, gateway }), { [name]: (whole) => whole });
        }
      }
      const models = http.get(`${gateway}/v1/models`, {
        headers: { authorization: `Bearer ${key}` },
        responseType: 'text',
      });
      check(models, {
        [`${gateway} lists models`]: ({ status, body }) => status === 200 && body.includes('"id"'),
      });
    }
    const stranger = http.get(`${gateway}/v1/models`, { headers: { authorization: 'Bearer nobody' } });
    check(stranger, { [`${gateway} refuses an unknown key`]: ({ status }) => status === 401 });
  }
}
