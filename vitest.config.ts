import { defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

/**
 * Fault scenarios take minutes and need the machine to themselves as far as that goes: spread over the run, one is under
 * way at a time. Together at the end they would disturb each other, and keep one core busy alone.
 */
class SpreadFaults extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const isFault = ({ moduleId }: TestSpecification): boolean => moduleId.includes('/faults/test/')
    const sorted = await super.sort(files)
    const faults = sorted.filter(isFault)
    const others = sorted.filter((file) => !isFault(file))
    const apart = Math.ceil(others.length / Math.max(1, faults.length))
    return [
      ...faults.flatMap((file, i) => [file, ...others.slice(i * apart, (i + 1) * apart)]),
      ...others.slice(faults.length * apart),
    ]
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
    sequence: { sequencer: SpreadFaults },
    env: { NODE_OPTIONS: '--enable-source-maps' },
  },
})
