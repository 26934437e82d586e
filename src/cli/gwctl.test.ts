import { describe, expect, test } from 'vitest';
import { runGwctl } from '../../test/harness/gwctl.ts';

const gwctl = (...args: readonly string[]) => gwctlIn({}, ...args);
const gwctlIn = (env: Readonly<Record<string, string>>, ...args: readonly string[]) => runGwctl(args, { env });

describe('gwctl', () => {
  test('refuses a misspelt setting, and passes over what is no setting of ours', async () => {
    const misspelt = await gwctlIn({ GW_DATADIR: '/tmp', GW_KEY: 'k', GW_URL: 'u' }, 'config', 'check');
    expect(misspelt).toMatchObject({ status: 2, out: '' });
    expect(misspelt.err).toContain('GW_DATADIR is not a setting of Gatewarden: did you mean GW_DATA_DIR?');
    const scripts = await gwctlIn({ GW_KEY: 'k', GW_URL: 'u', GW_MODEL: 'm', GW_STREAMS: '5' }, 'config', 'check');
    expect(scripts.err).toContain('give one folder');
    expect((await gwctlIn({ GW_DATADIR: '/tmp' }, 'config', 'check', '--help')).status).toBe(0);
  });

  test.each([[['--help']], [['-h']], [['help']], [['audit', '--help']]])('%j tells what there is', async (args) => {
    const { status, out, err } = await gwctl(...args);
    expect({ status, err }).toEqual({ status: 0, err: '' });
    for (const command of [
      'audit verify',
      'key create',
      'config check',
      'explain',
      'price explain',
      'price snapshot',
      'price verify',
    ])
      expect(out).toContain(`gwctl ${command} `);
  });

  test.each([
    [['audit', 'verify', '--help'], '--database-url'],
    [['key', 'create', '-h'], '--workload'],
    [['config', 'check', '--help'], '--secrets-dir'],
    [['price', 'explain', '--help'], '--cache-write-5m'],
    [['price', 'snapshot', '--help'], '--tolerance'],
    [['explain', '--help'], '--surface'],
    [['usage', '--help'], '--organization'],
  ])('%j explains the command', async (args, flag) => {
    const { status, out } = await gwctl(...args);
    expect(status).toBe(0);
    expect(out).toContain(flag);
  });

  test.each([
    [[], 'gwctl: the command line'],
    [['audit'], 'there is no command "audit"'],
    [['constructor'], 'there is no command "constructor"'],
    [['key', 'create', '--workload'], 'argument missing'],
    [['config', 'check'], 'give one folder'],
    [['price', 'explain', 'gpt-4o'], 'give one model'],
    [['price', 'snapshot', '--out', 'x'], '--key'],
    [['usage'], '--organization takes'],
    [['usage', '--organization', 'a/b', '--by', 'weather'], 'not "weather"'],
    [['explain', '--model', 'a/b', '--workload', 'x'], '--config DIR'],
    [['explain', '--config', '.', '--model', 'a/b'], '--key NAME or --workload NAME'],
    [['explain', '--config', '.', '--model', 'a/b', '--workload', 'x', '--key', 'y'], '--key NAME or --workload NAME'],
    [['explain', '--config', '.', '--workload', 'x'], '--model ID'],
    [['explain', '--config', '.', '--workload', 'x', '--model', 'a/b', '--surface', 'fax'], 'not "fax"'],
    [['explain', '--config', '.', '--workload', 'x', '--model', 'a/b', '--has', 'tools,wings'], 'not "wings"'],
    [['price', 'explain', 'openai/gpt-4o', '--input', '-1'], 'ambiguous'],
    [['price', 'explain', 'openai/gpt-4o', '--input', '1.5'], 'not a whole number'],
  ])('%j ends with 2 and one line that says why', async (args, reason) => {
    const { status, out, err } = await gwctl(...args);
    expect({ status, out }).toEqual({ status: 2, out: '' });
    expect(err).toContain(reason);
    expect(err).not.toContain('    at ');
  });

  test('a price that is known ends with 0, another with 1', async () => {
    expect(
      (await gwctl('price', 'explain', 'openai/gpt-4o', '--input', '1000', '--cache-write-5m', '2')).out,
    ).toContain('input         1000 x 2.3 EUR per million');
    expect(await gwctl('price', 'explain', 'nobody/nothing')).toMatchObject({ status: 1 });
  });
});
