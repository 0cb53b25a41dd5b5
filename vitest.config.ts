import { defineConfig } from 'vitest/config'
import LongestFirst from './scripts/longest-first.mjs'

export default defineConfig({
  test: {
    include: ['{server,inbox,dashboard,cli,chaos,bench}/{src,test}/**/*.test.ts', 'scripts/**/*.test.ts'],
    globalSetup: 'server/test/global-setup.ts',
    setupFiles: 'server/test/setup.ts',
    // Generous, for busy machines: no test waits for time to pass.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 30_000 } },
    reporters: ['default', './scripts/count-reporter.mjs'],
    pool: 'forks',
    sequence: { sequencer: LongestFirst },
    // Files of one worker share what is loaded: reading the service anew for each took more than half of all the time.
    isolate: false,
    maxWorkers: 4,
    // As the service runs: with the default of 16 MB a worker spends much of its time collecting young objects.
    execArgv: ['--max-semi-space-size=64'],
  },
})
