// Erasing what jobs carried, for people who ask for it: payloads, results, error texts and log lines. The rows stay.
//
// Live jobs first, so that what is cancelled is found in the archive. Every batch is one transaction with its entry in the
// audit log. If it is cut off, running it again goes on: what is erased already does not match any more.
import type { Clock } from '../clock.ts'
import type { Registry } from '../contract/registry.ts'
import { InvalidDefinition } from '../errors.ts'
import type { Admitter } from '../governance/admitter.ts'
import { auditWrite } from '../store/audit.ts'
import type { Database } from '../store/db.ts'
import { type EraseFilter, type ErasePlace, eraseJobs, erasePage } from '../store/erasure.ts'
import { orderStopErase } from '../store/keyed-work.ts'
import { type FoundSchedule, scheduleFind } from '../store/schedules.ts'
import { workflowErase, workflowFind } from '../store/workflows.ts'
import { author, label } from './enqueue-options.ts'
import { cursorFrom, type EraseSelection, encryptedAt, eraseFilters, PAGE, placesOf } from './erase-selection.ts'
import type { JobManager } from './manage.ts'
import { ScheduleChanges } from './schedule-changes.ts'
import type { Waker } from './waker.ts'

export type EraseRequest = EraseSelection & {
  /** Who erases, for the audit log. */
  by: string
  /** Why, for the audit log. Do not name the person whose data it is. */
  reason: string
  /** Only count. */
  dryRun?: boolean
  /** Where an erasure of the same jobs that was cut off goes on: the last `cursor` of its progress. */
  cursor?: string
  onProgress?: (progress: EraseProgress) => void
}

export interface EraseCounts {
  /** Jobs that waited, and were cancelled. */
  cancelled: number
  /** Archived jobs that were emptied, those cancelled included. */
  jobs: number
  deadLetters: number
  /** Failed attempts. Null in a dry run: they are found by the jobs they belong to. */
  attempts: number | null
  /** Schedules that were created at run time, and removed: they would have enqueued it again. */
  schedules: number
}

export interface EraseProgress {
  readonly place: ErasePlace
  readonly scanned: number
  readonly counts: Readonly<EraseCounts>
  /** Pass it on to go on after these rows. Null: nothing is left, or it erases by ids. */
  readonly cursor: string | null
}

export interface EraseResult extends EraseCounts {
  isDryRun: boolean
  /** Jobs that run, and were asked to stop. They are not erased yet: erase again when they have ended. */
  running: string[]
  /** By path: types of this program that keep the value there encrypted. Their jobs were not found by it. */
  encryptedTypes?: string[]
}

const CANCEL_REASON = 'erased'

interface Erasing {
  readonly request: EraseRequest
  readonly result: EraseResult
}

export class Eraser {
  readonly #db: Database
  readonly #clock: Clock
  readonly #registry: Registry
  readonly #jobs: JobManager
  readonly #admitter: Admitter
  readonly #schedules: ScheduleChanges

  constructor(services: {
    db: Database
    clock: Clock
    registry: Registry
    jobs: JobManager
    admitter: Admitter
    waker: Waker
  }) {
    this.#db = services.db
    this.#clock = services.clock
    this.#registry = services.registry
    this.#jobs = services.jobs
    this.#admitter = services.admitter
    this.#schedules = new ScheduleChanges(services)
  }

  async erase(request: EraseRequest): Promise<EraseResult> {
    const filters = eraseFilters(this.#registry, request)
    const from = cursorFrom(request)
    author(request.by)
    if (!label(request.reason ?? null, 'reason'))
      throw new InvalidDefinition('`reason` is missing: say why, because it is written into the audit log.')
    const isDryRun = request.dryRun ?? false
    const attempts = isDryRun ? null : 0
    const encryptedTypes = encryptedAt(this.#registry, request)
    const result: EraseResult = {
      ...{ isDryRun, cancelled: 0, running: [], jobs: 0, deadLetters: 0, attempts, schedules: 0 },
      ...(encryptedTypes && { encryptedTypes }),
    }
    // First, or they would enqueue more meanwhile.
    for (const filter of filters)
      if (filter.ids === null && filter.createdBy === null) await this.#eraseSchedules(filter, { request, result })
    const places = placesOf(request)
    for (const place of from === undefined ? places : places.slice(places.indexOf(from.place))) {
      const after = place === from?.place ? from.after : '0'
      for (const filter of filters) await this.#walk({ place, after }, filter, { request, result })
    }
    if (request.tenant !== undefined && !isDryRun) await this.#eraseWorkflows(request.tenant)
    return result
  }

  async #eraseSchedules(filter: EraseFilter, { request, result }: Erasing): Promise<void> {
    const { by, reason, tenant } = request
    const found = (await scheduleFind(this.#db, filter)).filter(
      (schedule) => filter.tenant === null || this.#tenantOf(schedule) === filter.tenant,
    )
    result.schedules += found.length
    if (result.isDryRun) return
    const entry = { by, action: 'schedule.remove', details: { reason }, ...(tenant === undefined ? {} : { tenant }) }
    for (const { name } of found) await this.#schedules.remove({ ...entry, target: name })
  }

  /** Whose jobs a schedule enqueues: of some types the payload says it. */
  #tenantOf({ jobType, payload, tenant, isPerTenant }: FoundSchedule): string | null {
    if (tenant !== null || isPerTenant) return tenant
    try {
      return this.#registry.find(jobType)?.tenantOf?.(payload as never) ?? null
    } catch {
      return null
    }
  }

  /** They may be kept for longer than their jobs. */
  async #eraseWorkflows(tenant: string): Promise<void> {
    let after: string | undefined = '0'
    while (after !== undefined) {
      const ids: string[] = await workflowFind(this.#db, tenant, after, PAGE)
      await this.#db.transaction((tx) => workflowErase(tx, { ids }), 60_000)
      after = ids.at(-1)
    }
  }

  async #walk(
    { place, after: start }: { place: ErasePlace; after: string },
    filter: EraseFilter,
    erasing: Erasing,
  ): Promise<void> {
    const { request, result } = erasing
    const next = placesOf(request)[placesOf(request).indexOf(place) + 1]
    let after: string | undefined = start
    let scanned = 0
    while (after !== undefined) {
      const page = await erasePage(this.#db, place, filter, { after, limit: PAGE })
      scanned += page.scanned
      const ids = page.matches.map(({ jobId }) => jobId)
      if (place === 'live') await this.#eraseLive(page.matches, erasing)
      else if (place === 'workflows') await this.#eraseWorkflowsOf(ids, result)
      else if (result.isDryRun) result[place === 'archive' ? 'jobs' : 'deadLetters'] += ids.length
      else await this.#eraseBatch(ids, erasing)
      const { cancelled, jobs, deadLetters, attempts, schedules } = result
      after = page.last
      const cursor = after !== undefined ? `${place}:${after}` : next === undefined ? null : `${next}:0`
      const counts = { cancelled, jobs, deadLetters, attempts, schedules }
      request.onProgress?.({ place, scanned, counts, cursor: request.ids === undefined ? cursor : null })
    }
  }

  async #eraseWorkflowsOf(ids: readonly string[], { isDryRun }: EraseResult): Promise<void> {
    if (ids.length > 0 && !isDryRun) await this.#db.transaction((tx) => workflowErase(tx, { ids }), 60_000)
  }

  async #eraseLive(found: readonly { jobId: string; status: string }[], erasing: Erasing): Promise<void> {
    const { result } = erasing
    const waiting = found.filter(({ status }) => status !== 'processing').map(({ jobId }) => jobId)
    const running = found.filter(({ status }) => status === 'processing').map(({ jobId }) => jobId)
    if (result.isDryRun) {
      result.cancelled += waiting.length
      result.running.push(...running)
      return
    }
    // One that starts or stops meanwhile is told by what became of it.
    const { cancelled, requested } = await this.#jobs.cancelMany([...waiting, ...running], {
      reason: CANCEL_REASON,
      by: erasing.request.by,
    })
    result.cancelled += cancelled.length
    result.running.push(...requested)
    await this.#eraseBatch(cancelled, erasing)
  }

  async #eraseBatch(jobIds: readonly string[], { request, result }: Erasing): Promise<void> {
    if (jobIds.length === 0) return
    const { by, reason, tenant, type } = request
    const { erased, freed } = await this.#db.transaction(async (tx) => {
      const counts = await eraseJobs(tx, jobIds)
      const entry = { by, action: 'job.erase', details: { reason, ...counts } }
      await auditWrite(tx, this.#clock.databaseNow(), {
        ...entry,
        ...(tenant === undefined ? {} : { tenant }),
        ...(type === undefined ? {} : { target: type }),
      })
      return { erased: counts, freed: await orderStopErase(tx, jobIds) }
    }, 60_000)
    await this.#admitter.admit(freed)
    result.jobs += erased.jobs
    result.deadLetters += erased.deadLetters
    result.attempts = (result.attempts ?? 0) + erased.attempts
  }
}
