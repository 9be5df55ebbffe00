// Ends a job of a workflow and carries the workflow on in the same transaction: between two links of a chain lies one commit
// then, not two.
//
// Only while nothing else is to be written, and only if it is quick: what the functions of a definition take, and whatever
// else may hinder a workflow, must not keep a result from being written.
import { monotonicMs, within } from '../clock.ts'
import type { Session } from '../store/db.ts'
import { type Settled, type StepEnd, settle } from '../store/settlements.ts'
import { workflowStepPart, workflowTryLock } from '../store/workflows.ts'
import { type Advanced, advanceFrom, type CourseServices } from './course.ts'

/** How long what follows may take, and wait for a lock, before the job's end is written without it. */
export const QUICK_MS = 250

export interface StepSettled extends Settled {
  /** What followed; undefined: nothing does, or somebody else has to see to it. */
  advanced: Advanced | undefined
}

/** Throws what hinders the workflow, too: the job is then to be settled by itself. */
export async function settleStepIn(
  session: Session,
  services: CourseServices,
  settlement: StepEnd,
): Promise<StepSettled> {
  const now = services.clock.databaseNow()
  const { workflowId: id } = settlement
  const [settled, workflow, part] = await Promise.all([
    settle(session, now, [settlement]),
    workflowTryLock(session, id),
    workflowStepPart(session, now, id),
  ])
  const isKnown = settled.due.every(({ name }) => services.definitions.has(name))
  if (workflow === undefined || settled.due.length === 0 || !isKnown) return { ...settled, advanced: undefined }
  const advanced = await quickly(advanceFrom(session, services, { workflow, part }))
  return { won: settled.won, due: [], advanced }
}

class TooSlow extends Error {}

/** A function that blocks the event loop is found out when it is done: the server may have given up the transaction. */
async function quickly<Result>(work: Promise<Result>): Promise<Result> {
  const startedMs = monotonicMs()
  let done: { result: Result } | undefined
  await within(
    QUICK_MS,
    work.then((result) => {
      done = { result }
    }),
  )
  if (done === undefined || monotonicMs() - startedMs > QUICK_MS) throw new TooSlow()
  return done.result
}
