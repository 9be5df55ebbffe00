// How a workflow must have ended, given how its jobs did: worked out from its graph and the archive, without the engine.
import type { FailurePolicy, StepStatus, WorkflowStatus } from 'millrace'

export interface FoundJob {
  id: string
  /** What it was asked to do. */
  n: string
  /** By the archive; 'live': it has not ended. */
  ended: 'completed' | 'failed' | 'cancelled' | 'live'
  createdAt: Date
  finishedAt: Date | null
}

export interface FoundStep {
  name: string
  after: Readonly<Record<string, FailurePolicy>>
  onFailure: FailurePolicy
  canBeUndone: boolean
  status: StepStatus
  done: FoundJob[]
  undone: FoundJob[]
}

export interface FoundFlow {
  id: string
  n: string
  name: string
  status: WorkflowStatus
  rollsBack: boolean
  /** Somebody cancelled it, and was told that it was done. */
  isCancelled: boolean
  steps: FoundStep[]
}

/** What is not as it must be, in words. */
export function wrongEnds(flow: FoundFlow): string[] {
  const { steps } = flow
  const fatal = steps.filter((step) => isBad(endOf(step)) && isFatal(step, steps))
  const isStopped = flow.isCancelled || fatal.length > 0
  const wrong = steps.flatMap((step) => {
    const expected = expectedOf(step, steps, isStopped)
    return expected.includes(step.status) ? [] : `${step.name} is ${step.status}, not ${expected.join(' or ')}`
  })
  const undoes = flow.isCancelled || (fatal.length > 0 && flow.rollsBack)
  for (const step of steps) {
    const expected = undoes && step.canBeUndone ? completed(step.done) : 0
    if (step.undone.length !== expected) wrong.push(`${step.name} has ${step.undone.length} undo jobs, not ${expected}`)
  }
  const status = statusOf(flow, undoes, fatal.length > 0)
  if (flow.status !== status) wrong.push(`it is ${flow.status}, not ${status}`)
  return wrong.map((text) => `${flow.n}: ${text}`)
}

const completed = (jobs: readonly FoundJob[]): number => jobs.filter(({ ended }) => ended === 'completed').length
const isBad = (end: StepStatus | undefined): boolean => end === 'failed' || end === 'cancelled'

/** By its jobs alone; undefined: it has none. */
function endOf({ done }: FoundStep): StepStatus | undefined {
  if (done.length === 0) return undefined
  if (done.some(({ ended }) => ended === 'live')) return 'running'
  if (done.some(({ ended }) => ended === 'failed')) return 'failed'
  return done.some(({ ended }) => ended === 'cancelled') ? 'cancelled' : 'completed'
}

function isFatal({ name, onFailure }: FoundStep, steps: readonly FoundStep[]): boolean {
  const edges = steps.flatMap(({ after }) => after[name] ?? [])
  return (edges.length > 0 ? edges : [onFailure]).includes('fail')
}

function expectedOf(step: FoundStep, steps: readonly FoundStep[], isStopped: boolean): StepStatus[] {
  const parents = Object.entries(step.after).map(([name, policy]) => {
    const parent = steps.find((each) => each.name === name) as FoundStep
    return { policy, end: endOf(parent) ?? parent.status }
  })
  const mayRun = parents.every(({ policy, end }) => end === 'completed' || (policy === 'continue' && end !== 'running'))
  const end = endOf(step)
  // It ran although it must not have.
  if (end !== undefined) return mayRun ? [end] : ['skipped']
  if (isStopped) return mayRun ? ['cancelled'] : ['cancelled', 'skipped']
  return [mayRun ? 'completed' : 'skipped']
}

function statusOf({ steps, isCancelled }: FoundFlow, undoes: boolean, hasFailed: boolean): WorkflowStatus {
  const undone = undoes ? steps.filter((step) => step.canBeUndone && completed(step.done) > 0) : []
  if (undone.some((step) => completed(step.undone) < step.undone.length)) return 'rollback failed'
  if (undone.length > 0) return 'rolled back'
  if (isCancelled) return 'cancelled'
  return hasFailed ? 'failed' : 'completed'
}

/** Steps that were undone while, or after, one was undone that had come before them. */
export function wrongOrder({ n, steps }: FoundFlow): string[] {
  const undone = steps.filter((step) => step.undone.length > 0)
  return undone.flatMap((step) =>
    undone
      .filter((other) => isBefore(other, step, steps))
      .filter((other) => Math.min(...other.undone.map(begun)) < Math.max(...step.undone.map(ended)))
      .map((other) => `${n}: ${other.name} was undone before ${step.name}`),
  )
}

const begun = ({ createdAt }: FoundJob): number => createdAt.getTime()
const ended = ({ finishedAt }: FoundJob): number => finishedAt?.getTime() ?? Number.POSITIVE_INFINITY

function isBefore(one: FoundStep, other: FoundStep, steps: readonly FoundStep[]): boolean {
  return Object.keys(other.after).some(
    (name) => name === one.name || isBefore(one, steps.find((step) => step.name === name) as FoundStep, steps),
  )
}
