import { expect, test } from 'vitest';
import { readSettings } from './settings.ts';

test('without an environment it listens on loopback, with bounds', () => {
  expect(readSettings({})).toMatchObject({ settings: { host: '127.0.0.1', port: 8090, child: false, queueLength: 8 } });
});

test('every fault is reported at once, by the name of its variable', () => {
  const read = readSettings({
    PORT: '70000',
    GW_INFERENCE_WORKERS: '0',
    GW_INFERENCE_CHILD: 'yes',
    LOG_LEVEL: 'loud',
    GW_INFERENCE_DEVICE: 'tpu',
  });
  const faults = 'faults' in read ? read.faults.map((fault) => fault.split(' ')[0] ?? '') : [];
  expect(new Set(faults)).toEqual(
    new Set(['PORT', 'GW_INFERENCE_WORKERS', 'GW_INFERENCE_CHILD', 'LOG_LEVEL', 'GW_INFERENCE_DEVICE']),
  );
});
