// What people do with schedules: look, run now, pause, edit, create, remove, backfill. How a change is written is in
// schedule-changes.ts.
import { type Duration, toMs } from '../contract/duration.ts'
import { InvalidDefinition } from '../errors.ts'
import { checkName, checkOptions, type ScheduleOptions, settingsOf } from '../schedule/define.ts'
import { firstFire } from '../schedule/due.ts'
import { fires } from '../schedule/next-fire.ts'
import { timingOf, type When } from '../schedule/when.ts'
import { type ScheduleTick, scheduleTicks, type TickResult } from '../store/schedule-ticks.ts'
import { scheduleList, timingInForce } from '../store/schedules.ts'
import { author, label } from './enqueue-options.ts'
import { type BackfillRange, type BackfillResult, type By, backfill } from './schedule-backfill.ts'
import { type RowChange, type ScheduleAudit, ScheduleChanges } from './schedule-changes.ts'
import { checkStored, type ScheduleEdit, withOptions, withoutPause, withTiming } from './schedule-edit.ts'
import type { Known } from './schedule-payload.ts'
import { type ScheduleState, scheduleStates } from './schedule-state.ts'
import type { TickServices } from './schedule-tenants.ts'
import { ScheduleTicks } from './schedule-ticks.ts'
import type { Waker } from './waker.ts'

export interface SchedulePause extends By {
  reason: string
  /** It ends by itself at this time … */
  until?: Date
  /** … or after this long. Default: when somebody ends it. */
  for?: Duration
}

export interface NewScheduleOptions extends ScheduleOptions, By {
  name: string
  /** The type of a contract that this program knows. */
  type: string
  when: When
  payload: unknown
}

export interface ScheduleDetails extends ScheduleState {
  /** The newest first, at most 20. */
  ticks: ScheduleTick[]
}

const TICKS_SHOWN = 20
const MOST_PREVIEWED = 1_000

export class Schedules {
  readonly #services: TickServices & { waker: Waker }
  readonly #changes: ScheduleChanges
  readonly #ticks: ScheduleTicks

  constructor(services: TickServices & { waker: Waker }) {
    this.#services = services
    this.#changes = new ScheduleChanges(services)
    this.#ticks = new ScheduleTicks(services)
  }

  /** All of them, by name. One that code declares is there once a worker with that code has started. */
  async list(): Promise<ScheduleState[]> {
    const { db, clock, registry } = this.#services
    return scheduleStates(db, registry, await scheduleList(db, clock.databaseNow(), null))
  }

  async get(name: string): Promise<ScheduleDetails> {
    const { db, clock, registry } = this.#services
    const rows = await scheduleList(db, clock.databaseNow(), [name])
    const [state] = await scheduleStates(db, registry, rows)
    if (state === undefined) throw await this.#changes.unknown(name)
    return { ...state, ticks: await scheduleTicks(db, name, TICKS_SHOWN) }
  }

  /** The next fire times of a schedule, whether it is paused or not. */
  async preview(name: string, { count = 10, from }: { count?: number; from?: Date } = {}): Promise<Date[]> {
    if (!Number.isInteger(count) || count < 1 || count > MOST_PREVIEWED)
      throw new InvalidDefinition(`count is ${count}: expected an integer from 1 to ${MOST_PREVIEWED}.`)
    const row = await this.#changes.row(name)
    return [...fires(timingInForce(row), { from: from ?? row.now, count })]
  }

  /** Ticks it now, whatever its timing says and whether it is paused or not. When it is next stays as it was. */
  async run(name: string, options: By): Promise<TickResult> {
    const by = author(options.by)
    const known = await this.#known(name)
    const { now: fireAt, lastFireAt: previousFireAt } = known.row
    const asked = { schedule: name, fireAt, origin: 'manual' as const, author: by, previousFireAt }
    const entry = { by, action: 'schedule.run', target: name }
    const result = await this.#ticks.ask(known, asked, (tx) => this.#changes.note(tx, entry))
    if (result === undefined) throw await this.#changes.unknown(name)
    return result
  }

  /**
   * It does not fire until somebody resumes it, or until then. What would have fired meanwhile is not made up for; what was
   * due before and nobody had ticked is recorded as missed.
   */
  async pause(name: string, options: SchedulePause): Promise<ScheduleState> {
    const { reason } = options
    const by = author(options.by)
    if (options.for !== undefined && options.until !== undefined)
      throw new InvalidDefinition('Both `for` and `until` were given: pass one of them.')
    const forMs = options.for === undefined ? undefined : toMs(options.for, 'pause({ for })')
    if (!reason) throw new InvalidDefinition('A pause needs a reason: others will ask why.')
    const pauseReason = label(reason, 'reason')
    const entry = { by, action: 'schedule.pause', target: name, details: { reason, until: options.until, forMs } }
    return this.#change(entry, async (row, tx) => {
      const until = forMs === undefined ? options.until : new Date(row.now.getTime() + forMs)
      if (until !== undefined && !(until > row.now))
        throw new InvalidDefinition(`until is ${String(until)}: expected a time in the future.`)
      const settled = await this.#ticks.giveUp(tx, row)
      return { ...settled, pausedAt: row.now, pausedUntil: until ?? null, pausedBy: by, pauseReason }
    })
  }

  /** It fires again at the next time from now on, or from the end of the pause if that has passed. */
  async resume(name: string, { by }: By): Promise<ScheduleState> {
    const entry = { by: author(by), action: 'schedule.resume', target: name }
    return this.#change(entry, (row) => {
      if (row.pausedAt === null) return row
      return withoutPause(row)
    })
  }

  /** Another timing, which counts from now on. Of one that was created at run time also its payload and options. */
  async edit(name: string, { by: editor, when, payload, ...options }: ScheduleEdit): Promise<ScheduleState> {
    const by = author(editor)
    const known = await this.#changes.row(name)
    const entry = { by, action: 'schedule.edit', target: name, details: { when, options } }
    if (known.source === 'code' && (payload !== undefined || Object.keys(options).length > 0)) {
      throw new InvalidDefinition(
        `Schedule "${name}" is declared in code: only \`when\` can be edited at run time. Change the others there.`,
      )
    }
    const contract = known.source === 'runtime' ? this.#services.registry.get(known.jobType) : undefined
    checkOptions(name, options)
    if (contract !== undefined && payload !== undefined) await checkStored(name, contract, payload)
    return this.#change(entry, (row) => {
      const timed = when === undefined ? row : withTiming(row, when)
      return contract === undefined ? timed : withOptions(timed, contract, { payload, ...options })
    })
  }

  /** A schedule that no code knows: workers that run its job type tick it. */
  async create({ name, type, when, payload, by: creator, ...options }: NewScheduleOptions): Promise<ScheduleState> {
    const { registry, declared } = this.#services
    const by = author(creator)
    checkName(name)
    checkOptions(name, options)
    const contract = registry.get(type)
    const settings = settingsOf(name, contract, options)
    await checkStored(name, contract, payload)
    const entry = { by, action: 'schedule.create', target: name, details: { type, when, options } }
    const isNew = await this.#changes.insert(entry, (now) => {
      const timing = timingOf(when, { now })
      const nextAt = firstFire(timing, now)
      const row = { name, jobType: type, source: 'runtime' as const, cadence: when, timing, options: settings, payload }
      return declared.find(name) === undefined ? { ...row, nextAt, pauseReason: null } : undefined
    })
    if (!isNew)
      throw new InvalidDefinition(`There is a schedule "${name}" already: edit that one, or take another name.`)
    return this.get(name)
  }

  /** With its ticks; its jobs stay. One that the code of a living worker declares is refused: it would come back. */
  async remove(name: string, options: By): Promise<void> {
    const { db, clock } = this.#services
    const by = author(options.by)
    const [row] = await scheduleList(db, clock.databaseNow(), [name])
    if (row === undefined) throw await this.#changes.unknown(name)
    if (row.source === 'code' && row.isDeclared) {
      throw new InvalidDefinition(
        `Schedule "${name}" is declared by the code of a worker that runs (${row.declaredBy}). Take it out of the code and deploy, or pause it.`,
      )
    }
    await this.#changes.remove({ by, action: 'schedule.remove', target: name })
  }

  /**
   * Ticks the fire times of a range, oldest first, at most 1,000: those that were missed, that failed, or that lie before the
   * schedule. Those that were ticked are left alone, so that it can be repeated after a failure.
   */
  async backfill(name: string, range: BackfillRange): Promise<BackfillResult> {
    const by = author(range.by)
    return backfill(
      { db: this.#services.db, ticks: this.#ticks },
      await this.#known(name),
      { ...range, by },
      (details) => this.#changes.note(this.#services.db, { by, action: 'schedule.backfill', target: name, details }),
    )
  }

  async #change(entry: ScheduleAudit, change: RowChange): Promise<ScheduleState> {
    await this.#changes.change(entry, change)
    return this.get(entry.target)
  }

  async #known(name: string): Promise<Known> {
    const row = await this.#changes.row(name)
    const known = this.#ticks.known(row)
    if (known !== undefined) return known
    const what =
      row.source === 'code' ? 'is declared in code that this program' : `enqueues "${row.jobType}", which this program`
    throw new InvalidDefinition(
      `Schedule "${name}" ${what} does not have, so it cannot be ticked here. Pass it to createMillrace; at the command line, pass --module.`,
    )
  }
}
