import { writeFileSync } from 'node:fs'
import type { Reporter, SerializedError, TestCase, TestModule } from 'vitest/node'

/** Tells `scripts/test.js` which tests failed, and whether nothing else went wrong. */
export default class FailuresReport implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], unhandled: readonly SerializedError[]): void {
    const path = process.env.MILLRACE_TEST_REPORT
    if (path === undefined) return
    const failures = modules.flatMap((module) =>
      [...module.children.allTests('failed')].map((test) => ({
        file: module.relativeModuleId,
        name: titles(test).join(' '),
      })),
    )
    const passed = modules.flatMap((module) => [...module.children.allTests('passed')]).length
    const isBroken = modules.some((module) => module.errors().length > 0 || hasBrokenSuite(module))
    writeFileSync(path, JSON.stringify({ failures, passed, isOnlyTests: unhandled.length === 0 && !isBroken }))
  }
}

/** A hook that failed: its tests were skipped, and would be missing from the second run, too. */
const hasBrokenSuite = (module: TestModule): boolean =>
  [...module.children.allSuites()].some((suite) => suite.errors().length > 0)

/** The titles of suites and test. Joined by spaces, they are what `vitest -t` compares with. */
function titles(test: TestCase): string[] {
  const above: string[] = []
  for (let parent = test.parent; parent.type === 'suite'; parent = parent.parent) above.unshift(parent.name)
  return [...above, test.name]
}
