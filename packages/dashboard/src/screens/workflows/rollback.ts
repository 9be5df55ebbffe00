// What a rollback has done and will do, and what a resume would keep. Pure.
import type { Step, Times, WorkflowDetails } from './workflow-data.ts'

const FEW = 5

export interface Rollback {
  /** The step that is being undone. */
  readonly now: Step | undefined
  /** Those that were undone, and those whose undo failed. */
  readonly done: readonly Step[]
  /** Those that are still to be undone, the next one first. */
  readonly next: readonly Step[]
}

/** One step at a time, the one that completed last first. */
export function rollbackOf(steps: readonly Step[]): Rollback {
  const undoable = steps
    .filter(({ canBeUndone, completed, undo }) => undo !== 'none' || (canBeUndone && completed > 0))
    .toSorted((a, b) => (b.completedAs ?? 0) - (a.completedAs ?? 0))
  return {
    now: undoable.find(({ undo }) => undo === 'running'),
    done: undoable.filter(({ undo }) => undo === 'done' || undo === 'failed'),
    next: undoable.filter(({ undo }) => undo === 'none'),
  }
}

export interface Resume {
  /** Steps whose jobs are not repeated. */
  readonly kept: readonly Step[]
  /** Steps that are done anew. */
  readonly again: readonly Step[]
  /** Steps that have not been done, and follow. */
  readonly follows: readonly Step[]
  readonly keptJobs: number
}

/** What a resume would keep and do anew, if it were asked for now. */
export function resumeOf({ status, steps }: Pick<WorkflowDetails, 'status' | 'steps'>): Resume {
  const isUndone = ({ undo }: Step) => status === 'rolling back' && (undo === 'done' || undo === 'running')
  const kept = steps.filter((step) => step.status === 'completed' && !isUndone(step))
  const again = steps.filter(
    (step) => isUndone(step) || step.status === 'failed' || (step.status === 'cancelled' && step.jobs > 0),
  )
  const follows = steps.filter((step) => !kept.includes(step) && !again.includes(step))
  return { kept, again, follows, keptJobs: kept.reduce((sum, { completed }) => sum + completed, 0) }
}

/** When the undo under way will have ended, going by how fast it went so far. Null: nobody knows. */
export function undoLeftMs(step: Step, times: readonly Times[], now: number): number | null {
  const run = times.find(({ name, kind }) => name === step.name && kind === 'undo')
  const ended = step.completed - step.undoLeft
  // Few say nothing of the rest, and one that is tried again later may take for ever.
  if (run?.startedAt == null || ended < FEW || run.retried > 0) return null
  return ((now - Date.parse(run.startedAt)) / ended) * step.undoLeft
}

/** How long the jobs of a step took together. */
export function tookMs(times: readonly Times[], step: string, kind: Times['kind'] = 'do'): number | null {
  const run = times.find((each) => each.name === step && each.kind === kind)
  if (run?.startedAt == null) return null
  return (run.endedAt === null ? Date.now() : Date.parse(run.endedAt)) - Date.parse(run.startedAt)
}
