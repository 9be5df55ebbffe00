// Ticks schedules when they are due: those that the code of this process declares, and those that were created at run time
// for job types it runs.
//
// Runs in every worker process, all at once: the first to move a schedule on enqueues its job, the others find it done. It
// sleeps until the next fire time, at most a minute, or five while nothing is scheduled, and is woken when schedules are
// changed. If it dies halfway, nothing has happened, or a tick that pages through tenants is gone on with by another process.
//
// No schedule waits for another: what takes long goes on beside the next passes, what fails is left alone for a moment.
import { AtMost } from '../client/at-most.ts'
import type { ScheduleTicks } from '../client/schedule-ticks.ts'
import { type Clock, monotonicMs, within } from '../clock.ts'
import type { DeclaredSchedules } from '../schedule/schedules.ts'
import type { Database } from '../store/db.ts'
import { type ScheduleLook, scheduleLook } from '../store/schedule-ticks.ts'
import { scheduleGet } from '../store/schedules.ts'
import type { Ticker } from './loop.ts'

const LONGEST_SLEEP_MS = 60_000
/** While nothing is scheduled, and whoever changes that tells. */
const LONGEST_IDLE_MS = 5 * 60_000
const ERROR_PAUSE_MS = 5_000
/** Processes come one after another, so that most of them find a tick done before they make its payload. */
const SPREAD_MS = 100
const LOOKED_AT = 100
/** What takes longer than this is not waited for. */
const PATIENCE_MS = 100
/** So many schedules have the author's code called at once. */
const CALLED_AT_ONCE = 20

export interface SchedulerServices {
  db: Database
  clock: Clock
  declared: DeclaredSchedules
  /** Of schedules that were created at run time it ticks those with these job types: the list calls others orphaned. */
  types: readonly string[]
  ticks: ScheduleTicks
  onError(during: string, error: unknown): void
  /** It hears of changes while it sleeps. */
  isTold(): boolean
  /** Something that took long is done: look again. */
  onLate(): void
}

export interface SchedulerResult {
  /** Schedules and ticks that something was begun about. */
  begun: number
  /** When the next is due; null: nobody knows of one. */
  nextInMs: number | null
}

/** A schedule by its name, or a tick that pages through tenants by its id. */
interface Task {
  readonly kind: 'schedule' | 'tick'
  readonly id: string
  /** It calls code of the author. */
  readonly isCall: boolean
  work(): Promise<void>
}

export class Scheduler implements Ticker<SchedulerResult> {
  readonly name = 'schedules'
  readonly isExact = true
  readonly #services: SchedulerServices
  readonly #calls = new AtMost(CALLED_AT_ONCE)
  readonly #underWay = new Map<Task, Promise<void>>()
  /** Until when, on this process's own clock. */
  readonly #failed = new Map<Task, number>()

  constructor(services: SchedulerServices) {
    this.#services = services
  }

  async tick(stopping?: AbortSignal): Promise<SchedulerResult> {
    const { db, clock, ticks } = this.#services
    const { schedules, running } = await this.#look()
    const due = schedules.filter(({ inMs }) => inMs <= 0).map(({ name }) => name)
    const rows = due.length === 0 ? [] : await scheduleGet(db, clock.databaseNow(), due)
    const free = running.filter(({ inMs }) => inMs <= 0)
    const tasks: Task[] = [
      ...rows.map((row) => ({
        ...{ kind: 'schedule' as const, id: row.name, isCall: ticks.isCall(row) },
        work: () => ticks.tick(row),
      })),
      ...free.map(({ id }) => ({ kind: 'tick' as const, id, isCall: true, work: () => ticks.page(id) })),
    ]
    const later = [...schedules, ...running].map(({ inMs }) => inMs).filter((inMs) => inMs > 0)
    const nextInMs = later.length === 0 ? null : Math.min(...later)
    const begun = tasks.map((task) => this.#begin(task, stopping))
    if (begun.length > 0) await this.#waitFor(begun, Math.min(PATIENCE_MS, nextInMs ?? PATIENCE_MS))
    return { begun: begun.length, nextInMs }
  }

  delayAfter({ begun, nextInMs }: SchedulerResult): number {
    if (begun > 0) return 0
    const isIdle = nextInMs === null && this.#services.isTold()
    const longest = isIdle ? LONGEST_IDLE_MS : LONGEST_SLEEP_MS
    const next = nextInMs === null ? longest : nextInMs + Math.random() * SPREAD_MS
    const retries = [...this.#failed.values()].map((until) => Math.max(0, until - monotonicMs()))
    return Math.min(longest, next, ...retries)
  }

  async idle(): Promise<void> {
    await Promise.all(this.#underWay.values())
  }

  async #look(): Promise<ScheduleLook> {
    const { db, clock, declared, types, ticks } = this.#services
    for (const [task, until] of this.#failed) if (until <= monotonicMs()) this.#failed.delete(task)
    const busy = [...this.#underWay.keys(), ...this.#failed.keys()]
    const idsOf = (kind: Task['kind']) => busy.filter((task) => task.kind === kind).map(({ id }) => id)
    const except = { names: idsOf('schedule'), tickIds: idsOf('tick') }
    const known = { names: declared.names, types, processId: ticks.processId, except }
    return scheduleLook(db, clock.databaseNow(), known, LOOKED_AT)
  }

  #begin(task: Task, stopping?: AbortSignal): Promise<void> {
    const work = async () => {
      if (!stopping?.aborted) await task.work()
    }
    const done = (task.isCall ? this.#calls.run(work) : work())
      .catch((error: unknown) => {
        if (stopping?.aborted) return
        this.#failed.set(task, monotonicMs() + ERROR_PAUSE_MS)
        this.#services.onError(`${task.kind} ${task.id}`, error)
      })
      .finally(() => this.#underWay.delete(task))
    this.#underWay.set(task, done)
    return done
  }

  async #waitFor(begun: readonly Promise<void>[], ms: number): Promise<void> {
    const all = Promise.all(begun)
    await within(ms, all)
    if (this.#underWay.size > 0) for (const each of begun) void each.then(() => this.#services.onLate())
  }
}
