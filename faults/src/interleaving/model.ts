// What one job may go through, as a serial machine: the oracle for concurrent histories.
//
// A history is good when some order of its operations, each actor's own order kept, gives every operation the answer it
// got and ends in the state that was found.

export type RunName = 'first' | 'second'

export interface JobState {
  status: 'pending' | 'processing' | 'completed' | 'cancelled' | 'dead'
  run: RunName | null
  attempt: number
  crashes: number
  isCancelRequested: boolean
  /** The deadline of its run has passed. */
  isOverdue: boolean
  /** The worker of the first run holds no lease any more. The second one's always does. */
  isLeaseEnded: boolean
}

/** What the tables say. The archive does not keep the request to cancel; lease and deadline belong to a run. */
export type FoundState = Pick<JobState, 'status' | 'run' | 'attempt' | 'crashes'> & {
  isCancelRequested: boolean | null
}

export type Operation =
  | { kind: 'finish' | 'fail'; run: RunName }
  | { kind: 'expire' | 'rescue' | 'deadline' | 'cancel-waiting' | 'cancel-running' | 'run-now' | 'claim' }

export interface Observed {
  operation: Operation
  /** Whether the statement says that it did something. */
  didWin: boolean
}

/** The first run goes on beyond its deadline, and its worker has been silent for longer than its lease. */
const initial: JobState = {
  status: 'processing',
  run: 'first',
  attempt: 1,
  crashes: 0,
  isCancelRequested: false,
  isOverdue: true,
  isLeaseEnded: false,
}

/** The state after the operation, or undefined when it finds nothing to do. */
function apply(state: JobState, operation: Operation): JobState | undefined {
  const isRunning = state.status === 'processing'
  const isWaiting = state.status === 'pending'
  switch (operation.kind) {
    case 'finish':
      return isRunning && state.run === operation.run ? { ...state, status: 'completed' } : undefined
    case 'fail':
      return isRunning && state.run === operation.run
        ? { ...state, status: 'pending', crashes: 0, isOverdue: false }
        : undefined
    case 'expire':
      return state.isLeaseEnded ? undefined : { ...state, isLeaseEnded: true }
    case 'rescue':
      if (!isRunning || state.run !== 'first' || !state.isLeaseEnded) return undefined
      return state.isCancelRequested
        ? { ...state, status: 'cancelled' }
        : {
            ...state,
            status: 'pending',
            run: null,
            attempt: state.attempt - 1,
            crashes: state.crashes + 1,
            isOverdue: false,
          }
    case 'deadline':
      return isRunning && state.isOverdue ? { ...state, status: 'dead' } : undefined
    case 'cancel-waiting':
      return isWaiting ? { ...state, status: 'cancelled' } : undefined
    case 'cancel-running':
      return isRunning ? { ...state, isCancelRequested: true } : undefined
    case 'run-now':
      return isWaiting ? state : undefined
    case 'claim':
      return isWaiting
        ? { ...state, status: 'processing', run: 'second', attempt: state.attempt + 1, isOverdue: false }
        : undefined
  }
}

/** These skip a row that somebody holds, and look again at their next turn: finding nothing is always an answer. */
const skipping = new Set<Operation['kind']>(['expire', 'rescue', 'deadline', 'claim'])

/** Is there a serial order? `actors`: what each one observed, in its own order. */
export function hasSerialOrder(actors: readonly (readonly Observed[])[], final: FoundState): boolean {
  const seen = new Set<string>()
  const search = (positions: readonly number[], state: JobState): boolean => {
    const key = JSON.stringify([positions, state])
    if (seen.has(key)) return false
    seen.add(key)
    if (positions.every((position, i) => position === actors[i]?.length)) return isSame(state, final)
    return actors.some((observed, i) => {
      const next = observed[positions[i] as number]
      const after = next === undefined ? undefined : step(state, next)
      return after !== undefined && search(positions.with(i, (positions[i] as number) + 1), after)
    })
  }
  return search(
    actors.map(() => 0),
    initial,
  )
}

/** The state after an operation that answered like this, or undefined where it could not have. */
function step(state: JobState, { operation, didWin }: Observed): JobState | undefined {
  const after = apply(state, operation)
  if (didWin) return after
  return after === undefined || skipping.has(operation.kind) ? state : undefined
}

function isSame(expected: JobState, found: FoundState): boolean {
  return (
    expected.status === found.status &&
    expected.run === found.run &&
    expected.attempt === found.attempt &&
    expected.crashes === found.crashes &&
    (found.isCancelRequested === null || expected.isCancelRequested === found.isCancelRequested)
  )
}
