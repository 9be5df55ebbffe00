// The schedules of a test: declared as by a worker that starts, ticked when the clock has come to them.
import { declareSchedules } from '../client/schedule-declaration.ts'
import { ScheduleTicks } from '../client/schedule-ticks.ts'
import type { ClientServices } from '../client-services.ts'
import { Scheduler } from '../maintenance/scheduler.ts'

export class InlineSchedules {
  readonly #services: ClientServices
  readonly #scheduler: Scheduler
  readonly #errors: unknown[] = []
  #nextAtMs: number | null = null

  constructor(services: ClientServices, types: readonly string[]) {
    this.#services = services
    const onError = (_: string, error: unknown) => void this.#errors.push(error)
    const ticks = new ScheduleTicks(services)
    this.#scheduler = new Scheduler({ ...services, types, ticks, onError, isTold: () => false, onLate: () => {} })
  }

  async declare(): Promise<void> {
    const { db, clock, declared } = this.#services
    await declareSchedules(db, clock.databaseNow(), declared.all)
  }

  /** Ticks what is due. */
  async fire(): Promise<void> {
    for (let isMore = true; isMore; ) {
      const { begun, nextInMs } = await this.#scheduler.tick()
      await this.#scheduler.idle()
      if (this.#errors.length > 0) throw this.#errors.shift()
      isMore = begun > 0
      this.#nextAtMs = nextInMs === null ? null : this.#nowMs() + Math.round(nextInMs)
    }
  }

  /** When the next is due, as the last pass saw it. A handler may have moved the clock beyond. */
  get nextAt(): Date | null {
    return this.#nextAtMs === null ? null : new Date(Math.max(this.#nowMs(), this.#nextAtMs))
  }

  #nowMs(): number {
    return (this.#services.clock.databaseNow() ?? new Date()).getTime()
  }
}
