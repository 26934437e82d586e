import { readFileSync, globSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { unknownSettingFaults } from './unknown-settings.ts';

const ROOT = join(import.meta.dirname, '../..');

describe('a variable that is no setting', () => {
  test('is reported with the setting that was probably meant, and without its value', () => {
    expect(
      unknownSettingFaults({ GW_LEDGER_JURNAL_MIB: 'hunter2', PATH: '/bin', GWX: '1', GW_BODY_LIMIT_MIB: '1' }),
    ).toEqual(['GW_LEDGER_JURNAL_MIB is not a setting of Gatewarden: did you mean GW_LEDGER_JOURNAL_MIB?']);
    expect(unknownSettingFaults({ GW_FROBNICATE: 'x' })).toEqual([
      'GW_FROBNICATE is not a setting of Gatewarden: remove it, or give it another prefix',
    ]);
    expect(unknownSettingFaults({ GW_FROBNICATE: '' })).toEqual([]);
  });

  test('is not one that Kubernetes sets for the Services around a pod', () => {
    const links = (service: string) => ({
      [`${service}_SERVICE_HOST`]: '10.0.0.7',
      [`${service}_SERVICE_PORT`]: '8080',
      [`${service}_SERVICE_PORT_HTTP`]: '8080',
      [`${service}_PORT`]: 'tcp://10.0.0.7:8080',
      [`${service}_PORT_8080_TCP`]: 'tcp://10.0.0.7:8080',
      [`${service}_PORT_8080_TCP_PROTO`]: 'tcp',
      [`${service}_PORT_8080_TCP_PORT`]: '8080',
      [`${service}_PORT_8080_TCP_ADDR`]: '10.0.0.7',
    });
    expect(unknownSettingFaults({ ...links('GW'), ...links('GW_GATEWARDEN'), ...links('GW_INFERENCE') })).toEqual([]);
    expect(unknownSettingFaults({ GW_INFERENCE_PORT: '8090' })).toHaveLength(1);
  });
});

test('what documents, chart, images and samples name is a setting', () => {
  const files = globSync(
    ['*.md', 'docs/**/*.md', 'Dockerfile', 'inference/Dockerfile', 'charts/**/*.{yaml,tpl}', 'k8s/**/*.yaml'],
    { cwd: ROOT },
  );
  const named = files.flatMap(
    (file) => readFileSync(join(ROOT, file), 'utf8').match(/\bGW_[A-Z0-9_]*[A-Z0-9]\b/g) ?? [],
  );
  expect(named.length).toBeGreaterThan(50);
  expect(unknownSettingFaults(Object.fromEntries(named.map((name) => [name, '1'])))).toEqual([]);
});
