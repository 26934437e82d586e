import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { expect, test } from 'vitest';
import { resource, startGateway } from '../harness/gateway.ts';

const MAIN = new URL('../../src/start.js', import.meta.url).pathname;

test('a gateway that waits for its database ends when it is told to', async () => {
  const sockets: Socket[] = [];
  const silent = createServer((socket) => void sockets.push(socket.on('error', () => {})));
  await once(silent.listen(0, '127.0.0.1'), 'listening');
  const { port } = silent.address() as AddressInfo;
  const child = spawn(process.execPath, [MAIN], {
    stdio: 'ignore',
    env: {
      PATH: process.env['PATH'],
      HOME: process.env['HOME'],
      PORT: '0',
      ADMIN_PORT: '0',
      GW_INFERENCE: 'off',
      DATABASE_URL: `postgres://gateway@127.0.0.1:${port}/ledger`,
    },
  });
  try {
    await once(silent, 'connection');
    child.kill('SIGTERM');
    // By itself, not by the signal.
    expect(await once(child, 'exit')).toEqual([0, null]);
  } finally {
    child.kill('SIGKILL');
    for (const socket of sockets) socket.destroy();
    silent.close();
  }
});

const PROGRAMS = ['src/start.js', 'operators/main.ts', 'inference/main.ts'];

test.each(PROGRAMS)('%s does not start with a misspelt setting, and says which one was meant', async (program) => {
  const child = spawn(process.execPath, [new URL(`../../${program}`, import.meta.url).pathname], {
    stdio: ['ignore', 'ignore', 'pipe'],
    env: { PATH: process.env['PATH'], HOME: process.env['HOME'], GW_LEDGER_JURNAL_MIB: 'hunter2', GW_UNHEARD: '1' },
  });
  let told = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => (told += text));
  const [status] = (await once(child, 'close')) as [number | null];
  expect(status).toBe(2);
  expect(told).toContain('GW_LEDGER_JURNAL_MIB is not a setting of Gatewarden: did you mean GW_LEDGER_JOURNAL_MIB?');
  expect(told).toContain('GW_UNHEARD is not a setting of Gatewarden');
  expect(told).not.toContain('hunter2');
});

test('a gateway does not start with a folder of resources that is refused, and says what is wrong', async () => {
  const broken = resource('Workload', 'broken', { limits: { requestsPerMinute: 0 } });
  const told = await startGateway({ resources: [broken] }).then(
    (gateway) => gateway.stop().then(() => 'it started'),
    (thrown: unknown) => String(thrown),
  );
  expect(told).toContain('ended with 1 before it listened');
  expect(told).toMatch(/the configuration is refused: .*Workload default\/broken: spec.limits.requestsPerMinute/);
});
