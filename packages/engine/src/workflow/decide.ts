// What a workflow does next, from its rows alone. Pure: whoever asks carries it out, and asks again when something ended.
//
// Asked again after all of it was carried out, it says nothing new. So it may be asked at any time by anybody who holds
// the workflow's lock: after each end of a step, and by a sweep that knows nothing of what happened before.
// One pass over the steps and their edges, however many of them have ended.
import type { Decision, FailurePolicy, Step, StepStatus, WorkflowState, WorkflowStatus } from './graph.ts'

type Stop = 'failed' | 'cancelled'
type Rules = Pick<Step, 'name' | 'after' | 'onFailure' | 'status'>

export function decide(state: WorkflowState): Decision {
  const nothing: Decision = {
    start: [],
    skip: [],
    drop: [],
    cancel: [],
    undo: null,
    stopping: state.stopping,
    status: state.status,
  }
  if (hasEnded(state.status)) return nothing
  const stopping = state.stopping ?? (fatalStep(state.steps) === undefined ? null : 'failed')
  if (stopping === null) return { ...nothing, ...goOn(state) }
  return { ...nothing, stopping, ...stop(state, stopping) }
}

/** Whether nothing happens any more by itself: what follows then is a person's decision. */
export function hasEnded(status: WorkflowStatus): boolean {
  return status !== 'running' && status !== 'stopping' && status !== 'rolling back'
}

/** The first step whose failure, or cancellation by somebody, the workflow does not survive. */
export function fatalStep<S extends Rules>(steps: readonly S[]): S | undefined {
  const failed = new Map<string, S>()
  for (const step of steps) {
    if (step.status === 'failed' || step.status === 'cancelled') failed.set(step.name, step)
  }
  if (failed.size === 0) return undefined
  const policies = new Map<string, Set<FailurePolicy>>()
  for (const { after } of steps) {
    for (const [parent, policy] of Object.entries(after)) {
      if (failed.has(parent)) policies.set(parent, (policies.get(parent) ?? new Set()).add(policy))
    }
  }
  for (const [name, step] of failed) {
    if ((policies.get(name) ?? new Set([step.onFailure])).has('fail')) return step
  }
  return undefined
}

function goOn({ steps, isOpenElsewhere }: WorkflowState): Pick<Decision, 'start' | 'skip' | 'status'> {
  const start: string[] = []
  const skip: string[] = []
  const statuses = new Map<string, StepStatus>()
  let open = 0
  for (const step of steps) {
    let status = step.status
    const next = status === 'waiting' ? nextOf(step, statuses) : undefined
    if (next === 'start') start.push(step.name)
    if (next === 'skip') {
      skip.push(step.name)
      status = 'skipped'
    }
    statuses.set(step.name, status)
    if (status === 'waiting' || status === 'running') open++
  }
  return { start, skip, status: open === 0 && !isOpenElsewhere ? 'completed' : 'running' }
}

/** Undefined: a step before it has not ended. */
function nextOf(step: Step, statuses: ReadonlyMap<string, StepStatus>): 'start' | 'skip' | undefined {
  let next: 'start' | 'skip' = 'start'
  for (const [parent, policy] of Object.entries(step.after)) {
    const status = statuses.get(parent)
    if (status === undefined || status === 'waiting' || status === 'running') return undefined
    if (status !== 'completed' && policy !== 'continue') next = 'skip'
  }
  return next
}

function stop(
  { steps, rollsBack, resumes }: WorkflowState,
  stopping: Stop,
): Partial<Decision> & { status: WorkflowStatus } {
  const drop = namesOf(
    steps.filter(({ status, hasJobs }) => status === 'waiting' || (status === 'running' && !hasJobs)),
  )
  const running = steps.filter(({ status, hasJobs }) => status === 'running' && hasJobs)
  if (running.length > 0) {
    return { drop, cancel: namesOf(running.filter(({ isAskedToStop }) => !isAskedToStop)), status: 'stopping' }
  }
  const undoes = stopping === 'cancelled' || rollsBack
  const done = undoes ? steps.filter(({ canBeUndone, completedJobs }) => canBeUndone && completedJobs > 0) : []
  if (done.some(({ undo }) => undo === 'running')) return { drop, status: 'rolling back' }
  if (resumes) return { takesUp: true, status: 'running' }
  const last = lastOf(done.filter(({ undo }) => undo === 'none'))
  if (last !== undefined) return { drop, undo: last.name, status: 'rolling back' }
  return { drop, status: endOf(done, stopping) }
}

/** The one that completed last. */
function lastOf(steps: readonly Step[]): Step | undefined {
  let last: Step | undefined
  for (const step of steps) {
    if (last === undefined || (step.completedAs ?? 0) > (last.completedAs ?? 0)) last = step
  }
  return last
}

function endOf(done: readonly Step[], stopping: Stop): WorkflowStatus {
  if (done.length === 0) return stopping
  return done.some(({ undo }) => undo === 'failed') ? 'rollback failed' : 'rolled back'
}

function namesOf(steps: readonly Step[]): string[] {
  return steps.map(({ name }) => name)
}
