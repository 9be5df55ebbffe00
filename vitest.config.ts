import { defineConfig } from 'vitest/config'

export default defineConfig({
  // `await using` is older than the targets that have it built in.
  oxc: { target: 'node20' },
  test: {
    globalSetup: ['test/server.ts'],
    // Our own packages are tested as they are shipped: built, and loaded by Node itself.
    server: { deps: { external: [/\/dist\//] } },
    testTimeout: 30_000,
    hookTimeout: 60_000,
    maxWorkers: 2,
    env: { NODE_OPTIONS: '--enable-source-maps' },
    projects: [
      {
        extends: true,
        test: {
          name: 'tests',
          include: [
            'packages/*/test/**/*.test.ts',
            'workloads/*/test/**/*.test.ts',
            'bench/test/**/*.test.ts',
            'test/**/*.test.ts',
          ],
        },
      },
      // Real processes that are killed, frozen and cut off: they take minutes, and have a run of their own.
      { extends: true, test: { name: 'faults', include: ['faults/test/**/*.test.ts'] } },
    ],
  },
})
