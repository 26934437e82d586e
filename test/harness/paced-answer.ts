import { setTimeout as sleep } from 'node:timers/promises';
import { chat } from './answers.ts';
import type { Answer } from './exchange.ts';
import { gate } from './gate.ts';

/** Answers for as many seconds as the model's name says, a piece a second by the clock; other models at once. */
export const paced: Answer = (exchange) => {
  const { model } = JSON.parse(exchange.request.body) as { readonly model: string };
  const seconds = Number(model);
  if (!(seconds > 0)) return chat({ content: ['Hel', 'lo.'] })(exchange);
  const startedAt = performance.now();
  let passed = 0;
  const pass = async (signal: AbortSignal): Promise<boolean> => {
    const at = startedAt + Math.min(passed++, seconds) * 1000;
    await sleep(Math.max(0, at - performance.now()), undefined, { signal }).catch(() => {});
    return !signal.aborted;
  };
  return chat({ content: Array.from({ length: seconds }, () => 'tick '), gate: { ...gate(), pass } })(exchange);
};
