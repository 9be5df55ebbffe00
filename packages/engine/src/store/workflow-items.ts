// The jobs of a workflow's steps, and what became of them.
import { jsonArray, plainArray, textArray } from './arrays.ts'
import type { Session } from './db.ts'
import { compareIds } from './job-id.ts'

export type ItemKind = 'do' | 'undo'
export type ItemEnd = 'completed' | 'failed' | 'cancelled'

/** How a job of a workflow ended. */
export interface EndedItem {
  jobId: string
  status: ItemEnd
  /** JSON text. */
  result: string | null
  reason: string | null
}

/** How long a transaction of our own may stand idle with steps locked. No code of others runs meanwhile. */
const PATIENCE = '2s'

/** A workflow in which something may follow. */
export interface DueWorkflow {
  id: string
  name: string
}

/**
 * Records how jobs of workflows ended, in the transaction that ends them and behind the statement that does. Returns the
 * workflows in which something may follow. What was recorded before stays as it is, and so does what has not ended.
 * `isOwn`: the transaction is ours, and is committed at once.
 */
export async function workflowSettle(
  session: Session,
  ended: readonly EndedItem[],
  { isOwn }: { isOwn: boolean },
): Promise<DueWorkflow[]> {
  if (ended.length === 0) return []
  const sorted = [...ended].sort((a, b) => compareIds(a.jobId, b.jobId))
  const rows = await session.run<{ workflowId: string; name: string | null }>('workflowSettle', [
    plainArray(sorted.map(({ jobId }) => jobId)),
    textArray(sorted.map(({ status }) => status)),
    jsonArray(sorted.map(({ result }) => `[${result ?? ''}]`)),
    textArray(sorted.map(({ reason }) => reason)),
    isOwn ? PATIENCE : null,
  ])
  const due = new Map(rows.flatMap(({ workflowId, name }) => (name === null ? [] : [[workflowId, name]])))
  return [...due].map(([id, name]) => ({ id, name }))
}

/** What a job that completed left behind. */
export interface DoneItem {
  position: number
  item: number
  jobId: string
  result: unknown
  /** False: the handler returned nothing. */
  hasResult: boolean
}

export interface WorkflowItem extends DoneItem {
  status: ItemEnd | 'running'
  reason: string | null
  payload: unknown
  payloadVersion: number | null
}

export interface ItemFilter {
  kind: ItemKind
  status?: WorkflowItem['status']
}

/** In order. */
export async function workflowItemList(
  session: Session,
  workflowId: string,
  positions: readonly number[],
  { kind, status }: ItemFilter,
): Promise<WorkflowItem[]> {
  if (positions.length === 0) return []
  return session.run('workflowItemList', [workflowId, plainArray(positions), kind, status ?? null])
}

/** Why steps did not complete, by position. */
export async function workflowItemReason(
  session: Session,
  workflowId: string,
  positions: readonly number[],
  kind: ItemKind,
): Promise<Map<number, string | null>> {
  const rows = await session.run<{ position: number; reason: string | null }>('workflowItemReason', [
    workflowId,
    plainArray(positions),
    kind,
  ])
  return new Map(rows.map(({ position, reason }) => [position, reason]))
}

export interface NewItem {
  position: number
  item: number
  /** Null: that of the job which was inserted last in this transaction. */
  jobId: string | null
  /** JSON text. */
  payload: string
  /** Null: nothing will ask for the payload. */
  payloadVersion: number | null
}

const CHUNK = 5_000

export async function workflowItemWrite(
  session: Session,
  { workflowId, kind }: { workflowId: string; kind: ItemKind },
  items: readonly NewItem[],
): Promise<void> {
  for (let from = 0; from < items.length; from += CHUNK) {
    const chunk = items.slice(from, from + CHUNK)
    const isAnyKept = chunk.some(({ payloadVersion }) => payloadVersion !== null)
    await session.write('workflowItemWrite', [
      workflowId,
      kind,
      plainArray(chunk.map(({ position }) => position)),
      plainArray(chunk.map(({ item }) => item)),
      plainArray(chunk.map(({ jobId }) => jobId)),
      plainArray(chunk.map(({ payloadVersion }) => payloadVersion)),
      isAnyKept ? jsonArray(chunk.map((each) => (each.payloadVersion === null ? 'null' : each.payload))) : '[]',
    ])
  }
}

/** How many jobs of each step were undone, by its position: they are forgotten, as are those that undid them. */
export async function workflowItemForget(session: Session, workflowId: string): Promise<Map<number, number>> {
  const rows = await session.run<{ position: number; count: number }>('workflowItemForget', [workflowId])
  return new Map(rows.map(({ position, count }) => [position, count]))
}
