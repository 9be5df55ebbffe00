import { writeFileSync } from 'node:fs'
import type { Reporter, SerializedError, TestCase, TestModule } from 'vitest/node'

interface Failure {
  readonly file: string
  /** With the titles of its suites. */
  readonly name: string
}

/** Tells `scripts/test.js` which tests failed, and whether nothing else went wrong. */
export default class FailuresReport implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], unhandled: readonly SerializedError[]): void {
    const path = process.env.MILLRACE_TEST_REPORT
    if (path === undefined) return
    const failures = modules.flatMap((module) => [...module.children.allTests('failed')].map(failureOf(module)))
    const passed = modules.flatMap((module) => [...module.children.allTests('passed')]).length
    const isBroken = modules.some((module) => module.errors().length > 0 || hasBrokenSuite(module))
    const strays = unhandled.map((error) => testOf(error, modules))
    const isOnlyTests = strays.every((stray) => stray !== undefined) && !isBroken
    writeFileSync(path, JSON.stringify({ failures: unique([...failures, ...strays]), passed, isOnlyTests }))
  }
}

/** An error outside of any test is a failure of the test that ran when it came. Undefined: nobody knows which that was. */
function testOf(error: SerializedError, modules: readonly TestModule[]): Failure | undefined {
  const module = modules.find(({ moduleId }) => moduleId === error.VITEST_TEST_PATH)
  const test = module && [...module.children.allTests()].find(({ name }) => name === error.VITEST_TEST_NAME)
  return module && test && failureOf(module)(test)
}

const failureOf =
  ({ relativeModuleId: file }: TestModule) =>
  (test: TestCase): Failure => ({ file, name: titles(test).join(' ') })

const unique = (failures: readonly (Failure | undefined)[]): Failure[] => {
  const known = failures.filter((failure) => failure !== undefined)
  return [...new Map(known.map((failure) => [`${failure.file} ${failure.name}`, failure])).values()]
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
