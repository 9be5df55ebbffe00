// What an action would do to a job, by the state that the job is in. Pure: a preview, a dry run and the run itself ask it.
import { InvalidDefinition } from '../errors.ts'
import type { BulkFacts, BulkOutcome } from '../store/bulk.ts'
import { label, wholeNumber } from './enqueue-options.ts'

export type BulkAction =
  /** Waiting jobs are due at once, dead ones get a new job. */
  | { action: 'retry'; maxAttempts?: number }
  /** Only dead jobs. */
  | { action: 'redrive'; maxAttempts?: number }
  | { action: 'cancel'; reason?: string }
  | { action: 'prioritise'; priority: number }
  | { action: 'fail'; reason: string; final?: boolean }
  /** Archived jobs are forgotten. */
  | { action: 'prune' }
  /** The letters of dead jobs. */
  | { action: 'resolve'; note?: string }
  | { action: 'ignore'; note?: string }

export type BulkActionName = BulkAction['action']

export const BULK_ACTIONS = [
  'retry',
  'redrive',
  'cancel',
  'prioritise',
  'fail',
  'prune',
  'resolve',
  'ignore',
] as const satisfies BulkActionName[]

/** Only a change of priority can be taken back: what the others end or start does not wait for a second thought. */
export const UNDO: Record<BulkActionName, string | null> = {
  prioritise: null,
  retry: 'jobs that were tried again may have run: cancel those that still wait',
  redrive: 'the new jobs may have run: cancel those that still wait',
  cancel: 'cancelled jobs have ended: enqueue the work anew',
  fail: 'failed attempts stay failed: jobs that are dead by it can be redriven',
  prune: 'forgotten jobs are gone',
  resolve: 'a decision about a dead letter stands: enqueue the work anew',
  ignore: 'a decision about a dead letter stands: enqueue the work anew',
}

export interface Judgement {
  readonly outcome: BulkOutcome
  /** Null of a change. */
  readonly reason: string | null
}

type JudgedFacts = Pick<BulkFacts, 'status' | 'isDue' | 'isStep' | 'isArchived' | 'letterStatus'> & { isSame: boolean }

const change: Judgement = { outcome: 'changed', reason: null }
const already = (reason: string): Judgement => ({ outcome: 'already', reason })
const refused = (reason: string): Judgement => ({ outcome: 'refused', reason })

export const GONE: Judgement = refused('it does not exist any more')

export function judge(action: BulkActionName, facts: JudgedFacts): Judgement {
  const { status } = facts
  const isWaiting = status === 'pending' || status === 'failed' || status === 'blocked'
  const isRunning = status === 'processing'
  switch (action) {
    case 'retry':
      if (isWaiting) return facts.isDue ? already('it is due already') : change
      if (isRunning) return already('it runs at this moment')
      return status === 'dead' ? judgeLetter(facts, 'redrive') : refused(`it is ${status}`)
    case 'redrive':
    case 'resolve':
    case 'ignore':
      return status === 'dead' ? judgeLetter(facts, action) : refused(`it is not dead but ${status}`)
    case 'cancel':
      if (isWaiting || isRunning) return change
      return status === 'cancelled' ? already('it is cancelled already') : refused(`it is ${status}`)
    case 'prioritise':
      if (isRunning) return refused('it runs at this moment')
      if (!isWaiting) return refused(`it is ${status}`)
      return facts.isSame ? already('it has this priority already') : change
    case 'fail':
      return isWaiting || isRunning ? change : refused(`it is ${status}`)
    case 'prune':
      if (isWaiting || isRunning) return refused('it has not ended')
      if (facts.isStep) return refused('it goes with its workflow')
      return facts.isArchived ? change : already('the archive has forgotten it')
  }
}

function judgeLetter({ letterStatus, isStep }: JudgedFacts, action: 'redrive' | 'resolve' | 'ignore'): Judgement {
  if (letterStatus === null) return refused('it left no dead letter')
  if (action !== 'redrive') {
    const done = action === 'resolve' ? 'resolved' : 'ignored'
    return letterStatus === done ? already(`its letter is ${done} already`) : change
  }
  if (letterStatus === 'retried') return already('it was redriven before')
  if (letterStatus !== 'pending') return refused(`its letter is ${letterStatus}`)
  return isStep ? refused('it belongs to a workflow: resume that') : change
}

/** The action with what it was given, checked. */
export function checkedAction(given: BulkAction): BulkAction {
  if (!(BULK_ACTIONS as readonly string[]).includes(given.action))
    throw new InvalidDefinition(
      `action is ${JSON.stringify(given.action)}: expected one of ${BULK_ACTIONS.join(', ')}.`,
    )
  if (given.action === 'prioritise') wholeNumber(given.priority, 'priority', 0)
  if (given.action === 'fail' && !label(given.reason, 'reason'))
    throw new InvalidDefinition('`reason` is missing: it is what the jobs will say they failed with.')
  if ('maxAttempts' in given && given.maxAttempts !== undefined) wholeNumber(given.maxAttempts, 'maxAttempts', 1)
  return given
}
