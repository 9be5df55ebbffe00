// What a workflow that has ended begins anew. Pure: changes the rows it is given, and returns the steps that were changed.
import type { LockedWorkflow, StepRow } from '../store/workflows.ts'
import { toRedo } from './standing.ts'

/** What did not complete is done anew; what did stays, as does its place in the order of what is undone. */
export function doAgain(workflow: LockedWorkflow, steps: readonly StepRow[]): StepRow[] {
  workflow.status = 'running'
  workflow.stopping = null
  workflow.reason = null
  const open = toRedo(steps)
  for (const step of open) step.status = 'waiting'
  return open
}

/** The rollback goes on where it failed. */
export function undoAgain(workflow: LockedWorkflow, steps: readonly StepRow[]): StepRow[] {
  workflow.status = 'rolling back'
  const open = steps.filter(({ undo }) => undo === 'failed')
  for (const step of open) step.undo = 'none'
  return open
}

/** It goes on with what is left once the undo under way has ended. */
export function resumeLater(workflow: LockedWorkflow): StepRow[] {
  workflow.status = 'rolling back'
  workflow.resumes = true
  return []
}

/**
 * A rollback is given up: what was undone is done anew, with what did not complete. The rest stays, also where its undo failed.
 * `undone`: how many jobs of each step were, by its position.
 */
export function takeUp(
  workflow: LockedWorkflow,
  steps: readonly StepRow[],
  undone: ReadonlyMap<number, number>,
): StepRow[] {
  Object.assign(workflow, { status: 'running', stopping: null, reason: null, resumes: false })
  const touched = steps.filter(({ undo }) => undo !== 'none')
  const again = new Set<StepRow>()
  for (const step of touched) {
    const jobs = step.kind === 'workflow' ? 1 : (undone.get(step.position) ?? 0)
    Object.assign(step, { undo: 'none', undoLeft: 0, undoFailed: 0 })
    if (jobs === 0) {
      step.reason = null
      continue
    }
    Object.assign(step, { status: 'cancelled', itemsCancelled: step.itemsCancelled + jobs })
    again.add(step)
  }
  for (const step of toRedo(steps)) again.add(step)
  for (const step of again) step.status = 'waiting'
  return [...new Set([...touched, ...again])]
}
