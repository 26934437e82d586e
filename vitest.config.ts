import { defineConfig } from 'vitest/config';
import { PlainReporter } from './test/harness/plain-reporter.ts';

export default defineConfig({
  test: {
    environment: 'node',
    globals: false,
    include: ['src/**/*.test.ts', 'inference/**/*.test.ts', 'test/**/*.test.ts'],
    pool: 'forks',
    maxWorkers: 2,
    testTimeout: 120_000,
    hookTimeout: 60_000,
    expect: { poll: { timeout: 10_000 }, requireAssertions: true },
    includeTaskLocation: true,
    allowOnly: false,
    passWithNoTests: false,
    globalSetup: './test/harness/services.ts',
    reporters: [new PlainReporter()],
  },
});
