// Ticks schedules when they are due: those that the code of this process declares, and those that were created at run time
// for job types it knows.
//
// Runs in every worker process, all at once: the first to move a schedule on enqueues its job, the others find it done. It
// sleeps until the next fire time, at most a minute, and is woken when schedules are changed. If it dies halfway, nothing has
// happened, or a tick that pages through tenants is gone on with by another process.
import type { ScheduleTicks } from '../client/schedule-ticks.ts'
import type { Clock } from '../clock.ts'
import type { Registry } from '../contract/registry.ts'
import type { DeclaredSchedules } from '../schedule/schedules.ts'
import type { Database } from '../store/db.ts'
import { scheduleLook } from '../store/schedule-ticks.ts'
import { scheduleGet } from '../store/schedules.ts'
import type { Ticker } from './loop.ts'

const LONGEST_SLEEP_MS = 60_000
const ERROR_PAUSE_MS = 5_000
/** Processes come one after another, so that most of them find a tick done before they make its payload. */
const SPREAD_MS = 100
const LOOKED_AT = 100
/** Transactions at once: the worker needs its connections for claims. */
const AT_ONCE = 2

export interface SchedulerServices {
  db: Database
  clock: Clock
  registry: Registry
  declared: DeclaredSchedules
  ticks: ScheduleTicks
  onError(during: string, error: unknown): void
}

export interface SchedulerResult {
  /** Schedules and ticks under way that something was done about. */
  done: number
  failed: number
  /** When the next is due; null: nobody knows of one. */
  nextInMs: number | null
}

export class Scheduler implements Ticker<SchedulerResult> {
  readonly name = 'schedules'
  readonly isExact = true
  readonly #services: SchedulerServices

  constructor(services: SchedulerServices) {
    this.#services = services
  }

  async tick(stopping?: AbortSignal): Promise<SchedulerResult> {
    const { db, clock, registry, declared, ticks } = this.#services
    const known = { names: declared.names, types: registry.types, processId: ticks.processId }
    const { schedules, running } = await scheduleLook(db, clock.databaseNow(), known, LOOKED_AT)
    const due = schedules.filter(({ inMs }) => inMs <= 0).map(({ name }) => name)
    const free = running.filter(({ inMs }) => inMs <= 0)
    const rows = due.length === 0 ? [] : await scheduleGet(db, clock.databaseNow(), due)
    const work = [
      ...rows.map((row) => () => ticks.tick(row)),
      ...free.map(
        ({ id }) =>
          () =>
            ticks.page(id),
      ),
    ]
    const failed = await this.#doAll(work, stopping)
    const later = [...schedules, ...running].map(({ inMs }) => inMs).filter((inMs) => inMs > 0)
    return { done: work.length - failed, failed, nextInMs: later.length === 0 ? null : Math.min(...later) }
  }

  delayAfter({ done, failed, nextInMs }: SchedulerResult): number {
    if (done > 0) return 0
    const longest = failed > 0 ? ERROR_PAUSE_MS : LONGEST_SLEEP_MS
    return Math.min(longest, (nextInMs ?? longest) + Math.random() * SPREAD_MS)
  }

  /** One that fails must not keep the others from theirs. Returns how many failed. */
  async #doAll(work: (() => Promise<void>)[], stopping?: AbortSignal): Promise<number> {
    let failed = 0
    const left = [...work]
    const drain = async () => {
      for (let next = left.shift(); next !== undefined && !stopping?.aborted; next = left.shift()) {
        await next().catch((error: unknown) => {
          failed++
          this.#services.onError(this.name, error)
        })
      }
    }
    await Promise.all(Array.from({ length: AT_ONCE }, drain))
    return failed
  }
}
