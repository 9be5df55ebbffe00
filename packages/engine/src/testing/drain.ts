// Runs what is due, and what that enqueues, until nothing is due.
import { AssertionError } from 'node:assert'
import type { ClientServices } from '../client-services.ts'
import { type Duration, toMs } from '../contract/duration.ts'
import { InvalidDefinition } from '../errors.ts'
import { Millrace } from '../millrace.ts'
import { ensurePartitions } from '../store/partitions.ts'
import { jobDueNext } from '../store/testing.ts'
import type { Implementation } from '../worker/context.ts'
import { FakeClock } from './fake-clock.ts'
import { inlineBreakers } from './inline-breakers.ts'
import { InlineClaims } from './inline-claims.ts'
import { InlineRunner } from './inline-runner.ts'
import { InlineSchedules } from './inline-schedules.ts'
import type { RunReport } from './report.ts'

export interface DrainOptions {
  /** Only these queues. Default: those of the handlers. */
  queues?: readonly string[]
  /** Stop after the first run for which this is true. */
  until?: (run: RunReport) => boolean
  /** Move the fake clock on by this much, and run what becomes due on the way at its time. */
  advance?: Duration
  /** Beyond so many runs it is taken for a loop. Default 1,000. */
  maxRuns?: number
}

const MAX_RUNS = 1_000

/**
 * Ticks the schedules that are due, and runs one job after the other in this process: each queue in its order, the queues in turn. Returns the runs in the
 * order in which they happened.
 */
export async function drain(
  millrace: Millrace,
  handlers: readonly Implementation[],
  options: DrainOptions = {},
): Promise<RunReport[]> {
  const services = Millrace.servicesOf(millrace)
  const breakers = inlineBreakers(services)
  const contracts = handlers.map(({ contract }) => contract)
  const claims = new InlineClaims(services, contracts, breakers)
  const runner = new InlineRunner(services, handlers, breakers)
  const schedules = new InlineSchedules(
    services,
    contracts.map(({ type }) => type),
  )
  const drainer = new Drainer(services, claims, { runner, schedules, options })
  await claims.begin()
  try {
    await drainer.drain()
    return drainer.runs
  } finally {
    await claims.end()
  }
}

class Drainer {
  readonly runs: RunReport[] = []
  readonly #services: ClientServices
  readonly #claims: InlineClaims
  readonly #runner: InlineRunner
  readonly #schedules: InlineSchedules
  readonly #options: DrainOptions
  readonly #queues: readonly string[]
  #isStopped = false

  constructor(
    services: ClientServices,
    claims: InlineClaims,
    { runner, schedules, options }: { runner: InlineRunner; schedules: InlineSchedules; options: DrainOptions },
  ) {
    this.#services = services
    this.#claims = claims
    this.#runner = runner
    this.#schedules = schedules
    this.#options = options
    this.#queues = options.queues ?? claims.queues
    const unknown = this.#queues.find((queue) => !claims.queues.includes(queue))
    if (unknown !== undefined) {
      throw new InvalidDefinition(`drain({ queues }) names queue "${unknown}", but no handler's job runs in it.`)
    }
  }

  async drain(): Promise<void> {
    const { advance } = this.#options
    await this.#schedules.declare()
    await this.#schedules.fire()
    await this.#services.admitter.sweepAll()
    await this.#services.advancer.sweep()
    if (advance === undefined) return this.#runDue()
    const clock = this.#fakeClock()
    const end = new Date(clock.now().getTime() + toMs(advance, 'drain({ advance })'))
    await this.#runDue()
    for (let next = await this.#nextDue(); next !== null && next <= end; next = await this.#nextDue()) {
      if (this.#isStopped) return
      clock.moveTo(next)
      await ensurePartitions(this.#services.db, next)
      await this.#schedules.fire()
      await this.#services.admitter.sweepAll()
      await this.#runDue()
    }
    // A handler may have moved it beyond.
    if (!this.#isStopped && clock.now() < end) clock.moveTo(end)
  }

  /** Queue after queue, one job each, until a whole round finds nothing. */
  async #runDue(): Promise<void> {
    for (let hasRun = true; hasRun && !this.#isStopped; ) {
      hasRun = false
      // A handler may have enqueued keyed jobs in a transaction.
      if (this.#services.admitter.isSweepNeeded) await this.#services.admitter.sweepAll()
      for (const queue of this.#queues) if (await this.#runHead(queue)) hasRun = true
    }
  }

  async #runHead(queue: string): Promise<boolean> {
    if (this.#isStopped) return false
    const claimed = await this.#claims.next(queue)
    for (const [i, run] of claimed.entries()) {
      if (this.runs.length >= (this.#options.maxRuns ?? MAX_RUNS)) {
        await this.#claims.giveBack(claimed.slice(i))
        throw this.#endless()
      }
      const report = await this.#runner.run(run)
      this.runs.push(report)
      if (this.#options.until?.(report) !== true) continue
      this.#isStopped = true
      await this.#claims.giveBack(claimed.slice(i + 1))
      break
    }
    return claimed.length > 0
  }

  async #nextDue(): Promise<Date | null> {
    const { db, clock } = this.#services
    const due = await jobDueNext(db, clock.databaseNow(), { queues: this.#queues, types: this.#claims.types })
    const probe = this.#claims.nextProbeAt
    const isProbeDue = probe === null || probe <= this.#fakeClock().now()
    return earliest([due, isProbeDue ? null : probe, this.#schedules.nextAt, await this.#nextWaitDue()])
  }

  /** When the next step of a workflow is due that waits for a time. Those whose time has come are advanced. */
  async #nextWaitDue(): Promise<Date | null> {
    const { advancer } = this.#services
    const { advanced = 0, dueInMs = null } = advancer.isNeeded ? await advancer.sweep() : {}
    const now = this.#fakeClock().now()
    if (advanced > 0) return now
    return dueInMs === null ? null : new Date(now.getTime() + dueInMs)
  }

  #endless(): AssertionError {
    const counts = new Map<string, number>()
    for (const { job } of this.runs) counts.set(job.type, (counts.get(job.type) ?? 0) + 1)
    const types = [...counts].sort(([, a], [, b]) => b - a).map(([type, count]) => `${type} (${count} runs)`)
    return new AssertionError({
      message: `drain() ran ${this.runs.length} jobs and there is still work: ${types.join(', ')}. Jobs that enqueue each other, or are due again at once, never end; raise { maxRuns } if it is meant to be so much.`,
    })
  }

  #fakeClock(): FakeClock {
    const { clock } = this.#services
    if (clock instanceof FakeClock) return clock
    throw new InvalidDefinition(
      'drain({ advance }) moves a fake clock, and this client has none: createMillrace({ clock: fakeClock(…) }).',
    )
  }
}

function earliest(times: readonly (Date | null)[]): Date | null {
  const known = times.flatMap((time) => (time === null ? [] : time.getTime()))
  return known.length === 0 ? null : new Date(Math.min(...known))
}
