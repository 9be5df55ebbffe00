// Bulk operations: the same change to many jobs, first as a preview, then as an operation that is tracked.
//
// An operation is a row and a job of type millrace.bulk, which any worker runs (maintenance/system-jobs.ts). Each job that it
// concerns is looked at again when its turn comes, because it may have changed since.
import type { Clock } from '../clock.ts'
import type { Registry } from '../contract/registry.ts'
import { BulkNotFound, InvalidDefinition } from '../errors.ts'
import { isOneOf } from '../search/query.ts'
import { auditWrite } from '../store/audit.ts'
import {
  type BulkItem,
  type BulkListFilter,
  type BulkOutcome,
  type BulkRow,
  bulkAdd,
  bulkCanaries,
  bulkEnd,
  bulkEnqueued,
  bulkItems,
  bulkList,
  bulkReasons,
  bulkStage,
  bulkStart,
  bulkUndoItems,
  bulkUndone,
} from '../store/bulk.ts'
import type { Database } from '../store/db.ts'
import { jobRunNow } from '../store/job-changes.ts'
import { compareIds, isJobId } from '../store/job-id.ts'
import { jobGet, jobInsert } from '../store/jobs.ts'
import { pauseList } from '../store/pauses.ts'
import type { Transaction } from '../store/transaction.ts'
import { workerList } from '../store/worker-reports.ts'
import { checkedAction, judge, UNDO } from './bulk-judge.ts'
import {
  type BulkOperation,
  type BulkPreview,
  type BulkReport,
  type BulkRequest,
  type BulkStartOptions,
  operationOf,
} from './bulk-report.ts'
import { author, wholeNumber } from './enqueue-options.ts'
import { JobFinder, NOT_SYSTEM, TimeLeft } from './job-finder.ts'
import { conditionsOf } from './search.ts'
import { bulkJob, SYSTEM_QUEUE } from './system-job.ts'
import type { Waker } from './waker.ts'

const MAX_IDS = 10_000
const DEFAULT_RATE = 200
const MAX_RATE = 5_000
const MAX_PAGE = 1_000
const MAX_CANARY = 20
const PREVIEW_MS = 5_000
const MAX_PREVIEW = 100_000

export interface BulkServices {
  db: Database
  clock: Clock
  registry: Registry
  waker: Waker
}

export class Bulk {
  readonly #services: BulkServices
  readonly #finder: JobFinder

  constructor(services: BulkServices) {
    this.#services = services
    this.#finder = new JobFinder(services)
  }

  /** What an operation would do, by queue and type; nothing is written. Throws InvalidQuery. */
  async preview(request: BulkRequest): Promise<BulkPreview> {
    const action = checkedAction(request)
    const { groups: found, isCapped } = await this.#finder.groups(
      this.#conditions(request),
      MAX_PREVIEW,
      new TimeLeft(PREVIEW_MS),
      action.action === 'prioritise' ? action.priority : null,
    )
    const totals = { changed: 0, already: 0, refused: 0 }
    const groups = new Map<
      string,
      { queue: string; type: string; willChange: number; already: number; refused: number }
    >()
    const reasons = new Map<string, { outcome: BulkOutcome; reason: string | null; count: number }>()
    for (const { queue, type, count, ...facts } of found) {
      const { outcome, reason } = judge(action.action, facts)
      const key = `${queue}\0${type}`
      const group = groups.get(key) ?? { queue, type, willChange: 0, already: 0, refused: 0 }
      group[outcome === 'changed' ? 'willChange' : outcome] += count
      groups.set(key, group)
      totals[outcome] += count
      if (outcome === 'changed') continue
      const said = reasons.get(`${outcome} ${reason}`) ?? { outcome, reason, count: 0 }
      reasons.set(`${outcome} ${reason}`, { ...said, count: said.count + count })
    }
    const { changed: willChange, already, refused } = totals
    return {
      ...{ action: action.action, total: willChange + already + refused, isCapped, willChange, already, refused },
      groups: [...groups.values()].sort((a, b) => b.willChange - a.willChange || (a.type < b.type ? -1 : 1)),
      reasons: [...reasons.values()].sort((a, b) => b.count - a.count || (`${a.reason}` < `${b.reason}` ? -1 : 1)),
      noUndo: UNDO[action.action],
    }
  }

  /** Starts an operation, and answers at once: workers run it. */
  async start(request: BulkRequest, options: BulkStartOptions): Promise<BulkReport> {
    const by = author(options.by)
    const rate = demandRate(options.rate ?? DEFAULT_RATE)
    demandCanary(request, options)
    if (options.limit !== undefined) wholeNumber(options.limit, 'limit', 1)
    const { query, ids, tenant, action, ...given } = { ...request, ...checkedAction(request) }
    const { total, isCapped } = await this.preview(request)
    const chosen = ids && (await this.#chosen(request, [...new Set(ids)], options.limit))
    const { db, clock } = this.#services
    const id = await db.transaction(async (tx) => {
      const now = clock.databaseNow()
      const { id: started } = await bulkStart(tx, now, {
        ...{ action, options: given, query: query ?? null, tenant: tenant ?? null, by, rate, undoOf: null },
        isDryRun: options.dryRun ?? false,
        most: options.limit ?? null,
        canary: options.canary,
        expected: Math.min(total, options.limit ?? total),
        isCapped: isCapped && options.limit === undefined,
      })
      if (chosen !== undefined) await bulkAdd(tx, started, chosen, { from: '0', to: '0', isFound: true })
      const details = {
        action,
        ...given,
        ...(query === undefined ? { jobs: ids?.length } : { query }),
        rate,
        canary: options.canary,
      }
      const entry = { by, action: options.dryRun ? 'bulk.dry_run' : 'bulk.start', target: started }
      await auditWrite(tx, now, { ...entry, tenant: tenant ?? null, details })
      await this.#enqueue(tx, started, by)
      return started
    })
    return this.#begun(id)
  }

  /** Newest first. Default 50, at most 1000. */
  async list({ limit = 50, ...filter }: Omit<BulkListFilter, 'id'> = {}): Promise<BulkOperation[]> {
    if (filter.before !== undefined && !isJobId(filter.before))
      throw new InvalidDefinition(`before is ${JSON.stringify(filter.before)}: expected the id of an operation.`)
    return (await bulkList(this.#services.db, { ...filter, limit: pageSize(limit) })).map(operationOf)
  }

  /** Undefined: there is none, or its report was forgotten: 30 days after its end. */
  async get(id: string): Promise<BulkReport | undefined> {
    const { db } = this.#services
    const [row] = isJobId(id) ? await bulkList(db, { id, limit: 1 }) : []
    if (row === undefined) return undefined
    const canaries = row.canary === null ? [] : await bulkCanaries(db, id)
    return { ...operationOf(row), reasons: await bulkReasons(db, id), waits: await this.#waits(row), canaries }
  }

  /** What became of each job, in the order of their ids. `after`: the job id that ended the page before. */
  async items(
    id: string,
    options: { outcome?: BulkOutcome; after?: string; limit?: number } = {},
  ): Promise<BulkItem[]> {
    const { after, limit = 100 } = options
    if (after !== undefined && !isJobId(after))
      throw new InvalidDefinition(`after is ${JSON.stringify(after)}: expected the id of a job.`)
    return isJobId(id) ? bulkItems(this.#services.db, id, { ...options, limit: pageSize(limit) }) : []
  }

  /** Stops an operation: what it has changed stays so. Throws BulkNotFound. */
  async cancel(id: string, options: { by: string }): Promise<BulkReport> {
    const by = author(options.by)
    const operation = await this.#demand(id)
    const { db, clock } = this.#services
    await db.transaction(async (tx) => {
      const now = clock.databaseNow()
      if (!(await bulkEnd(tx, now, id, { status: 'cancelled', by }))) return
      await auditWrite(tx, now, { by, action: 'bulk.cancel', target: id, tenant: operation.tenant })
    })
    return this.#demand(id)
  }

  /**
   * Goes on with the rest without waiting for the canary, at another rate if one is given. Nothing happens if the canary has passed or the
   * operation has ended. Throws BulkNotFound, and InvalidDefinition if it has no canary.
   */
  async proceed(id: string, options: { by: string; rate?: number }): Promise<BulkReport> {
    const by = author(options.by)
    const rate = options.rate === undefined ? undefined : demandRate(options.rate)
    const { canary, tenant, jobId } = await this.#demand(id)
    if (canary === null) throw new InvalidDefinition(`Bulk operation ${id} has no canary to wait for.`)
    const { db, clock } = this.#services
    await db.transaction(async (tx) => {
      if (!(await bulkStage(tx, id, { from: ['choosing', 'waiting'], to: 'skipped', rate }))) return
      if (jobId !== null) await jobRunNow(tx, clock.databaseNow(), [jobId])
      await auditWrite(tx, clock.databaseNow(), { by, action: 'bulk.proceed', target: id, tenant, details: { rate } })
    })
    return this.#begun(id)
  }

  /** Takes an operation back by another one. Throws BulkNotFound, and InvalidDefinition where that cannot be done. */
  async undo(id: string, options: Pick<BulkStartOptions, 'by' | 'rate'>): Promise<BulkReport> {
    const by = author(options.by)
    const operation = await this.#demand(id)
    if (operation.noUndo !== null)
      throw new InvalidDefinition(`Bulk operation ${id} cannot be taken back: ${operation.noUndo}.`)
    const { db, clock } = this.#services
    const undoing = await db.transaction(async (tx) => {
      const now = clock.databaseNow()
      const { action, tenant, changed } = operation
      const { id: started } = await bulkStart(tx, now, {
        ...{ action, tenant, by, undoOf: id, query: null, isDryRun: false, most: null, isCapped: false },
        options: operation.options,
        rate: options.rate ?? operation.rate,
        expected: changed,
      })
      if (!(await bulkUndone(tx, id, started)))
        throw new InvalidDefinition(`Bulk operation ${id} is being taken back already.`)
      await bulkUndoItems(tx, started, id)
      await auditWrite(tx, now, { by, action: 'bulk.undo', target: started, tenant, details: { undoes: id } })
      await this.#enqueue(tx, started, by)
      return started
    })
    return this.#begun(undoing)
  }

  #conditions({ query, ids, tenant }: BulkRequest) {
    if ((query === undefined) === (ids === undefined))
      throw new InvalidDefinition('A bulk operation takes a query or ids: give one of them.')
    const scope = tenant === undefined ? {} : { tenant }
    if (query !== undefined) {
      const conditions = conditionsOf(query, scope)
      if (conditions.length > (tenant === undefined ? 0 : 1)) return [...conditions, NOT_SYSTEM]
      throw new InvalidDefinition(
        'The query is empty, so every job would be concerned. Name at least one term, like status:dead.',
      )
    }
    const given = ids as readonly string[]
    if (given.length === 0 || given.length > MAX_IDS)
      throw new InvalidDefinition(`ids has ${given.length} entries: expected 1 to ${MAX_IDS}. Use a query for more.`)
    const wrong = given.find((id) => !isJobId(id))
    if (wrong !== undefined) throw new InvalidDefinition(`ids names ${JSON.stringify(wrong)}: expected ids of jobs.`)
    return [isOneOf('id', ...given), ...conditionsOf('', scope), NOT_SYSTEM]
  }

  /** Of named jobs, those that the caller may change; the oldest first. Without a scope, also those that are gone. */
  async #chosen(request: BulkRequest, ids: readonly string[], limit = MAX_IDS): Promise<string[]> {
    if (request.tenant === undefined) return [...ids].sort(compareIds).slice(0, limit)
    const selection = { conditions: this.#conditions(request), order: 'oldest', after: null } as const
    const { jobs } = await this.#finder.page(selection, Math.min(limit, MAX_IDS), new TimeLeft(PREVIEW_MS))
    return jobs.map(({ id }) => id)
  }

  async #enqueue(tx: Transaction, operation: string, by: string): Promise<void> {
    const [jobId = ''] = await jobInsert(tx, this.#services.clock.databaseNow(), [bulkJob(operation, by)])
    await bulkEnqueued(tx, operation, jobId)
  }

  async #begun(id: string): Promise<BulkReport> {
    this.#services.waker.wake([SYSTEM_QUEUE])
    return this.#demand(id)
  }

  async #demand(id: string): Promise<BulkReport> {
    const found = await this.get(id)
    if (found === undefined) throw new BulkNotFound(id)
    return found
  }

  async #waits({ status, jobId }: BulkRow): Promise<string | null> {
    if (status !== 'running' || jobId === null) return null
    const { db, clock } = this.#services
    const job = await jobGet(db, jobId)
    if (job === undefined || job.status === 'processing') return null
    if (job.status === 'cancelled' || job.status === 'dead') return `its job ${jobId} is ${job.status}`
    const pauses = await pauseList(db, clock.databaseNow())
    const pause = pauses.find(({ queue, type, tenant }) => queue === SYSTEM_QUEUE && type === null && tenant === null)
    if (pause !== undefined) return `queue ${SYSTEM_QUEUE} is paused by ${pause.by}: ${pause.reason}`
    const workers = await workerList(db)
    return workers.some(({ request }) => request === null) ? null : 'no worker runs system jobs: start one'
  }
}

function demandRate(rate: number): number {
  wholeNumber(rate, 'rate', 1)
  if (rate > MAX_RATE) throw new InvalidDefinition(`rate is ${rate}: ${MAX_RATE} jobs per second are the most.`)
  return rate
}

function demandCanary({ action }: BulkRequest, { canary, dryRun }: BulkStartOptions): void {
  if (canary === undefined) return
  wholeNumber(canary, 'canary', 1)
  if (canary > MAX_CANARY) throw new InvalidDefinition(`canary is ${canary}: ${MAX_CANARY} jobs are the most.`)
  if (action !== 'redrive')
    throw new InvalidDefinition(`canary does not belong to ${action}: only dead jobs are redriven with one.`)
  if (dryRun) throw new InvalidDefinition('A dry run changes nothing, so it takes no canary. Leave one of them out.')
}

function pageSize(limit: number): number {
  if (!Number.isInteger(limit) || limit < 1 || limit > MAX_PAGE)
    throw new InvalidDefinition(`limit is ${limit}: expected an integer from 1 to ${MAX_PAGE}.`)
  return limit
}
