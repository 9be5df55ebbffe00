// Where a workflow stands, between its rows and the decision about it. Pure.
import type { LockedWorkflow, StepRow } from '../store/workflows.ts'
import { fatalStep } from './decide.ts'
import type { JobCounts } from './definition.ts'
import type { StepStatus, WorkflowState } from './graph.ts'

/** What the rows say, as the decision takes it. `asked`: the steps whose jobs are being asked to stop just now. */
export function stateOf(
  { status, stopping, rollsBack, resumes }: LockedWorkflow,
  { rows, isOpenElsewhere }: { rows: readonly StepRow[]; isOpenElsewhere: boolean },
  asked: ReadonlySet<string>,
): WorkflowState {
  return {
    status,
    stopping,
    rollsBack,
    resumes,
    isOpenElsewhere,
    steps: rows.map((step) => ({
      name: step.name,
      after: step.after,
      onFailure: step.onFailure,
      canBeUndone: step.canBeUndone,
      hasJobs: hasJobs(step),
      status: step.status,
      undo: step.undo,
      completedJobs: completedJobs(step),
      completedAs: step.completedAs,
      isAskedToStop: asked.has(step.name),
    })),
  }
}

export function completedJobs({ items, itemsLeft, itemsFailed, itemsCancelled }: StepRow): number {
  return (items ?? 0) - itemsLeft - itemsFailed - itemsCancelled
}

/** A workflow that is a step is counted, awaited and asked to stop as a job is. */
const hasJobs = ({ kind }: Pick<StepRow, 'kind'>): boolean => kind === 'jobs' || kind === 'workflow'

/** All jobs of a running step have ended. */
export const hasEndedJobs = ({ status, kind, itemsLeft }: StepRow): boolean =>
  status === 'running' && hasJobs({ kind }) && itemsLeft === 0

/** All jobs that undo a step have ended. */
export const hasEndedUndo = ({ undo, undoLeft }: StepRow): boolean => undo === 'running' && undoLeft === 0

export function endedAs({ itemsFailed, itemsCancelled }: StepRow): StepStatus {
  if (itemsFailed > 0) return 'failed'
  return itemsCancelled > 0 ? 'cancelled' : 'completed'
}

/** Why a workflow fails: what the step says whose failure it does not survive. */
export function failureReason(steps: readonly StepRow[]): string {
  const fatal = fatalStep(steps)
  if (fatal === undefined) return 'a step failed'
  const why = fatal.reason === null ? '' : `: ${fatal.reason}`
  return `step "${fatal.name}" ${fatal.status === 'failed' ? 'failed' : 'was cancelled'}${why}`
}

/**
 * What a resumed workflow does anew: steps that failed or were cancelled, unless a completed one has gone on without them,
 * and what was skipped behind those. So a failure that was lived with is not undone by the way.
 */
export function toRedo(steps: readonly StepRow[]): StepRow[] {
  const isSettled = new Set<string>()
  for (const { name, status, after } of steps.toReversed()) {
    if (status !== 'completed' && !isSettled.has(name)) continue
    for (const parent of Object.keys(after)) isSettled.add(parent)
  }
  const redone = new Set<string>()
  return steps.filter(({ name, status, after }) => {
    if (status === 'completed' || isSettled.has(name)) return false
    if (status === 'skipped' && !Object.keys(after).some((parent) => redone.has(parent))) return false
    redone.add(name)
    return true
  })
}

/** How the jobs of a step ended. */
export function countsOf(step: StepRow): JobCounts {
  const { items, itemsFailed, itemsCancelled } = step
  return { total: items ?? 0, completed: completedJobs(step), failed: itemsFailed + itemsCancelled }
}
