import type { Reporter, TestModule } from 'vitest/node'

/**
 * Lists the tests that passed only when they were tried again, and what the first try failed with: each is one that waits for
 * time, or a race worth a look.
 */
export default class SecondTries implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const shaky = modules.flatMap((module) =>
      [...module.children.allTests()].flatMap((test) => {
        if (test.diagnostic()?.flaky !== true) return []
        const errors = (test.result().errors ?? []).map(({ message, diff = '', stack }) =>
          [`    ${message}`, diff, placeIn(stack)].filter((part) => part !== '').join('\n'),
        )
        return [`  ${module.relativeModuleId} > ${test.fullName}`, ...errors]
      }),
    )
    if (shaky.length > 0) console.warn(`Passed at the second try only:\n${shaky.join('\n')}\n`)
  }
}

const placeIn = (stack = ''): string =>
  stack
    .split('\n')
    .filter((line) => line.includes('.test.ts'))
    .slice(0, 3)
    .join('\n')
