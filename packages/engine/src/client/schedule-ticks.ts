// Ticks of schedules: exactly one for each fire time, whoever else is at it.
//
// The payload is made first, outside of any transaction. Then one short transaction moves the schedule on, if nobody has
// moved it, and writes tick and job. Whoever comes second finds it moved and forgets what it has made.

import { randomUUID } from 'node:crypto'
import type { Now } from '../clock.ts'
import { planGivingUp, planTick } from '../schedule/due.ts'
import type { Session } from '../store/db.ts'
import {
  type AskedTick,
  type NewTick,
  NO_JOBS,
  scheduleAdvance,
  scheduleTickHurry,
  scheduleTickInsert,
  scheduleTickSettle,
  type TickOrigin,
  type TickResult,
} from '../store/schedule-ticks.ts'
import { type ScheduleRow, scheduleWrite, timingInForce } from '../store/schedules.ts'
import type { Transaction } from '../store/transaction.ts'
import { AtMost } from './at-most.ts'
import { withoutPause } from './schedule-edit.ts'
import { tellMissed, tellTick } from './schedule-events.ts'
import { isForLater, type Known, knownSchedule, type Made, makePayload, refusalOf } from './schedule-payload.ts'
import { TenantPages, type TickServices } from './schedule-tenants.ts'

interface Fire {
  readonly known: Known
  readonly fireAt: Date
  readonly previousFireAt: Date | null
  readonly origin: TickOrigin
  /** Undefined: somebody else has done it. */
  open(tx: Transaction): Promise<NewTick | undefined>
}

/** `result` undefined: there was nothing to do for us. */
interface Done {
  readonly tick: NewTick
  readonly result: TickResult | undefined
}

/** The worker needs its connections for claims. */
const TRANSACTIONS_AT_ONCE = 2

export class ScheduleTicks {
  /** Under which this process goes on with ticks that take several pages. */
  readonly processId = randomUUID()
  readonly #services: TickServices
  readonly #pages: TenantPages
  readonly #writing = new AtMost(TRANSACTIONS_AT_ONCE)

  constructor(services: TickServices) {
    this.#services = services
    this.#pages = new TenantPages(services, { processId: this.processId, write: (work) => this.#write(work) })
  }

  known(row: ScheduleRow): Known | undefined {
    return knownSchedule(this.#services, row)
  }

  /** Its tick calls code of the author, which may take long. */
  isCall(row: ScheduleRow): boolean {
    return row.pausedAt === null && !row.options.perTenant && typeof this.known(row)?.payload === 'function'
  }

  /** Does what is due about a schedule: ends its pause, or ticks it. */
  async tick(row: ScheduleRow): Promise<void> {
    if (row.pausedAt !== null) return this.#endPause(row)
    const known = this.known(row)
    if (known === undefined || row.nextAt === null || row.nextAt > row.now) return
    const plan = planTick({ timing: timingInForce(row), missed: row.options.missed, nextAt: row.nextAt, now: row.now })
    const open = (tx: Transaction) => scheduleAdvance(tx, this.#now(), { ...row, ...plan })
    const { fireAt, missed } = plan
    const isOurs =
      fireAt === undefined
        ? (await this.#write(open)) !== undefined
        : (await this.#fire({ known, fireAt, previousFireAt: row.lastFireAt, origin: 'due', open })) !== undefined
    if (isOurs && missed !== undefined) tellMissed(this.#services, row.name, missed)
  }

  /** Notes what is due as missed, in the transaction of whoever pauses it, and moves it on. */
  async giveUp(tx: Session, given: ScheduleRow): Promise<ScheduleRow> {
    const row = isPauseOver(given) ? await this.#ended(tx, given) : given
    const { name, nextAt, now } = row
    if (row.pausedAt !== null || nextAt === null || nextAt > now) return row
    const plan = planGivingUp({ timing: timingInForce(row), nextAt, now })
    await scheduleAdvance(tx, this.#now(), { ...row, ...plan })
    if (plan.missed !== undefined) tellMissed(this.#services, name, plan.missed)
    return { ...row, nextAt: plan.nextAt ?? null, revision: nextRevision(row) }
  }

  /** Ticks a schedule because somebody says so. Undefined: that fire time was ticked before. */
  async ask(
    known: Known,
    asked: AskedTick,
    beside: (tx: Transaction) => Promise<void> = async () => {},
  ): Promise<TickResult | undefined> {
    const done = await this.#fire({
      known,
      ...asked,
      open: async (tx) => {
        await beside(tx)
        return scheduleTickInsert(tx, this.#now(), asked)
      },
    })
    const tickId = done?.tick.tickId ?? null
    if (tickId === null) return undefined
    return known.row.options.perTenant ? this.#pages.finish(tickId) : done?.result
  }

  /** Goes on with a tick that pages through tenants, by one page. */
  async page(tickId: string): Promise<void> {
    await this.#pages.page(tickId)
  }

  async #fire(fire: Fire): Promise<Done | undefined> {
    const { known, fireAt, previousFireAt, origin } = fire
    const { name, options } = known.row
    const made: Made = options.perTenant
      ? { kind: 'by tenant' }
      : await makePayload(known, { fireAt, previousFireAt, tenant: options.tenant }, origin)
    const done = await this.#record(fire, made)
    if (done?.result !== undefined && done.result.outcome !== 'running') {
      tellTick(this.#services, { schedule: name, fireAt, origin, latenessMs: done.tick.latenessMs ?? 0 }, done.result)
    }
    return done
  }

  /** What the enqueue refuses is a fact about this tick; what passes is tried again. */
  async #record(fire: Fire, made: Made): Promise<Done | undefined> {
    try {
      return await this.#recordOnce(fire, made)
    } catch (error) {
      if (isForLater(error)) throw error
      return this.#recordOnce(fire, refusalOf(error))
    }
  }

  #recordOnce({ known, open }: Fire, made: Made): Promise<Done | undefined> {
    return this.#write(async (tx) => {
      const tick = await open(tx)
      if (tick === undefined) return undefined
      if (tick.tickId === null) return { tick, result: undefined }
      const result = await this.#resultOf(tx, known, made)
      await scheduleTickSettle(tx, tick.tickId, result)
      return { tick, result }
    })
  }

  async #resultOf(tx: Transaction, { contract }: Known, made: Made): Promise<TickResult> {
    if (made.kind === 'by tenant') return { ...NO_JOBS, outcome: 'running' }
    if (made.kind === 'skip') return { ...NO_JOBS, outcome: 'skipped', reason: made.reason }
    if (made.kind === 'error') return { ...NO_JOBS, outcome: 'failed', reason: made.reason }
    await scheduleTickHurry(tx)
    const enqueued = await this.#services.enqueuer.enqueue(contract, made.payload, {
      ...made.options,
      tx,
      isOwnTx: true,
    })
    if (enqueued.status !== 'duplicate') return { ...NO_JOBS, outcome: 'enqueued', jobId: enqueued.id, jobs: 1 }
    const why = contract.dedupe.mode === 'window' ? 'holds its dedup key for a window that is open' : 'is not done'
    const reason = `job ${enqueued.id}, enqueued before, ${why}`
    return { ...NO_JOBS, outcome: 'skipped', reason, jobId: enqueued.id }
  }

  async #endPause(row: ScheduleRow): Promise<void> {
    if (isPauseOver(row)) await this.#ended(this.#services.db, row)
  }

  async #ended(session: Session, row: ScheduleRow): Promise<ScheduleRow> {
    const going = withoutPause(row)
    await scheduleWrite(session, this.#now(), going, 'millrace: the pause is over')
    return { ...going, revision: nextRevision(row) }
  }

  #write<Result>(work: (tx: Transaction) => Promise<Result>): Promise<Result> {
    return this.#writing.run(() => this.#services.db.transaction(work))
  }

  #now(): Now {
    return this.#services.clock.databaseNow()
  }
}

const isPauseOver = ({ pausedAt, pausedUntil, now }: ScheduleRow): boolean =>
  pausedAt !== null && pausedUntil !== null && pausedUntil <= now

const nextRevision = ({ revision }: ScheduleRow): string => String(BigInt(revision) + 1n)
