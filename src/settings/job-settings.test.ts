import { expect, test } from 'vitest';
import { readJobSettings } from './job-settings.ts';
import { createReader } from './reader.ts';

const read = (env: Readonly<Record<string, string>>) => {
  const reader = createReader('gateway', env);
  return { settings: readJobSettings(reader), faults: reader.faults };
};

test('jobs are kept in the database for a day unless something else is said', () => {
  expect(read({})).toEqual({
    faults: [],
    settings: {
      files: 'database',
      atOnce: 2,
      waiting: 100,
      storedBytes: 10_240 * 1024 * 1024,
      resultHours: 24,
      addressSeconds: 900,
    },
  });
  expect(read({ GW_JOBS_FILES: '/var/jobs' }).settings.files).toEqual({ folder: '/var/jobs' });
});

test('a bucket needs keys', () => {
  const bucket = { GW_JOBS_FILES: 's3://docs/a/b/', GW_JOBS_REGION: 'eu-central-1' };
  expect(read(bucket).faults).toEqual([
    'a bucket needs credentials: set GW_JOBS_CREDENTIALS_FILE, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY',
  ]);
  const { settings, faults } = read({ ...bucket, AWS_ACCESS_KEY_ID: 'a', AWS_SECRET_ACCESS_KEY: 'b' });
  expect(faults).toEqual([]);
  expect(settings.files).toMatchObject({ bucket: { bucket: 'docs', prefix: 'a/b', region: 'eu-central-1' } });
});

test.each([
  ['GW_JOBS_FILES', 'relative/folder'],
  ['GW_JOBS_FILES', 's3://'],
  ['GW_JOBS_AT_ONCE', '0'],
  ['GW_JOBS_MAX_WAITING', 'many'],
  ['GW_JOBS_MAX_STORED_MIB', '1000000'],
  ['GW_JOBS_RESULT_HOURS', '721'],
  ['GW_JOBS_URL_SECONDS', '-1'],
])('%s=%s is a fault that names it', (name, value) => {
  const { faults } = read({ [name]: value });
  expect(faults).toHaveLength(1);
  expect(faults[0]).toContain(name);
});
