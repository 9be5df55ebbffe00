// Random sequences of what can happen to keyed jobs, on the real database, against a model of a dozen lines: nothing is
// admitted that must not be, and nothing is blocked that has a place.
import { randomUUID } from 'node:crypto'
import fc from 'fast-check'
import { defineJob, defineQueues, type Millrace } from 'millrace'
import { fakeClock } from 'millrace/testing'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import { Admitter, keysWithRoom } from '#src/governance/admitter'
import { Database } from '#src/store/db'
import { type ClaimedJob, jobClaim, jobReleaseRun } from '#src/store/job-claims'
import { ensurePartitions } from '#src/store/partitions'
import { type Settlement, settle } from '#src/store/settlements'
import { type Setup, setup } from '../support/setup.ts'

const queues = defineQueues({ q: {} })
const payload = z.object({ key: z.string() })
const order = { key: ({ key }: { key: string }) => key }
const contracts = {
  ordered: defineJob({ type: 'ordered', queue: queues.q, payload, order }),
  strict: defineJob({ type: 'strict', queue: queues.q, payload, order: { ...order, onDead: 'stop' } }),
  limited: defineJob({ type: 'limited', queue: queues.q, payload, keyLimit: { ...order, concurrency: 2 } }),
  plain: defineJob({ type: 'plain', queue: queues.q, payload }),
}
type Type = keyof typeof contracts
const types = Object.keys(contracts) as Type[]

const MINUTE = 60_000

type Step =
  | { do: 'enqueue'; type: Type; key: string; delayMin: number }
  | { do: 'claim'; count: number }
  | { do: 'end'; which: number; how: 'complete' | 'cancel' | 'die' | 'retry' | 'snooze' | 'give back' | 'rescue' }
  | { do: 'cancel'; which: number }
  | { do: 'wait'; minutes: number }
  | { do: 'continue'; key: string }

const which = fc.nat(20)
const key = fc.constantFrom('a', 'b')
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      do: fc.constant('enqueue' as const),
      type: fc.constantFrom(...types),
      key,
      delayMin: fc.constantFrom(0, 0, 0, 1),
    }),
  },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('claim' as const), count: fc.integer({ min: 1, max: 4 }) }) },
  {
    weight: 5,
    arbitrary: fc.record({
      do: fc.constant('end' as const),
      which,
      how: fc.constantFrom('complete', 'cancel', 'die', 'retry', 'snooze', 'give back', 'rescue'),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('cancel' as const), which }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('wait' as const), minutes: fc.constantFrom(1, 3) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('continue' as const), key }) },
)

interface ModelJob {
  id: string
  type: Type
  key: string
  status: 'pending' | 'processing' | 'blocked'
  dueAt: number
}

/** What should be: the rules of the guide, over an array. */
class Model {
  jobs: ModelJob[] = []
  readonly stopped = new Set<string>()

  admit(now: number): void {
    for (const scope of ['order', 'limit'] as const) {
      for (const each of ['a', 'b']) {
        const ofKey = this.jobs.filter((job) => scopeOf(job.type) === scope && job.key === each)
        const waiting = ofKey.filter((job) => job.status === 'blocked')
        const free = (scope === 'order' ? 1 : 2) - (ofKey.length - waiting.length)
        const next =
          scope === 'order'
            ? this.stopped.has(each)
              ? []
              : waiting
            : waiting.filter((job) => job.dueAt <= now).sort((a, b) => a.dueAt - b.dueAt || Number(a.id) - Number(b.id))
        for (const job of next.slice(0, Math.max(0, free))) job.status = 'pending'
      }
    }
  }

  remove(id: string): void {
    this.jobs = this.jobs.filter((job) => job.id !== id)
  }
}

const scopeOf = (type: Type) => (type === 'plain' ? 'none' : type === 'limited' ? 'limit' : 'order')

const clock = fakeClock('2026-03-01T10:00:00Z')
let t: Setup
let db: Database
let millrace: Millrace

beforeAll(async () => {
  t = await setup()
  db = new Database({ connection: { connectionString: t.url }, schema: 'millrace', maxConnections: 2 })
  await ensurePartitions(db, clock.databaseNow())
  millrace = t.client(Object.values(contracts), { clock, maxConnections: 2 })
})

afterAll(async () => {
  await db.close()
  await t[Symbol.asyncDispose]()
})

const failure = { class: 'E', message: 'm', stack: null, fingerprint: 'f', logs: null }

function settlementOf(how: string, { id, runId }: { id: string; runId: string }): Settlement {
  const requeue = { kind: 'requeue', id, runId, refund: true, failure: null } as const
  switch (how) {
    case 'die':
      return { kind: 'bury', id, runId, reason: 'exhausted', failure, retention: 'none', drop: true }
    case 'retry':
      return { ...requeue, refund: false, delayMs: 2 * MINUTE, crash: 'clear', failure }
    case 'snooze':
      return { ...requeue, delayMs: MINUTE, crash: 'clear' }
    case 'give back':
      return { ...requeue, delayMs: null, crash: 'keep' }
    case 'rescue':
      return { ...requeue, delayMs: null, crash: 'count' }
    default: {
      const status = how === 'cancel' ? 'cancelled' : 'completed'
      return { kind: 'finish', id, runId, status, result: null, reason: null, retention: 'none' }
    }
  }
}

/** The real thing and the model, step by step. */
class Pair {
  readonly model = new Model()
  readonly running = new Map<string, { job: ClaimedJob; runId: string }>()
  readonly admitter = new Admitter({
    db,
    clock,
    wake: () => {},
    onError: (_, error) => {
      throw error
    },
  })

  get now(): number {
    return clock.now().getTime()
  }

  async run(each: Step): Promise<void> {
    switch (each.do) {
      case 'enqueue':
        return this.#enqueue(each)
      case 'claim':
        return this.#claim(each.count)
      case 'end':
        return this.#end(each.which, each.how)
      case 'cancel':
        return this.#cancel(each.which)
      case 'wait':
        clock.advance(`${each.minutes}m`)
        return this.admitter.sweepAll()
      case 'continue':
        await millrace.keys.continue({ queue: 'q', key: each.key }, { by: 'a test' })
        this.model.stopped.delete(each.key)
    }
  }

  async #enqueue({ type, key: given, delayMin }: Step & { do: 'enqueue' }): Promise<void> {
    const { id } = await millrace.enqueueByType(type, { key: given }, { delay: delayMin * MINUTE })
    const status = type === 'plain' ? 'pending' : 'blocked'
    this.model.jobs.push({ id, type, key: given, status, dueAt: this.now + delayMin * MINUTE })
  }

  async #claim(count: number): Promise<void> {
    const runId = randomUUID()
    const jobs = await jobClaim(db, clock.now(), {
      queues: [{ queue: 'q', limit: count }],
      types: types.map((type) => ({ type, stuckAfterMs: 60_000 })),
      runId,
      workerId: randomUUID(),
      suspectQueues: ['q'],
      byType: false,
    })
    for (const job of jobs) {
      this.running.set(job.id, { job, runId })
      const modelled = this.model.jobs.find(({ id }) => id === job.id)
      expect(modelled?.status, `job ${job.id} may be claimed`).toBe('pending')
      if (modelled) modelled.status = 'processing'
    }
  }

  async #end(index: number, how: (Step & { do: 'end' })['how']): Promise<void> {
    const run = [...this.running.values()][index % Math.max(1, this.running.size)]
    if (run === undefined) return
    const settlement = settlementOf(how, { id: run.job.id, runId: run.runId })
    this.running.delete(run.job.id)
    await settle(db, clock.now(), [settlement])
    await this.admitter.admit(keysWithRoom(run.job, settlement))
    const modelled = this.model.jobs.find(({ id }) => id === run.job.id) as ModelJob
    if (settlement.kind !== 'requeue') {
      this.model.remove(run.job.id)
      if (how === 'die' && modelled.type === 'strict') this.model.stopped.add(modelled.key)
      return
    }
    if (settlement.delayMs !== null) modelled.dueAt = this.now + settlement.delayMs
    modelled.status = settlement.delayMs !== null && modelled.type === 'limited' ? 'blocked' : 'pending'
  }

  async #cancel(index: number): Promise<void> {
    const waiting = this.model.jobs.filter(({ status }) => status !== 'processing')
    const job = waiting[index % Math.max(1, waiting.length)]
    if (job === undefined) return
    expect(await millrace.cancel(job.id, { by: 'ann' })).toBe('cancelled')
    this.model.remove(job.id)
  }

  /** Both look the same: status by status. */
  async compare(): Promise<void> {
    this.model.admit(this.now)
    const rows = await t.sql<{ id: string; status: string }>('select job.id, status from millrace.job order by job.id')
    expect(rows).toEqual(this.model.jobs.map(({ id, status }) => ({ id, status })))
  }
}

test('whatever happens to keyed jobs, the places of their keys are full and never more than full', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 40 }), async (steps) => {
      await t.sql('truncate millrace.job, millrace.order_stop, millrace.key_limit_setting')
      const pair = new Pair()
      for (const each of steps) {
        await pair.run(each)
        await pair.compare()
      }
    }),
    { numRuns: 60 },
  )
}, 120_000)

test('a lost claim that is released stays admitted', async () => {
  await t.sql('truncate millrace.job, millrace.order_stop, millrace.key_limit_setting')
  for (let i = 0; i < 4; i++) await millrace.enqueue(contracts.limited, { key: 'a' })
  const claim = { runId: randomUUID(), workerId: randomUUID() }
  await jobClaim(db, clock.now(), {
    ...claim,
    queues: [{ queue: 'q', limit: 10 }],
    types: [{ type: 'limited', stuckAfterMs: 60_000 }],
    suspectQueues: [],
    byType: true,
  })
  expect(await jobReleaseRun(db, clock.now(), claim)).toHaveLength(2)
  const rows = await t.sql<{ status: string }>('select status from millrace.job order by id')
  expect(rows.map(({ status }) => status)).toEqual(['pending', 'pending', 'blocked', 'blocked'])
})
