import { defineConfig } from 'vitest/config'
import { Order } from './test/order.ts'

/** The slowest tests, named `….slow.test.ts`, run with `npm run test:all` only. */
const slow = '**/*.slow.test.ts'
/** What a person does with a workload, in a real browser. */
const journeys = 'workloads/*/test/journeys/**/*.test.ts'

const tests = {
  // One more than the two processors they must do with: most tests wait for something now and then.
  maxWorkers: 3,
  globalSetup: ['test/server.ts'],
  setupFiles: ['test/one-connection.ts'],
  // One process runs one file after the other, and loads the engine once.
  isolate: false,
  unstubEnvs: true,
  restoreMocks: true,
}

export default defineConfig({
  // `await using` is older than the targets that have it built in.
  oxc: { target: 'node20' },
  test: {
    // Our own packages are tested as they are shipped: built, and loaded by Node itself.
    server: { deps: { external: [/\/dist\//] } },
    testTimeout: 30_000,
    hookTimeout: 60_000,
    // A second, the default, is too short on a busy machine.
    expect: { poll: { timeout: 25_000 } },
    sequence: { sequencer: Order },
    // `scripts/test.js` runs the tests that failed once more, alone.
    reporters: ['default', './test/failures-report.ts'],
    env: { NODE_OPTIONS: '--enable-source-maps' },
    projects: [
      {
        extends: true,
        test: {
          name: 'tests',
          ...tests,
          include: [
            'packages/!(dashboard)/test/**/*.test.ts',
            'workloads/*/test/**/*.test.ts',
            'examples/*/test/**/*.test.ts',
            'bench/test/**/*.test.ts',
            'test/**/*.test.ts',
          ],
          exclude: ['**/node_modules/**', slow, journeys],
        },
      },
      { extends: true, test: { name: 'slow', ...tests, include: [slow], exclude: ['**/node_modules/**'] } },
      // In a real browser. They come after the others: what they measure with their eyes must not wait for a processor.
      {
        extends: true,
        test: {
          name: 'browser',
          ...tests,
          maxWorkers: 2,
          // A page, a server and a worker share two processors with another file's.
          testTimeout: 60_000,
          sequence: { groupOrder: 1 },
          globalSetup: ['packages/dashboard/test/support/global-setup.ts'],
          include: ['packages/dashboard/test/**/*.test.ts', journeys],
        },
      },
      // No tests: `npm run screenshots`.
      {
        extends: true,
        test: {
          name: 'screenshots',
          ...tests,
          maxWorkers: 1,
          sequence: { groupOrder: 2 },
          globalSetup: ['packages/dashboard/test/support/global-setup.ts'],
          include: ['packages/dashboard/test/**/*.shots.ts'],
        },
      },
      // No tests either: `npm run measure`.
      {
        extends: true,
        test: {
          name: 'measures',
          ...tests,
          maxWorkers: 1,
          sequence: { groupOrder: 2 },
          globalSetup: ['packages/dashboard/test/support/global-setup.ts'],
          include: ['packages/dashboard/test/**/*.measure.ts'],
        },
      },
      // Real processes that are killed, frozen and cut off: they take minutes, and have a run of their own.
      {
        extends: true,
        test: {
          name: 'faults',
          maxWorkers: 2,
          globalSetup: ['test/server.ts'],
          include: ['faults/test/**/*.test.ts'],
        },
      },
    ],
  },
})
