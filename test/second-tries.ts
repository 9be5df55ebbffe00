import type { Reporter, TestModule } from 'vitest/node'

/** Lists the tests that passed only when they were tried again: each is one that waits for time, or a race worth a look. */
export default class SecondTries implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const shaky = modules.flatMap((module) =>
      [...module.children.allTests()].flatMap((test) =>
        test.diagnostic()?.flaky === true ? `  ${module.relativeModuleId} > ${test.fullName}` : [],
      ),
    )
    if (shaky.length > 0) console.warn(`Passed at the second try only:\n${shaky.join('\n')}\n`)
  }
}
