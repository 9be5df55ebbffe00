// A workflow with everything that will happen to it: what its jobs do and how long they take, and when somebody cancels it.
import fc from 'fast-check'
import type { FailurePolicy } from '#src/workflow/graph'

export interface PlannedStep {
  name: string
  after: Record<string, FailurePolicy>
  onFailure: FailurePolicy
  canBeUndone: boolean
  /** False: it waits for a signal, which comes after its ticks if its jobs would complete, and otherwise too late. */
  hasJobs: boolean
  /** False: its condition is not met when it could start. */
  isWanted: boolean
  /** How its jobs end; none: a step over an empty list. */
  jobs: readonly ('completed' | 'failed' | 'cancelled')[]
  ticks: number
  /** When asked to stop: after how many ticks it does, with how many jobs completed. Null: it runs to its end. */
  heeds: { ticks: number; completed: number } | null
  /** When the workflow fails meanwhile: how it ends without those of its jobs that have not started; null: all have. */
  withdraws: { ticks: number; completed: number } | null
  undoFails: boolean
}

export interface Plan {
  steps: readonly PlannedStep[]
  rollsBack: boolean
  cancelledAt: number | null
}

export interface Fate {
  status: string
  steps: Record<string, string>
  undone: string[]
}

const policy = fc.constantFrom<FailurePolicy>('fail', 'skip', 'continue')
const outcome = fc.oneof(
  { weight: 4, arbitrary: fc.constant('completed' as const) },
  { weight: 1, arbitrary: fc.constantFrom('failed' as const, 'cancelled' as const) },
)

const stops = fc.option(fc.record({ ticks: fc.integer({ min: 1, max: 3 }), completed: fc.integer({ min: 0, max: 3 }) }))

const bare = fc.record({
  parents: fc.array(fc.record({ back: fc.integer({ min: 1, max: 4 }), policy }), { maxLength: 3 }),
  onFailure: policy,
  canBeUndone: fc.boolean(),
  hasJobs: fc.oneof({ weight: 3, arbitrary: fc.constant(true) }, fc.constant(false)),
  isWanted: fc.oneof({ weight: 5, arbitrary: fc.constant(true) }, fc.constant(false)),
  jobs: fc.array(outcome, { maxLength: 3 }),
  ticks: fc.integer({ min: 1, max: 5 }),
  heeds: stops,
  withdraws: stops,
  undoFails: fc.boolean(),
})

export const plans: fc.Arbitrary<Plan> = fc.record({
  steps: fc.array(bare, { maxLength: 10 }).map((list) =>
    list.map(({ parents, ...step }, i) => ({
      ...step,
      name: `s${i}`,
      after: Object.fromEntries(
        parents.filter(({ back }) => back <= i).map((edge) => [`s${i - edge.back}`, edge.policy]),
      ),
    })),
  ),
  rollsBack: fc.boolean(),
  cancelledAt: fc.option(fc.integer({ min: 0, max: 15 })),
})
