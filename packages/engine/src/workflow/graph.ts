// A started workflow as its rows show it: the steps, what they wait for, and how far each has come.

/** What a failed step means for one that comes after it. */
export type FailurePolicy =
  /** The whole workflow fails. */
  | 'fail'
  /** The later step is skipped, and those after it. */
  | 'skip'
  /** The later step runs all the same, without the result. */
  | 'continue'

export type StepStatus =
  /** Not started: a step before it has not ended. */
  | 'waiting'
  /** Its jobs are enqueued; without any, it waits. */
  | 'running'
  | 'completed'
  | 'failed'
  | 'skipped'
  | 'cancelled'

export type StepKind =
  | 'jobs'
  /** It waits until somebody says something. */
  | 'signal'
  /** It waits until its time has come. */
  | 'sleep'
  /** It is a workflow itself. */
  | 'workflow'

export type UndoStatus = 'none' | 'running' | 'done' | 'failed'

export type WorkflowStatus =
  | 'running'
  /** Something failed or somebody cancelled: nothing starts any more, and what still runs is awaited. */
  | 'stopping'
  | 'rolling back'
  | 'completed'
  | 'failed'
  | 'cancelled'
  | 'rolled back'
  | 'rollback failed'

export interface Step {
  name: string
  /** The steps before it, and what the failure of each means for this one. */
  after: Readonly<Record<string, FailurePolicy>>
  /** What its failure means for the workflow if no step comes after it. */
  onFailure: FailurePolicy
  canBeUndone: boolean
  /** False: it waits for a signal or a time, and when the workflow stops, nobody waits for it. */
  hasJobs: boolean
  status: StepStatus
  undo: UndoStatus
  /** How many of its jobs have completed: what there is to undo, also where the step as a whole failed. */
  completedJobs: number
  /** In which order the steps ended of which some job completed, from 1; null before, and where none did. */
  completedAs: number | null
  /** What this stop means for its jobs was done: they were cancelled where they waited, or asked to stop. */
  isAskedToStop: boolean
}

export interface WorkflowState {
  status: WorkflowStatus
  /** Why it stops, once it does. */
  stopping: 'failed' | 'cancelled' | null
  /** False: after a failure it stays as it is, until somebody resumes it or rolls it back. */
  rollsBack: boolean
  /** It is rolling back, and goes on with what is left once the undo under way has ended. */
  resumes: boolean
  /** In the order of their declaration: a step comes after those it waits for. */
  steps: readonly Step[]
  /** There are others, which wait or run, and about which nothing can be decided now. */
  isOpenElsewhere: boolean
}

/** What to do next. Everything in it is done in one transaction, under the lock of the workflow's row. */
export interface Decision {
  start: string[]
  skip: string[]
  /** Steps that will not start any more, or wait without jobs: they become cancelled. */
  drop: string[]
  /** Running steps: cancel what waits of their jobs. If somebody cancels the workflow, ask what runs to stop, too. */
  cancel: string[]
  /** The step to undo now: one at a time, the last completed first. */
  undo: string | null
  /** The rollback is given up: what was undone is done anew. Nothing else is decided before that is carried out. */
  takesUp?: true
  stopping: 'failed' | 'cancelled' | null
  status: WorkflowStatus
}
