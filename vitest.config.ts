import { defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** What takes minutes comes first: at the end it would keep one of two cores busy alone. */
class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const isLong = ({ moduleId }: TestSpecification): boolean => moduleId.includes('/faults/test/')
    const sorted = await super.sort(files)
    return [...sorted.filter(isLong), ...sorted.filter((file) => !isLong(file))]
  }
}

export default defineConfig({
  // `await using` is older than the targets that have it built in.
  oxc: { target: 'node20' },
  test: {
    include: [
      'packages/*/test/**/*.test.ts',
      'workloads/*/test/**/*.test.ts',
      'faults/test/**/*.test.ts',
      'bench/test/**/*.test.ts',
      'test/**/*.test.ts',
    ],
    globalSetup: ['test/server.ts'],
    // Our own packages are tested as they are shipped: built, and loaded by Node itself.
    server: { deps: { external: [/\/dist\//] } },
    testTimeout: 30_000,
    hookTimeout: 60_000,
    maxWorkers: 2,
    sequence: { sequencer: LongestFirst },
    env: { NODE_OPTIONS: '--enable-source-maps' },
  },
})
