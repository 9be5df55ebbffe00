// AI_TAGGING: tags items batch by batch, within the monthly budget. It may run several times at once, and die anywhere:
// a call is noted before it is made, reserved before it is noted, and counted once.
import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import {
  BudgetExceeded,
  type Implementation,
  implement,
  type JobContext,
  type Reservation,
  type ResultInput,
} from 'millrace'
import type { VillageContracts } from '../contracts.ts'
import { untaggedCount } from '../feeds/feed-store.ts'
import { named } from '../handler-names.ts'
import { spanEvent } from '../telemetry/span-events.ts'
import { percentOf } from '../telemetry/throttles.ts'
import type { VillageParts } from '../village-parts.ts'
import { Batch, type Prepared, type Tally } from './batch.ts'
import { BatchItems } from './item-store.ts'
import { TaggingModel } from './model.ts'
import { Pace } from './pace.ts'
import { mostCostOf, type Price, priceOf } from './prices.ts'
import { buildPrompt, bytesOf } from './prompt.ts'
import { repairUsage, settleBatch } from './usage.ts'

/** Items of a batch by how far the budget is used up. */
export const BATCH_SIZES = { NORMAL: 20, REDUCE: 10, QUEUE: 0, HARD_STOP: 0 } as const

/** What holds the rows of all items is over within seconds. */
const MOST_CLAIMS = 20
const BETWEEN_CLAIMS_MS = 250

/** No batch begins later: the job's timeout is 45 minutes. */
const SOFT_END_MS = 40 * 60_000

type Result = ResultInput<VillageContracts['AI_TAGGING']>

export function tagItems(parts: VillageParts): Implementation {
  const shared = { parts, model: new TaggingModel(parts.outside, parts.config), price: priceOf(parts.config) }
  return implement(
    parts.contracts.AI_TAGGING,
    ({ trigger = 'manual' }, ctx) => new TaggingRun(shared, ctx).run(trigger),
    named('AI_TAGGING'),
  )
}

interface Shared {
  readonly parts: VillageParts
  readonly model: TaggingModel
  readonly price: Price
}

class TaggingRun {
  readonly #shared: Shared
  readonly #ctx: JobContext
  readonly #pace = new Pace()
  readonly #tally: Tally = { tagged: 0, reused: 0, failed: 0, batches: 0, microdollars: 0 }
  readonly #startedAt: number

  constructor(shared: Shared, ctx: JobContext) {
    this.#shared = shared
    this.#ctx = ctx
    this.#startedAt = shared.parts.clock.now().getTime()
  }

  async run(trigger: 'scheduled' | 'manual'): Promise<Result> {
    const { database } = this.#shared.parts
    this.#tellBudget()
    const left = await repairUsage(database, this.#ctx)
    if (left.calls > 0) this.#ctx.log.warn({ ...left }, 'counted the calls of a run that had died')
    const untagged = await untaggedCount(database)
    const stopped = !(await this.#batches(untagged))
    const { tagged, reused, failed, batches, microdollars } = this.#tally
    const cost = { cost_cents: microdollars / 10_000, stopped, left: await untaggedCount(database) }
    return { trigger, tagged, reused, failed, batches, ...cost }
  }

  /** False: the budget has stopped it. */
  async #batches(untagged: number): Promise<boolean> {
    const { config, clock } = this.#shared.parts
    const { ctx, tally } = { ctx: this.#ctx, tally: this.#tally }
    while (tally.batches < config.ai.batchesPerRun) {
      if (clock.now().getTime() - this.#startedAt >= SOFT_END_MS) return true
      await ctx.budget.refresh()
      if (tally.batches > 0) this.#tellBudget()
      const size = BATCH_SIZES[ctx.budget.level]
      const outcome = size === 0 ? 'refused' : await this.#batch(size)
      if (outcome === 'nothing left') return true
      if (outcome === 'refused') {
        this.#exhausted(untagged)
        return false
      }
      tally.batches += 1
      ctx.progress(Math.min(untagged, tally.tagged + tally.reused + tally.failed), untagged)
    }
    return true
  }

  async #batch(size: number): Promise<'done' | 'nothing left' | 'refused'> {
    const { parts, price, model } = this.#shared
    const ctx = this.#ctx
    const id = randomUUID()
    const items = new BatchItems(parts.database, id, { jobId: ctx.jobId, model: parts.config.ai.model })
    const claimed = await this.#claim(items, size)
    if (claimed.length === 0) return 'nothing left'
    const prepared = claimed.map((item) => {
      const request = buildPrompt(item, parts.config)
      return { item, request, mostCost: mostCostOf(bytesOf(request), request.max_tokens, price) }
    })
    let reservation: Reservation | undefined
    try {
      const fitting = await this.#reserve(prepared)
      if (fitting === undefined) return 'refused'
      reservation = fitting.reservation
      const batch = new Batch({ ctx, model, price, items, pace: this.#pace, tally: this.#tally })
      await batch.work(fitting.prepared)
      return 'done'
    } finally {
      // Counted first: if the claims stay, they run out by themselves.
      if (reservation !== undefined) await settleBatch(parts.database, id, reservation)
      await items.release(claimed.map((item) => item.id))
    }
  }

  /** A ranking holds the rows of all items for a moment, and a claim passes over what somebody holds: then it is made again. */
  async #claim(items: BatchItems, size: number) {
    for (let tries = 1; ; tries++) {
      const claimed = await items.claim(size)
      if (claimed.length > 0 || tries === MOST_CLAIMS || !(await items.freeExist())) return claimed
      await sleep(BETWEEN_CLAIMS_MS, undefined, { signal: this.#ctx.signal })
    }
  }

  /** As many items as the budget has room for: all, half of them, a quarter … one. */
  async #reserve(
    prepared: readonly Prepared[],
  ): Promise<{ reservation: Reservation; prepared: readonly Prepared[] } | undefined> {
    const most = prepared.reduce((sum, { mostCost }) => sum + mostCost, 0)
    try {
      return { reservation: await this.#ctx.budget.reserve(most), prepared }
    } catch (error) {
      if (!(error instanceof BudgetExceeded)) throw error
      if (prepared.length === 1) return undefined
      return this.#reserve(prepared.slice(0, Math.floor(prepared.length / 2)))
    }
  }

  #tellBudget(): void {
    const { level, used, limit } = this.#ctx.budget
    spanEvent('budget_check', { budget_action: level, percent_used: percentOf(used, limit) })
  }

  #exhausted(total: number): void {
    const { tagged, reused } = this.#tally
    const facts = { tagged_count: tagged + reused, total_count: total }
    this.#ctx.log.warn(facts, 'budget exhausted mid-batch: the rest waits for the next hour')
    spanEvent('budget_exhausted_mid_batch', facts)
  }
}
