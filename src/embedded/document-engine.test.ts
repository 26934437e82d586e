import { expect, test } from 'vitest';
import { startEngineChild } from './document-engine.ts';

const alive = (pid: number): boolean => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};

test('an engine that is killed is started again, elsewhere; one that is stopped is not', async () => {
  const deaths: unknown[] = [];
  const child = startEngineChild({
    env: { GW_INFERENCE_WORKERS: '1', LOG_LEVEL: 'silent' },
    onLine: () => {},
    onDeath: (exit) => deaths.push(exit),
  });
  await expect.poll(() => child.url(), { timeout: 60_000 }).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
  const first = child.pid() ?? 0;
  expect((await fetch(`${child.url()}/livez`)).status).toBe(200);

  process.kill(first, 'SIGKILL');
  await expect.poll(() => deaths).toEqual([{ code: null, signal: 'SIGKILL' }]);
  await expect.poll(() => child.url(), { timeout: 60_000 }).toBeDefined();
  const second = child.pid() ?? 0;
  expect(second).not.toBe(first);
  expect((await fetch(`${child.url()}/livez`)).status).toBe(200);

  await child.stop();
  expect([alive(second), child.url(), deaths.length]).toEqual([false, undefined, 1]);
  await child.stop();
});
