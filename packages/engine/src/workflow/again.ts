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
