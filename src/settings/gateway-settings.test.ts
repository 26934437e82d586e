import { expect, test } from 'vitest';
import { readSettings } from './gateway-settings.ts';

test('an empty environment is the embedded run', () => {
  const read = readSettings({});
  expect('settings' in read && read.settings).toMatchObject({
    host: '127.0.0.1',
    port: 8080,
    drainSeconds: 300,
    streamSeconds: 3600,
    redisUrl: undefined,
  });
});

test('every fault is reported at once, by the name of its variable and without its value', () => {
  const read = readSettings({
    PORT: '99999',
    REDIS_URL: 'http://secret@x',
    DATABASE_URL: 'nonsense',
    GW_USD_TO_EUR: '0',
    LOG_LEVEL: 'loud',
    GW_BOOTSTRAP_KEY: 'short',
    REDIS_CLUSTER: 'yes',
    GW_BODY_LIMIT_MIB: '1.5',
    GW_ALERT_WEBHOOK_SECRET: 'too short',
  });
  const faults = 'faults' in read ? read.faults : [];
  expect(faults).toHaveLength(10);
  for (const name of [
    'PORT',
    'REDIS_URL',
    'DATABASE_URL',
    'GW_USD_TO_EUR',
    'LOG_LEVEL',
    'GW_BOOTSTRAP_KEY',
    'REDIS_CLUSTER',
    'GW_BODY_LIMIT_MIB',
    'GW_ALERT_WEBHOOK_URL',
    'GW_ALERT_WEBHOOK_SECRET',
  ]) {
    expect(faults.some((fault) => fault.startsWith(name))).toBe(true);
  }
  expect(faults.join()).not.toMatch(/secret|nonsense|loud|99999|too short/);
});

test('an empty variable is no variable, and a development key is for the embedded run', () => {
  expect(readSettings({ REDIS_URL: '', PORT: '' })).toHaveProperty('settings');
  expect(readSettings({ GW_BOOTSTRAP_KEY: 'gw_test_0123456789', GW_CONFIG_DIR: '/x' })).toHaveProperty('settings');
  expect(
    readSettings({ GW_BOOTSTRAP_KEY: 'gw_test_0123456789', GW_CONFIG_DIR: '/x', REDIS_URL: 'redis://r' }),
  ).toHaveProperty('faults');
});

test('documents are processed by a child with bounds of its own, elsewhere, or not at all', () => {
  const url = 'http://engine:8090';
  const inference = (env: Record<string, string>): unknown => {
    const read = readSettings(env);
    return 'settings' in read ? [read.settings.inference, read.settings.inferenceEnv] : read.faults;
  };
  expect(inference({ GW_INFERENCE_WORKERS: '2', OPENAI_API_KEY: 'k' })).toEqual([
    'child',
    { GW_INFERENCE_WORKERS: '2' },
  ]);
  expect(inference({ GW_INFERENCE_URL: url })).toEqual([{ url }, {}]);
  expect(inference({ GW_INFERENCE: 'off', GW_INFERENCE_URL: url })).toEqual(['off', {}]);
  expect(inference({ GW_INFERENCE: 'maybe' })).toEqual(['GW_INFERENCE must be on or off; unset, it is on']);
});

test('published configuration needs a store and the keys of the controller, and no folder', () => {
  const lacking = readSettings({ GW_CONFIG_SOURCE: 'redis', GW_CONFIG_DIR: '/config', GW_GATEWAY_NAME: 'a b' });
  const faults = 'faults' in lacking ? lacking.faults.join('\n') : '';
  for (const part of [
    'needs REDIS_URL',
    'needs GW_CONFIG_KEY_FILE',
    'GW_CONFIG_DIR must not be set',
    'GW_GATEWAY_NAME must',
  ])
    expect(faults).toContain(part);
  const env = { GW_CONFIG_SOURCE: 'redis', REDIS_URL: 'redis://r', GW_CONFIG_KEY_FILE: '/k', GW_GATEWAY_NAME: 'pod-0' };
  const read = readSettings(env);
  expect('settings' in read && read.settings.published).toEqual({ keyFile: '/k', gateway: 'pod-0' });
});
