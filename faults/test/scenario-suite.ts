import { afterAll, describe, expect, inject, test } from 'vitest'
import type { MutationName } from '#src/harness/mutations'
import { faultServerAt } from '#src/harness/server'
import type { Report, Scenario } from '#src/scenario'
import { scenarios } from '#src/scenarios/index'

const DEADLINE_MS = 300_000
/**
 * A scenario first has to bring its fault about: to catch a worker with jobs in its buffer, say. On a busy machine that
 * can fail. A scenario that failed once must therefore pass so many times in a row.
 */
const PASSES_AFTER_A_FAILURE = 2

/** Mutations show that a scenario can fail. That takes as long as the scenarios, and has a run of its own. */
const isWithMutations = process.env.MILLRACE_TEST_MUTATIONS === 'only'

/** Every scenario whose name begins so: green as it is, or red where it must be under each of its mutations. */
export function testScenarios(...names: string[]): void {
  const server = faultServerAt(inject('serverUrl'), inject('migratedTemplate'))
  afterAll(() => server[Symbol.asyncDispose]())
  const run = (scenario: Scenario, mutation?: MutationName): Promise<Report> =>
    scenario.run({ server, scale: 'short', mutation, seed: 1, note: () => {} })

  for (const name of names) {
    const scenario = scenarios.find((each) => each.name.startsWith(`${name}-`)) as Scenario
    describe(`${scenario.name}: ${scenario.title}`, () => {
      test.skipIf(isWithMutations)('every criterion is met', { timeout: DEADLINE_MS }, () =>
        holds(async () => {
          const report = await run(scenario)
          expect(unmet(report)).toEqual([])
          expect(report.isAsExpected).toBe(true)
        }),
      )
      for (const [mutation, criterion] of Object.entries(scenario.mutations)) {
        test.skipIf(!isWithMutations)(`goes red under ${mutation}: ${criterion}`, { timeout: DEADLINE_MS }, () =>
          holds(async () => {
            const report = await run(scenario, mutation as MutationName)
            expect(unmet(report).map((each) => each.name)).toContain(criterion)
            expect(report.isAsExpected).toBe(true)
          }),
        )
      }
    })
  }
}

/** Runs a check. If it fails, it must pass twice in a row afterwards. */
async function holds(check: () => Promise<void>): Promise<void> {
  try {
    await check()
  } catch (error) {
    console.warn(
      `Failed once, must now pass ${PASSES_AFTER_A_FAILURE} times in a row: ${expect.getState().currentTestName}`,
    )
    console.warn(error)
    for (let pass = 0; pass < PASSES_AFTER_A_FAILURE; pass++) await check()
  }
}

function unmet(report: Report): { name: string; detail: string }[] {
  return report.criteria.filter(({ isMet }) => !isMet).map(({ name, detail }) => ({ name, detail }))
}
