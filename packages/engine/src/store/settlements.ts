// How a run ends. Three statements, each fenced by (id, run_id) and each returning the runs it won.
import type { Now } from '../clock.ts'
import type { Retention } from '../contract/job.ts'
import type { DeadReason } from '../contract/redrive.ts'
import type { Failure } from '../failure.ts'
import { jsonArray, plainArray, sharedArray, sparseArray, textArray } from './arrays.ts'
import type { Session } from './db.ts'
import { escalationStops, type StoppedRun } from './escalations.ts'
import { compareIds } from './job-id.ts'
import { type DueWorkflow, type EndedItem, workflowSettle } from './workflow-items.ts'

export interface RecordedFailure extends Failure {
  /** JSON text: the last log lines of the run. */
  logs: string | null
}

interface RunKey {
  id: string
  runId: string
}

interface EndKey extends RunKey {
  /** Of a workflow's job: the workflow is told in the same transaction. */
  workflowId?: string | null
}

/** The job is over: it completed, or was cancelled on purpose. */
export interface Finish extends EndKey {
  kind: 'finish'
  status: 'completed' | 'cancelled'
  /** JSON text. */
  result: string | null
  /** Null of a cancelled one: the reason of whoever asked. */
  reason: string | null
  /** JSON text: the last log lines of the run, where they are kept. */
  logs?: string | null
  retention: Retention
  /** The budget that is spent, if that is why. */
  stoppedBy?: string
}

/** The job goes on waiting. */
export interface Requeue extends RunKey {
  kind: 'requeue'
  /** Null: as if it had not been claimed, it keeps its place in the queue. */
  delayMs: number | null
  /** True: this run does not count as an attempt. */
  refund: boolean
  /** What the run says about crashes: an outcome was recorded, it never started, or its process died. */
  crash: 'clear' | 'keep' | 'count'
  failure: RecordedFailure | null
}

/** The job has failed for good. */
export interface Bury extends EndKey {
  kind: 'bury'
  reason: DeadReason
  failure: RecordedFailure
  retention: Retention
  /** True: no dead letter, the contract says it may be dropped. */
  drop: boolean
}

export type Settlement = Finish | Requeue | Bury

/** Back to the queue as if it had not been claimed. */
export function giveBack({ id, runId }: RunKey): Requeue {
  return { kind: 'requeue', id, runId, delayMs: null, refund: true, crash: 'keep', failure: null }
}

/** Whether it ends a workflow's job, which takes two statements that belong together. */
export const endsStep = (settlement: Settlement): boolean =>
  settlement.kind !== 'requeue' && settlement.workflowId != null

const stopOf = (settlement: Settlement): StoppedRun[] =>
  settlement.kind === 'finish' && settlement.stoppedBy !== undefined
    ? [{ id: settlement.id, runId: settlement.runId, budget: settlement.stoppedBy }]
    : []

/** Whether it takes several statements that belong together: it ends a workflow's job, or its budget is spent. */
export const needsTransaction = (settlement: Settlement): boolean =>
  endsStep(settlement) || stopOf(settlement).length > 0

/** A job of a workflow has completed. */
export type StepEnd = Finish & { workflowId: string }

export const completesStep = (settlement: Settlement): settlement is StepEnd =>
  settlement.kind === 'finish' && settlement.status === 'completed' && settlement.workflowId != null

export interface Settled {
  /** Those whose fence held. */
  won: ReadonlySet<Settlement>
  /** Workflows of their jobs in which something may follow. */
  due: readonly DueWorkflow[]
}

/**
 * Writes settlements of one kind, none of the same job as another. Only in a transaction if one of them needs it; all statements are asked for before one is awaited. `isOwn`: false if that transaction is a handler's.
 */
export async function settle(
  session: Session,
  now: Now,
  batch: readonly Settlement[],
  { isOwn = true } = {},
): Promise<Settled> {
  const stops = batch.flatMap(stopOf)
  const escalating = stops.length > 0 ? escalationStops(session, now, stops) : undefined
  const winning = settleJobs(session, now, batch)
  if (escalating === undefined && !batch.some(endsStep)) return { won: await winning, due: [] }
  const ended = batch.flatMap(endedItem)
  const telling = ended.length > 0 ? workflowSettle(session, ended, { isOwn }) : []
  const [won, due] = await Promise.all([winning, telling, escalating])
  return { won, due }
}

function endedItem(settlement: Settlement): EndedItem[] {
  if (!endsStep(settlement)) return []
  const { id: jobId } = settlement
  if (settlement.kind === 'finish') {
    const { status, result, reason } = settlement
    return [{ jobId, status, result, reason: status === 'cancelled' ? (reason ?? 'cancelled on request') : reason }]
  }
  const { reason, failure } = settlement as Bury
  return [{ jobId, status: 'failed', result: null, reason: `${reason}: ${failure.message}` }]
}

async function settleJobs(session: Session, now: Now, batch: readonly Settlement[]): Promise<Set<Settlement>> {
  const sorted = [...batch].sort((a, b) => compareIds(a.id, b.id))
  const [first] = sorted
  if (first === undefined) return new Set()
  const rows = await statements[first.kind](session, now, sorted as never[])
  if (rows.length === sorted.length) return new Set(sorted)
  const ids = new Set(rows.map((row) => row.id))
  return new Set(sorted.filter((each) => ids.has(each.id)))
}

type Statement<Kind> = (session: Session, now: Now, batch: readonly Kind[]) => Promise<{ id: string }[]>

const statements: { finish: Statement<Finish>; requeue: Statement<Requeue>; bury: Statement<Bury> } = {
  finish: (session, now, batch) =>
    session.run('jobFinish', [
      now,
      ...runs(batch),
      sharedArray(batch, (each) => each.status),
      sharedArray(batch, (each) => each.retention),
      batch.every((each) => each.result === null) ? '[]' : jsonArray(batch.map(({ result }) => `[${result ?? ''}]`)),
      sparseArray(batch, (each) => each.reason),
      batch.every((each) => each.logs == null) ? '[]' : jsonArray(batch.map(({ logs }) => logs ?? 'null')),
    ]),

  requeue: (session, now, batch) =>
    session.run('jobRequeue', [
      now,
      ...keys(batch),
      plainArray(batch.map((each) => each.delayMs)),
      plainArray(batch.map((each) => each.refund)),
      textArray(batch.map((each) => each.crash)),
      ...failures(batch.map((each) => each.failure)),
    ]),

  bury: (session, now, batch) =>
    session.run('jobBury', [
      now,
      ...keys(batch),
      textArray(batch.map((each) => each.reason)),
      ...failures(batch.map((each) => each.failure)),
      textArray(batch.map((each) => each.retention)),
      plainArray(batch.map((each) => each.drop)),
    ]),
}

export type RunState = 'running' | 'settled' | 'gone'

/** What became of runs whose settlement got no answer, by position. */
export async function jobRunState(session: Session, runs: readonly RunKey[]): Promise<RunState[]> {
  const rows = await session.run<RunKey & { state: 'running' | 'settled' }>('jobRunState', [...keys(runs)])
  const states = new Map(rows.map((row) => [`${row.id}/${row.runId}`, row.state]))
  return runs.map((run) => states.get(`${run.id}/${run.runId}`) ?? 'gone')
}

const keys = (batch: readonly RunKey[]): [string, string] => [
  plainArray(batch.map((each) => each.id)),
  plainArray(batch.map((each) => each.runId)),
]

/** The ids, the few claims they were taken by, and for each id the position of its claim, from 1. */
function runs(batch: readonly RunKey[]): [string, string, string] {
  const positions = new Map<string, number>()
  const claims = batch.map(({ runId }) => {
    let position = positions.get(runId)
    if (position === undefined) {
      position = positions.size + 1
      positions.set(runId, position)
    }
    return position
  })
  return [plainArray(batch.map(({ id }) => id)), plainArray([...positions.keys()]), plainArray(claims)]
}

const failures = (batch: readonly (RecordedFailure | null)[]): string[] => [
  textArray(batch.map((each) => each?.class)),
  textArray(batch.map((each) => each?.message)),
  textArray(batch.map((each) => each?.stack)),
  textArray(batch.map((each) => each?.fingerprint)),
  textArray(batch.map((each) => each?.logs)),
]
