// Random sequences of what can happen to jobs of tenants that may have three each, on the real database, against a model: no tenant has
// more than its number, nothing is deferred that has room, and in the end every job has run.
import fc from 'fast-check'
import { defineJob, defineQueues, type Millrace } from 'millrace'
import { fakeClock } from 'millrace/testing'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import type { ClientServices } from '#src/client-services'
import { keysWithRoom } from '#src/governance/admitter'
import { Millrace as Client } from '#src/millrace'
import { type Settlement, settle } from '#src/store/settlements'
import { InlineClaims } from '#src/testing/inline-claims'
import type { Run } from '#src/worker/run'
import { type Setup, setup } from '../support/setup.ts'

const queues = defineQueues({ q: { tenantJobs: { max: 3, over: 'defer' } } })
const common = { queue: queues.q, payload: z.object({ key: z.string() }) }
const key = ({ key }: { key: string }) => key
const contracts = {
  plain: defineJob({ ...common, type: 'plain' }),
  ordered: defineJob({ ...common, type: 'ordered', order: { key } }),
  strict: defineJob({ ...common, type: 'strict', order: { key, onDead: 'stop' } }),
  limited: defineJob({ ...common, type: 'limited', keyLimit: { key, concurrency: 1 } }),
}
type Type = keyof typeof contracts
const types = Object.keys(contracts) as Type[]
const tenants = ['x', 'y'] as const
const names = ['a', 'b'] as const
const endings = ['complete', 'die', 'retry', 'give back', 'rescue'] as const
const MINUTE = 60_000
const by = { by: 'ann' }

type Step =
  | { do: 'enqueue'; type: Type; tenant: string; key: string }
  | { do: 'start'; which: number }
  | { do: 'end'; which: number; how: (typeof endings)[number] }
  | { do: 'cancel'; which: number }
  | { do: 'limit'; tenant: string; jobs: number | null }
  | { do: 'continue'; tenant: string; key: string }

const steps: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 12,
    arbitrary: fc.record({
      do: fc.constant('enqueue' as const),
      type: fc.constantFrom(...types),
      tenant: fc.constantFrom(...tenants),
      key: fc.constantFrom(...names),
    }),
  },
  { weight: 5, arbitrary: fc.record({ do: fc.constant('start' as const), which: fc.nat(20) }) },
  {
    weight: 5,
    arbitrary: fc.record({ do: fc.constant('end' as const), which: fc.nat(20), how: fc.constantFrom(...endings) }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('cancel' as const), which: fc.nat(20) }) },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant('limit' as const),
      tenant: fc.constantFrom(...tenants),
      jobs: fc.constantFrom(null, 1, 2, 5),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant('continue' as const),
      tenant: fc.constantFrom(...tenants),
      key: fc.constantFrom(...names),
    }),
  },
)

interface ModelJob {
  id: string
  type: Type
  tenant: string
  key: string
  status: 'deferred' | 'blocked' | 'pending' | 'processing'
  dueAt: number
}

/** What should be: the rules of the guides, over an array. */
class Model {
  jobs: ModelJob[] = []
  readonly limits = new Map<string, number>()
  readonly stopped = new Set<string>()

  settle(now: number): void {
    for (const tenant of tenants) {
      const own = this.jobs.filter((job) => job.tenant === tenant)
      const deferred = own.filter(({ status }) => status === 'deferred')
      const room = (this.limits.get(tenant) ?? 3) - (own.length - deferred.length)
      for (const job of deferred.slice(0, Math.max(0, room))) job.status = job.type === 'plain' ? 'pending' : 'blocked'
      for (const name of names)
        this.#admit(
          own.filter((job) => job.key === name && job.status !== 'deferred'),
          now,
        )
    }
  }

  #admit(ofKey: readonly ModelJob[], now: number): void {
    for (const isLimit of [true, false]) {
      const mine = ofKey.filter(({ type }) => type !== 'plain' && (type === 'limited') === isLimit)
      if (mine.some(({ status }) => status !== 'blocked')) continue
      const isReady = (job: ModelJob) => (isLimit ? job.dueAt <= now : !this.stopped.has(`${job.tenant} ${job.key}`))
      const [next] = mine
        .filter(isReady)
        .sort((a, b) => (isLimit ? a.dueAt - b.dueAt : 0) || Number(a.id) - Number(b.id))
      if (next) next.status = 'pending'
    }
  }

  remove(id: string): void {
    this.jobs = this.jobs.filter((job) => job.id !== id)
  }
}

const clock = fakeClock('2026-03-01T10:00:00Z')
let t: Setup
let millrace: Millrace
let services: ClientServices
let claims: InlineClaims

beforeAll(async () => {
  t = await setup()
  millrace = t.client(Object.values(contracts), { clock, maxConnections: 2 })
  services = Client.servicesOf(millrace)
  claims = new InlineClaims(services, Object.values(contracts))
  await claims.begin()
})

afterAll(async () => {
  await claims.end()
  await t[Symbol.asyncDispose]()
})

const failure = { class: 'E', message: 'm', stack: null, fingerprint: 'f', logs: null }

function settlementOf(how: (typeof endings)[number], { fence }: Run): Settlement {
  const requeue = { kind: 'requeue', ...fence, refund: true, failure: null } as const
  switch (how) {
    case 'complete':
      return { kind: 'finish', ...fence, status: 'completed', result: null, reason: null, retention: 'none' }
    case 'die':
      return { kind: 'bury', ...fence, reason: 'exhausted', failure, retention: 'none', drop: true }
    case 'retry':
      return { ...requeue, refund: false, delayMs: MINUTE, crash: 'clear', failure }
    case 'give back':
      return { ...requeue, delayMs: null, crash: 'keep' }
    case 'rescue':
      return { ...requeue, delayMs: null, crash: 'count' }
  }
}

/** The real thing and the model, step by step. */
class Pair {
  readonly model = new Model()
  readonly running = new Map<string, Run>()

  get #now(): number {
    return clock.now().getTime()
  }

  async run(each: Step): Promise<void> {
    if (each.do === 'enqueue') return this.#enqueue(each)
    if (each.do === 'start') return this.#start(nth(this.#of('pending'), each.which))
    if (each.do === 'end') return this.#end(nth([...this.running.values()], each.which), each.how)
    if (each.do === 'cancel') return this.#cancel(nth(this.#of('deferred', 'blocked', 'pending'), each.which))
    if (each.do === 'limit') return this.#limit(each.tenant, each.jobs)
    await millrace.keys.continue({ queue: 'q', tenant: each.tenant, key: each.key }, by)
    this.model.stopped.delete(`${each.tenant} ${each.key}`)
  }

  #of(...statuses: ModelJob['status'][]): ModelJob[] {
    return this.model.jobs.filter(({ status }) => statuses.includes(status))
  }

  async #enqueue({ type, tenant, key: name }: Step & { do: 'enqueue' }): Promise<void> {
    const { id, status } = await millrace.enqueueByType(type, { key: name }, { tenant })
    this.model.jobs.push({ id, type, tenant, key: name, status: 'deferred', dueAt: this.#now })
    this.model.settle(this.#now)
    const isDeferred = this.model.jobs.at(-1)?.status === 'deferred'
    expect(status).toBe(isDeferred ? 'deferred' : 'queued')
  }

  async #start(job: ModelJob | undefined): Promise<void> {
    if (job === undefined || job.dueAt > this.#now) return
    this.running.set(job.id, await claims.one({ id: job.id, queue: 'q' }))
    job.status = 'processing'
  }

  async #end(run: Run | undefined, how: (typeof endings)[number]): Promise<void> {
    if (run === undefined) return
    const settlement = settlementOf(how, run)
    this.running.delete(run.job.id)
    await settle(services.db, clock.now(), [settlement])
    await services.admitter.admit(keysWithRoom(run.job, settlement))
    const job = this.model.jobs.find(({ id }) => id === run.job.id) as ModelJob
    if (settlement.kind !== 'requeue') this.model.remove(job.id)
    if (how === 'die' && job.type === 'strict') this.model.stopped.add(`${job.tenant} ${job.key}`)
    if (how === 'retry') job.dueAt = this.#now + MINUTE
    job.status = how === 'retry' && job.type === 'limited' ? 'blocked' : 'pending'
  }

  async #cancel(job: ModelJob | undefined): Promise<void> {
    if (job === undefined) return
    expect(await millrace.cancel(job.id, by)).toBe('cancelled')
    this.model.remove(job.id)
  }

  async #limit(tenant: string, most: number | null): Promise<void> {
    if (most === null) {
      await millrace.tenants.unlimit(tenant, 'q', by)
      this.model.limits.delete(tenant)
    } else {
      await millrace.tenants.limit(tenant, 'q', { jobs: most, over: 'defer' }, by)
      this.model.limits.set(tenant, most)
    }
  }

  /** Both look the same: job by job. */
  async compare(): Promise<void> {
    this.model.settle(this.#now)
    const rows = await t.sql(
      `select id, case when deferred_keys is null then status else 'deferred' end as status from millrace.job order by id`,
    )
    expect(rows).toEqual(this.model.jobs.map(({ id, status }) => ({ id, status })))
  }

  /** Whatever has happened, every job can end. */
  async drain(): Promise<void> {
    for (const tenant of tenants) for (const name of names) await this.run({ do: 'continue', tenant, key: name })
    while (this.model.jobs.length > 0) {
      const before = this.model.jobs.length
      clock.advance('1m')
      await services.admitter.sweepAll()
      await this.compare()
      for (const job of this.#of('pending')) await this.#start(job)
      for (const run of this.running.values()) await this.#end(run, 'complete')
      expect(this.model.jobs.length).toBeLessThan(before)
    }
    await this.compare()
  }
}

const nth = <Item>(items: readonly Item[], index: number): Item | undefined => items[index % Math.max(1, items.length)]

test('whatever happens to jobs of a tenant, those that it may have are live, and no deferred one is stranded', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(steps, { minLength: 10, maxLength: 40 }), async (list) => {
      await t.sql('truncate millrace.job, millrace.order_stop')
      for (const tenant of tenants) await millrace.tenants.unlimit(tenant, 'q', by)
      const pair = new Pair()
      for (const each of list) {
        await pair.run(each)
        await pair.compare()
      }
      await pair.drain()
    }),
    { numRuns: 12 },
  )
}, 120_000)
