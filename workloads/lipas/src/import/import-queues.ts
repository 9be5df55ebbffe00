// Brings the rows of the five older queue tables over as jobs.
//
// A page is one transaction: jobs, the note that their rows were imported and, in the same database, the end of those rows come
// together or not at all. If the import dies between two pages, the next one takes the rest.
import { randomUUID } from 'node:crypto'
import { checkPayload, InvalidPayload, type JobContract, type Millrace, type Queryable } from 'millrace'
import type { LipasDatabase } from '../database/pool.ts'
import {
  type Cursor,
  countByStatus,
  hasTable,
  IN_PROGRESS,
  importedBefore,
  noteImported,
  type OlderRow,
  readPage,
  removeRows,
  START,
  takeTurn,
} from './legacy-store.ts'
import { OLDER_QUEUES, type OlderJob, type OlderQueue, Unfit } from './older-queues.ts'
import type { ImportReport, QueueReport, RefusedRow } from './report.ts'

export interface ImportPlan {
  readonly millrace: Millrace
  /** Of LIPAS: the jobs and the notes about them. */
  readonly database: LipasDatabase
  /** Another database that has the older tables: they are only read. Default: they are in this one, and what was imported goes. */
  readonly from?: LipasDatabase | undefined
  /** Rows that the older workers had begun, too. */
  readonly includesInProgress?: boolean
  readonly isDryRun?: boolean
  /** Rows of a transaction. */
  readonly pageSize?: number
  /** Told after each page. */
  readonly onProgress?: (table: string, done: number) => void
}

const PAGE = 500

export async function importQueues(plan: ImportPlan): Promise<ImportReport> {
  const correlationId = randomUUID()
  const queues: QueueReport[] = []
  for (const queue of OLDER_QUEUES) queues.push(await importQueue(plan, queue, correlationId))
  return { correlationId, isDryRun: plan.isDryRun ?? false, queues }
}

async function importQueue(plan: ImportPlan, queue: OlderQueue, correlationId: string): Promise<QueueReport> {
  const { table, job } = queue
  const source = plan.from ?? plan.database
  const report = {
    table,
    found: 0,
    imported: 0,
    alreadyThere: 0,
    refused: [] as RefusedRow[],
    retired: 0,
    inProgress: 0,
  }
  if (!(await hasTable(source, queue))) return { ...report, isMissing: true }
  const counts = await countByStatus(source, queue)
  const all = [...counts.values()].reduce((sum, count) => sum + count, 0)
  if (job === undefined) return { ...report, isMissing: false, retired: all }
  const statuses = plan.includesInProgress ? ['pending', ...IN_PROGRESS] : ['pending']
  for (let after: Cursor = START; ; ) {
    const page = await importPage(plan, { queue, job, after, statuses, correlationId })
    report.found += page.rows.length
    report.imported += page.imported
    report.alreadyThere += page.alreadyThere
    report.refused.push(...page.refused)
    plan.onProgress?.(table, report.found)
    const last = page.rows.at(-1)
    if (last === undefined) break
    after = last
  }
  const begun = IN_PROGRESS.reduce((sum, status) => sum + (counts.get(status) ?? 0), 0)
  return { ...report, isMissing: false, inProgress: plan.includesInProgress ? 0 : begun }
}

interface PagePlan {
  readonly queue: OlderQueue
  readonly job: OlderJob
  readonly after: Cursor
  readonly statuses: readonly string[]
  readonly correlationId: string
}

interface PageReport {
  readonly rows: readonly OlderRow[]
  readonly imported: number
  readonly alreadyThere: number
  readonly refused: readonly RefusedRow[]
}

async function importPage(plan: ImportPlan, page: PagePlan): Promise<PageReport> {
  const { database, from, isDryRun = false, pageSize: limit = PAGE } = plan
  const read = (db: Queryable, isLocked: boolean) => readPage(db, page.queue, { ...page, limit, isLocked })
  if (isDryRun) {
    const { fit, refused, known, rows } = await sorted(database, page, await read(from ?? database, false))
    return { rows, refused, imported: fit.length, alreadyThere: known.length }
  }
  const elsewhere = from === undefined ? undefined : await read(from, false)
  return database.transaction(async (tx) => {
    await takeTurn(tx, page.queue)
    const { fit, refused, known, rows } = await sorted(tx, page, elsewhere ?? (await read(tx, true)))
    const isNew = await enqueue(plan.millrace, tx, { page, fit })
    if (from === undefined) await removeRows(tx, page.queue, [...fit.map(({ row }) => row), ...known])
    const imported = isNew.filter(Boolean).length
    return { rows, refused, imported, alreadyThere: known.length + fit.length - imported }
  })
}

interface FitRow {
  readonly row: OlderRow
  readonly payload: object
}

interface Sorted {
  readonly rows: readonly OlderRow[]
  readonly fit: readonly FitRow[]
  /** Imported before. */
  readonly known: readonly OlderRow[]
  readonly refused: readonly RefusedRow[]
}

async function sorted(db: Queryable, { queue, job }: PagePlan, rows: readonly OlderRow[]): Promise<Sorted> {
  const before = await importedBefore(
    db,
    queue,
    rows.map(({ sourceKey }) => sourceKey),
  )
  const known = rows.filter(({ sourceKey }) => before.has(sourceKey))
  const fit: FitRow[] = []
  const refused: RefusedRow[] = []
  for (const row of rows.filter((each) => !known.includes(each))) {
    const answer = await payloadOf(job, row)
    if ('reason' in answer) refused.push({ key: row.key, reason: answer.reason })
    else fit.push({ row, payload: answer.payload })
  }
  return { rows, fit, known, refused }
}

async function payloadOf(
  { contract, payload }: OlderJob,
  { content }: OlderRow,
): Promise<{ payload: object } | { reason: string }> {
  try {
    const made = payload(content)
    await checkPayload(contract, made)
    return { payload: made }
  } catch (error) {
    if (error instanceof Unfit) return { reason: error.message }
    if (!(error instanceof InvalidPayload)) throw error
    return { reason: error.issues.map(({ path, message }) => (path ? `${path}: ${message}` : message)).join('; ') }
  }
}

/** By position: whether it is a new job. A row whose place has a live job already is that job's. */
async function enqueue(
  millrace: Millrace,
  tx: Queryable,
  { page: { queue, job, correlationId }, fit }: { page: PagePlan; fit: readonly FitRow[] },
): Promise<boolean[]> {
  if (fit.length === 0) return []
  const options = { tx, correlationId, createdBy: `import: ${queue.table}` }
  const payloads = fit.map(({ payload }) => payload)
  const results = await millrace.enqueueMany(job.contract as JobContract, payloads, options)
  const imported = results.map(({ id: jobId }, i) => ({ sourceKey: (fit[i] as FitRow).row.sourceKey, jobId }))
  await noteImported(tx, queue, imported)
  return results.map(({ status }) => status !== 'duplicate')
}
