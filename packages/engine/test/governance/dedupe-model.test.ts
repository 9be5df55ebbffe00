// Random sequences of enqueues, starts, ends, crashes and passing time, in every mode, beside a model that knows no SQL.
import fc from 'fast-check'
import { defineJob, defineQueues, type EnqueueResult } from 'millrace'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { type HandRun, type Hands, hands } from '../support/hands.ts'

const { default: queue } = defineQueues({ default: {} })
const payload = z.object({ key: z.string(), n: z.number() })
const key = (given: { key: string }) => given.key
const S = 1_000
const WINDOW = 20 * S
const WAIT = 5 * S
const MAX_WAIT = 12 * S

const contracts = {
  live: defineJob({ type: 'live', queue, payload, dedupe: { key } }),
  window: defineJob({ type: 'window', queue, payload, dedupe: { key, mode: 'window', window: WINDOW } }),
  waiting: defineJob({ type: 'waiting', queue, payload, dedupe: { key, mode: 'waiting' } }),
  debounce: defineJob({
    type: 'debounce',
    queue,
    payload,
    dedupe: { key, mode: 'debounce', wait: WAIT, maxWait: MAX_WAIT },
  }),
  latest: defineJob({ type: 'latest', queue, payload, dedupe: { key, mode: 'latest' } }),
}
type Mode = keyof typeof contracts

interface ModelJob {
  id: string
  slot: string
  mode: Mode
  n: number
  createdAt: number
  runAt: number
  status: 'pending' | 'processing'
  holdsKey: boolean
  hasStarted: boolean
  isDoomed: boolean
  crashes: number
}

class Model {
  readonly jobs = new Map<string, ModelJob>()
  readonly #windows = new Map<string, { id: string; until: number }>()

  holder(slot: string): ModelJob | undefined {
    return [...this.jobs.values()].find((job) => job.slot === slot && job.holdsKey)
  }

  /** What must be answered; `newId` is what was. */
  enqueue(
    mode: Mode,
    where: { slot: string; n: number; now: number },
    newId: string,
  ): Pick<EnqueueResult, 'status' | 'id'> {
    const { slot, n, now } = where
    const holder = this.holder(slot)
    const window = this.#windows.get(slot)
    if (holder !== undefined && (mode === 'debounce' || mode === 'latest') && !holder.hasStarted) {
      holder.n = n
      holder.runAt = mode === 'latest' ? now : Math.min(now + WAIT, holder.createdAt + MAX_WAIT)
      return { status: 'replaced', id: holder.id }
    }
    if (holder !== undefined && mode !== 'latest') return { status: 'duplicate', id: holder.id }
    if (mode === 'window' && window !== undefined && window.until > now) return { status: 'duplicate', id: window.id }
    if (holder !== undefined) this.#doom(holder, now)
    if (holder !== undefined) holder.holdsKey = false
    if (mode === 'window') this.#windows.set(slot, { id: newId, until: now + WINDOW })
    this.jobs.set(newId, {
      id: newId,
      slot,
      mode,
      n,
      createdAt: now,
      runAt: mode === 'debounce' ? now + WAIT : now,
      status: 'pending',
      holdsKey: true,
      hasStarted: false,
      isDoomed: false,
      crashes: 0,
    })
    return { status: 'queued', id: newId }
  }

  start(id: string): void {
    const job = this.jobs.get(id) as ModelJob
    job.status = 'processing'
    job.hasStarted = true
    if (job.mode === 'waiting' || job.mode === 'debounce') job.holdsKey = false
  }

  comesBack(job: ModelJob, now: number, delay: number | null): void {
    job.status = 'pending'
    const isReplaced = !job.holdsKey && this.holder(job.slot) !== undefined
    if (isReplaced || job.isDoomed) this.#doom(job, now)
    else job.runAt = delay === null ? Math.min(job.runAt, now) : now + delay
  }

  #doom(job: ModelJob, now: number): void {
    job.isDoomed = true
    job.runAt = Math.min(job.runAt, now)
  }
}

type Step =
  | { does: 'enqueue'; mode: Mode; tenant: number; many: number }
  | { does: 'claim' }
  | { does: 'rescue' }
  | { does: 'complete' | 'fail' | 'giveBack' | 'bury'; which: number }
  | { does: 'pass'; seconds: number }

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      does: fc.constant('enqueue' as const),
      mode: fc.constantFrom(...(Object.keys(contracts) as Mode[])),
      tenant: fc.nat(1),
      many: fc.integer({ min: 1, max: 3 }),
    }),
  },
  { weight: 4, arbitrary: fc.constant({ does: 'claim' as const }) },
  { weight: 1, arbitrary: fc.constant({ does: 'rescue' as const }) },
  {
    weight: 4,
    arbitrary: fc.record({
      does: fc.constantFrom('complete' as const, 'fail' as const, 'giveBack' as const, 'bury' as const),
      which: fc.nat(9),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({ does: fc.constant('pass' as const), seconds: fc.constantFrom(1, 4, 5, 12, 20) }),
  },
)

let sequence = 0

/** One sequence on the database and on the model; its tenants are its own. */
class Sequence {
  readonly #t: Hands
  readonly #model = new Model()
  readonly #name = `run-${sequence++}`
  readonly #runs: HandRun[] = []
  #n = 0

  constructor(t: Hands) {
    this.#t = t
  }

  async take(next: Step): Promise<void> {
    if (next.does === 'enqueue') await this.#enqueue(next)
    else if (next.does === 'claim') await this.#claim()
    else if (next.does === 'rescue') await this.#rescue()
    else if (next.does === 'pass') this.#t.clock.advance(next.seconds * S)
    else await this.#settle(next.does, next.which)
    await this.#compare()
  }

  get #now(): number {
    return this.#t.clock.now().getTime()
  }

  async #enqueue({ mode, tenant, many }: Step & { does: 'enqueue' }): Promise<void> {
    const payloads = Array.from({ length: many }, () => ({ key: 'a', n: this.#n++ }))
    const options = { tenant: `${this.#name}-${tenant}` }
    const results = await this.#t.millrace.enqueueMany(contracts[mode] as never, payloads as never[], options)
    results.forEach(({ status, id }, i) => {
      const where = { slot: `${mode}/${tenant}`, n: payloads[i]?.n as number, now: this.#now }
      expect({ status, id }).toEqual(this.#model.enqueue(mode, where, id))
    })
  }

  async #claim(): Promise<void> {
    const due = [...this.#model.jobs.values()].filter((job) => job.status === 'pending' && job.runAt <= this.#now)
    const claimed = await this.#t.claim()
    const ids = claimed.map(({ job }) => job.id)
    for (const { id, crashes } of due) if (crashes === 0) expect(ids).toContain(id)
    for (const run of claimed) {
      const { id, isCancelRequested } = run.job
      const job = due.find((each) => each.id === id)
      expect({ isCancelRequested, payload: run.job.payload }).toMatchObject({
        isCancelRequested: job?.isDoomed,
        payload: { n: job?.n },
      })
      this.#model.start(id)
      if (isCancelRequested) await this.#end(run, this.#t.cancelled)
      else this.#runs.push(run)
    }
  }

  async #settle(does: 'complete' | 'fail' | 'giveBack' | 'bury', which: number): Promise<void> {
    const [run] = this.#runs.splice(which % Math.max(1, this.#runs.length), 1)
    if (run === undefined) return
    if (does === 'complete' || does === 'bury') return this.#end(run, this.#t[does])
    const job = this.#model.jobs.get(run.job.id) as ModelJob
    expect(await this.#t[does](run)).toBe(true)
    if (does === 'fail') job.crashes = 0
    this.#model.comesBack(job, this.#now, does === 'fail' ? S : null)
  }

  async #end(run: HandRun, how: (run: HandRun) => Promise<boolean>): Promise<void> {
    expect(await how(run)).toBe(true)
    this.#model.jobs.delete(run.job.id)
  }

  async #rescue(): Promise<void> {
    await this.#t.rescue()
    // All requeued runs see the holders as they were before: none of them takes its key back.
    for (const { job: claimed } of this.#runs.splice(0)) {
      const job = this.#model.jobs.get(claimed.id) as ModelJob
      job.crashes++
      if (job.isDoomed || job.crashes === 3) this.#model.jobs.delete(job.id)
      else this.#model.comesBack(job, this.#now, null)
    }
  }

  async #compare(): Promise<void> {
    const rows = await this.#t.sql(
      `select id, status, (payload->>'n')::int as n, dedup_key is not null as "holdsKey", run_at as "runAt",
         cancel_requested_at is not null as "isDoomed", crashes
       from millrace.job order by id`,
    )
    const expected = [...this.#model.jobs.values()].map(({ id, status, n, holdsKey, runAt, isDoomed, crashes }) => {
      return { id, status, n, holdsKey, runAt: new Date(runAt), isDoomed, crashes }
    })
    expect(rows).toEqual(expected.sort((a, b) => Number(a.id) - Number(b.id)))
  }
}

test('every sequence ends as the model says', { timeout: 100_000 }, async () => {
  await using t = await hands(Object.values(contracts))
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 60, size: 'max' }), async (steps) => {
      await t.sql('delete from millrace.job')
      const run = new Sequence(t)
      for (const next of steps) await run.take(next)
    }),
    { numRuns: 60 },
  )
})
