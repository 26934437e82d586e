import { defineConfig } from 'vitest/config';
import { PlainReporter } from './test/harness/plain-reporter.ts';

export default defineConfig({
  test: {
    environment: 'node',
    globals: false,
    pool: 'forks',
    // One more than processors: suites that start gateways wait for a third of their time.
    maxWorkers: 3,
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
