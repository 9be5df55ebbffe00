// The runs of this process under limits that have `perProcess`.
//
// Such a limit is for what a machine has few of. So all workers of the process share it by its name, whatever clients they
// belong to: this is why the count is the module's, and no object's.
import type { JobContract } from '../contract/job.ts'

const counts = new Map<string, number>()
let lastTurn: Promise<unknown> = Promise.resolve()

/** By limit; of the moment at which it is read. */
export const runsHere: ReadonlyMap<string, number> = counts

export const isLimitedHere = (contract: JobContract): boolean => limitsHere(contract).length > 0

export const beganHere = (contract: JobContract): void => count(contract, 1)

export const endedHere = (contract: JobContract): void => count(contract, -1)

/** One at a time: between the count and the run that is counted, no other worker of the process may count. */
export function inTurn<Result>(work: () => Promise<Result>): Promise<Result> {
  const result = lastTurn.then(work)
  lastTurn = result.catch(() => {})
  return result
}

function count(contract: JobContract, change: 1 | -1): void {
  for (const name of limitsHere(contract)) counts.set(name, (counts.get(name) ?? 0) + change)
}

const limitsHere = ({ queue, limits }: JobContract): string[] =>
  queue.limits.length + limits.length === 0
    ? NONE
    : [...queue.limits, ...limits].flatMap(({ name, perProcess }) => (perProcess === undefined ? [] : name))

const NONE: string[] = []
