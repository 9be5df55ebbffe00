// Workflows and their steps: begin, lock, write down what was decided, look, forget.
import type { Now } from '../clock.ts'
import type { Retention } from '../contract/job.ts'
import type {
  FailurePolicy,
  StepKind,
  StepStatus,
  UndoStatus,
  WorkflowState,
  WorkflowStatus,
} from '../workflow/graph.ts'
import { jsonArray, plainArray, textArray } from './arrays.ts'
import type { Session } from './db.ts'
import type { DoneItem, DueWorkflow } from './workflow-items.ts'

export interface NewWorkflow {
  /** Of which workflow it is a step, and which one; null: of none. */
  parentId: string | null
  parentPosition: number | null
  name: string
  rollsBack: boolean
  retention: Retention
  priority: number | null
  tenant: string | null
  correlationId: string | null
  createdBy: string | null
  /** W3C `traceparent` of the span that started it: its steps are enqueued below it. */
  traceParent: string | null
  /** JSON text. */
  input: string | null
  steps: readonly NewStep[]
}

export interface NewStep {
  name: string
  after: Readonly<Record<string, FailurePolicy>>
  onFailure: FailurePolicy
  canBeUndone: boolean
  /** It has a job for each element of a list. */
  isList: boolean
  kind: StepKind
}

export async function workflowInsert(session: Session, now: Now, workflow: NewWorkflow): Promise<string> {
  const { name, rollsBack, retention, priority, tenant, correlationId, createdBy, input, steps } = workflow
  const { parentId, parentPosition, traceParent } = workflow
  const own = [name, rollsBack, retention, priority, tenant, correlationId, createdBy, input]
  const values = [now, ...own, parentId, parentPosition, traceParent]
  const [row] = await session.run<{ id: string }>('workflowInsert', values)
  const { id } = row as { id: string }
  await session.run('workflowStepInsert', [
    id,
    textArray(steps.map((step) => step.name)),
    jsonArray(steps.map(({ after }) => JSON.stringify(after))),
    textArray(steps.map(({ onFailure }) => onFailure)),
    plainArray(steps.map(({ canBeUndone }) => canBeUndone)),
    plainArray(steps.map(({ isList }) => isList)),
    textArray(steps.map(({ kind }) => kind)),
  ])
  return id
}

export interface LockedWorkflow extends Pick<WorkflowState, 'status' | 'stopping' | 'rollsBack' | 'resumes'> {
  id: string
  name: string
  priority: number | null
  tenant: string | null
  correlationId: string
  createdBy: string | null
  traceParent: string | null
  reason: string | null
  /** Why it could not be advanced when last tried. */
  held: string | null
  input: unknown
  parentId: string | null
  parentPosition: number | null
  /** Somebody is to look at it again at some time. */
  isLookedAfter: boolean
}

export interface StepRow extends NewStep {
  position: number
  status: StepStatus
  undo: UndoStatus
  completedAs: number | null
  /** When the last of its jobs ended; null: none has, or it never had any. */
  endedAt: Date | null
  /** How many jobs it has; null before it starts. */
  items: number | null
  itemsLeft: number
  itemsFailed: number
  itemsCancelled: number
  undoLeft: number
  undoFailed: number
  needsAdvance: boolean
  reason: string | null
  /** Of a step with one job: what that left behind, if it completed. Undefined: it was not asked for. */
  onlyItem?: DoneItem | null
}

/** How long an advance may stand idle: the functions that make payloads run meanwhile, of up to 100,000 jobs. */
const PATIENCE = '10s'

/** `isOwn`: the transaction is ours. */
export async function workflowLock(
  session: Session,
  id: string,
  { isOwn }: { isOwn: boolean },
): Promise<LockedWorkflow | undefined> {
  const [row] = await session.run<LockedWorkflow>('workflowLock', [id, isOwn ? PATIENCE : null])
  return row
}

/** In the transaction that has ended a job of it. Undefined: nothing follows, or somebody else has locked it. */
export async function workflowTryLock(session: Session, id: string): Promise<LockedWorkflow | undefined> {
  const [row] = await session.run<LockedWorkflow>('workflowTryLock', [id])
  return row
}

export function workflowStepRows(session: Session, workflowId: string): Promise<StepRow[]> {
  return session.run('workflowStepRows', [workflowId])
}

export interface StepPart {
  steps: StepRow[]
  /** The highest place that any step of the workflow has among those that ended. */
  lastPlace: number
  /** Steps that are not in here wait or run. */
  isOpenElsewhere: boolean
  /** The time has come that some step waits for. */
  isTimeUp: boolean
}

/** The steps that matter where jobs have completed: what has ended, what can start now, and what comes before that. */
export async function workflowStepPart(session: Session, now: Now, workflowId: string): Promise<StepPart> {
  type Row = StepRow & Omit<StepPart, 'steps'>
  const steps = await session.run<Row>('workflowStepPart', [now, workflowId])
  const { lastPlace = 0, isOpenElsewhere = true, isTimeUp = false } = steps[0] ?? {}
  return { steps, lastPlace, isOpenElsewhere, isTimeUp }
}

export async function workflowStepWrite(
  session: Session,
  workflowId: string,
  changed: readonly StepRow[],
): Promise<void> {
  if (changed.length === 0) return
  const steps = [...changed].sort((a, b) => a.position - b.position)
  await session.write('workflowStepWrite', [
    workflowId,
    plainArray(steps.map(({ position }) => position)),
    textArray(steps.map(({ status }) => status)),
    textArray(steps.map(({ undo }) => undo)),
    plainArray(steps.map(({ completedAs }) => completedAs)),
    plainArray(steps.map(({ items }) => items)),
    plainArray(steps.map(({ itemsLeft }) => itemsLeft)),
    plainArray(steps.map(({ itemsFailed }) => itemsFailed)),
    plainArray(steps.map(({ itemsCancelled }) => itemsCancelled)),
    plainArray(steps.map(({ undoLeft }) => undoLeft)),
    plainArray(steps.map(({ undoFailed }) => undoFailed)),
    textArray(steps.map(({ reason }) => reason)),
  ])
}

export interface WorkflowChange
  extends Pick<LockedWorkflow, 'id' | 'status' | 'stopping' | 'rollsBack' | 'resumes' | 'reason'> {
  hasEnded: boolean
  /** Look at it again by then, whatever happens; null: something will happen. */
  lookAfterMs: number | null
}

export async function workflowWrite(session: Session, now: Now, change: WorkflowChange): Promise<void> {
  const { id, status, stopping, rollsBack, resumes, reason, hasEnded, lookAfterMs } = change
  const values = [now, id, status, stopping, rollsBack, reason, hasEnded, lookAfterMs, resumes]
  await session.write('workflowWrite', values)
}

/** Those of the workflows in which something may follow. */
export function workflowDue(session: Session, ids: readonly string[]): Promise<DueWorkflow[]> {
  return session.run('workflowDue', [plainArray(ids)])
}

export interface LeftUndone {
  /** Workflows that nobody has advanced. */
  open: string[]
  /** Workflows that the asker cannot advance, and that nothing is said to hold. */
  unknown: string[]
  /** Jobs that ended without a word to their workflow. */
  lost: string[]
  /** Behind which workflow to look next for lost jobs; null: from the first. */
  seen: string | null
  /** When the next step is due that waits for a time; null: there is none. */
  dueInMs: number | null
}

export async function workflowLook(
  session: Session,
  now: Now,
  request: { names: readonly string[]; limit: number; after: string; steps: number },
): Promise<LeftUndone> {
  const { names, limit, after, steps } = request
  const values = [now, textArray(names), limit, after, steps]
  const rows = await session.run<{ what: string; id: string }>('workflowLook', values)
  const idsOf = (wanted: string) => rows.filter(({ what }) => what === wanted).map(({ id }) => id)
  const [due] = idsOf('due')
  return {
    open: idsOf('advance'),
    unknown: idsOf('unknown'),
    lost: idsOf('lost'),
    seen: idsOf('seen')[0] ?? null,
    dueInMs: due === undefined ? null : Number(due),
  }
}

export async function workflowPostpone(
  session: Session,
  now: Now,
  { id, why, delayMs }: { id: string; why: string; delayMs: number },
): Promise<void> {
  await session.run('workflowPostpone', [now, id, why, delayMs])
}

/** Says why these do not go on, unless somebody has said it or they do. Whoever can advance them may at any time. */
export async function workflowHold(session: Session, ids: readonly string[], why: string): Promise<void> {
  await session.run('workflowHold', [plainArray(ids), why])
}

/** A workflow, as lists show it. */
export interface StartedWorkflow {
  id: string
  /** Of which workflow it is a step; null: of none. */
  parentId: string | null
  name: string
  status: WorkflowStatus
  /** Why it stops or has stopped before its end. */
  stopping: 'failed' | 'cancelled' | null
  rollsBack: boolean
  /** It is rolling back, and goes on with what is left once the undo under way has ended. */
  resumes: boolean
  tenant: string | null
  correlationId: string
  createdBy: string | null
  reason: string | null
  /** Why it does not go on at the moment, if it could not be advanced when last tried. */
  held: string | null
  createdAt: Date
  updatedAt: Date
  finishedAt: Date | null
}

export interface WorkflowStep {
  name: string
  kind: StepKind
  after: Readonly<Record<string, FailurePolicy>>
  /** It has a job for each element of a list. */
  isList: boolean
  canBeUndone: boolean
  /** In which order the steps ended of which some job completed: a rollback undoes the last one first. */
  completedAs: number | null
  status: StepStatus
  undo: UndoStatus
  /** Jobs that undo it and have not ended. */
  undoLeft: number
  reason: string | null
  /** Until when it waits, while it does: a sleep, or a signal that must come in time. */
  dueAt: Date | null
  /** Of a step that is a workflow: its id, once it has started. */
  childId: string | null
  /** How many it has, and how many of those ended how. */
  jobs: number
  completed: number
  failed: number
  cancelled: number
  running: number
  /** At most 100, those that failed first. */
  jobIds: string[]
  undoJobIds: string[]
}

const JOBS_TOLD = 100

/** When the jobs of a step ran, or those that undid it. */
export interface StepTimes {
  /** The step's name. */
  name: string
  kind: 'do' | 'undo'
  /** Null: its jobs are gone. Of a step that is a workflow: the workflow's name. */
  type: string | null
  queue: string | null
  jobs: number
  /** Jobs that needed more than one attempt. */
  retried: number
  enqueuedAt: Date | null
  startedAt: Date | null
  /** Null while one of its jobs lives. */
  endedAt: Date | null
  /** How long runs took: the middle one, the one that 95 % stay below, and the longest. */
  p50Ms: number | null
  p95Ms: number | null
  maxMs: number | null
  slowestJobId: string | null
  /** A letter for each job, in order: r runs or waits, c completed, f failed, x cancelled. At most 5000. */
  states: string
  /** How many runs took how long: 16 equal parts from 0 to the longest. Empty: nothing has run. */
  spread: number[]
}

const TIMED = 5_000
const PARTS = 16

export async function workflowTimes(session: Session, workflowId: string): Promise<StepTimes[]> {
  type Row = Omit<StepTimes, 'p50Ms' | 'p95Ms' | 'states' | 'spread'> & {
    position: unknown
    halfMs: number | null
    mostMs: number | null
    states: string | null
    spread: Record<string, number> | null
  }
  const rows = await session.run<Row>('workflowTimes', [workflowId, TIMED])
  return rows.map(({ position: _, halfMs, mostMs, states, spread, ...row }) => ({
    ...row,
    p50Ms: halfMs,
    p95Ms: mostMs,
    states: states ?? '',
    spread: spread === null ? [] : Array.from({ length: PARTS }, (_, part) => spread[part + 1] ?? 0),
  }))
}

export async function workflowGet(
  session: Session,
  id: string,
): Promise<(StartedWorkflow & { input: unknown }) | undefined> {
  const [row] = await session.run<StartedWorkflow & { input: unknown }>('workflowGet', [id])
  return row
}

export async function workflowStatus(
  session: Session,
  id: string,
): Promise<Pick<StartedWorkflow, 'name' | 'status' | 'reason'> | undefined> {
  const [row] = await session.run<Pick<StartedWorkflow, 'name' | 'status' | 'reason'>>('workflowStatus', [id])
  return row
}

/** In order. */
export function workflowStepList(session: Session, workflowId: string): Promise<WorkflowStep[]> {
  return session.run('workflowStepList', [workflowId, JOBS_TOLD])
}

export interface WorkflowFilter {
  status?: WorkflowStatus
  name?: string
  tenant?: string
  /** Only workflows older than the one with this id: the last one of the page before. */
  before?: string
}

export function workflowList(session: Session, filter: WorkflowFilter, limit: number): Promise<StartedWorkflow[]> {
  const { status, name, tenant, before } = filter
  return session.run('workflowList', [status ?? null, name ?? null, tenant ?? null, before ?? null, limit])
}

const KEEP_DAYS: Readonly<Record<Retention, number>> = { none: 0, short: 1, standard: 7, long: 90 }

/** How many workflows were forgotten, of which none is left for now if it is 0. */
export async function workflowPrune(session: Session, now: Now, rows: number): Promise<number> {
  const kept = Object.entries(KEEP_DAYS)
  const retentions = textArray(kept.map(([retention]) => retention))
  return (await session.run('workflowPrune', [now, retentions, plainArray(kept.map(([, days]) => days)), rows])).length
}

/** Empties the workflows of these jobs, or these themselves. In a transaction, and in the order in which all others lock. */
export async function workflowErase(
  session: Session,
  { jobIds = [], ids = [] }: { jobIds?: readonly string[]; ids?: readonly string[] },
): Promise<void> {
  const rows = await session.run<{ id: string }>('workflowErase', [plainArray(jobIds), plainArray(ids)])
  if (rows.length === 0) return
  const chosen = plainArray(rows.map(({ id }) => id))
  await session.run('workflowItemErase', [chosen])
  await session.run('workflowStepErase', [chosen])
  await session.run('workflowSignalErase', [chosen])
}

/** The next workflows of a tenant that have something to erase. */
export async function workflowFind(session: Session, tenant: string, after: string, limit: number): Promise<string[]> {
  const rows = await session.run<{ id: string }>('workflowFind', [tenant, after, limit])
  return rows.map(({ id }) => id)
}
