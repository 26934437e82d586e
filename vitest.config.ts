import { defineConfig } from 'vitest/config';
import { LongFirst } from './test/harness/long-first.ts';
import { PlainReporter } from './test/harness/plain-reporter.ts';

export default defineConfig({
  test: {
    environment: 'node',
    globals: false,
    pool: 'forks',
    // More than two processors need, as suites wait for more than half of their time: for starts, ticks and time-outs.
    maxWorkers: 5,
    sequence: { sequencer: LongFirst },
    testTimeout: 120_000,
    hookTimeout: 60_000,
    expect: { poll: { timeout: 10_000 }, requireAssertions: true },
    includeTaskLocation: true,
    allowOnly: false,
    passWithNoTests: false,
    globalSetup: './test/harness/shared-servers.ts',
    reporters: [new PlainReporter()],
    projects: [
      // Beside the code, and without state of their own in modules: files share a process and what it has loaded.
      {
        extends: true,
        test: {
          name: 'units',
          isolate: false,
          include: ['src/**/*.test.ts', 'inference/**/*.test.ts', 'bridge/**/*.test.ts'],
        },
      },
      { extends: true, test: { name: 'suites', include: ['test/**/*.test.ts'] } },
    ],
  },
});
