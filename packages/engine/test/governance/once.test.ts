import { defineJob, defineQueues, fixed, implement, type JobContext, OnceBusy } from 'millrace'
import { drain, fakeClock, runJob } from 'millrace/testing'
import pg from 'pg'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { Registry } from '#src/contract/registry'
import { Housekeeper } from '#src/maintenance/housekeeper'
import { Database } from '#src/store/db'
import { jobEvent, setup, signal } from '../support/setup.ts'

const queues = defineQueues({ default: { concurrency: 5 } })
const payload = z.object({ order: z.string().default('o-1') })
const retry = { attempts: 5, backoff: fixed('10ms') }
const charge = defineJob({ type: 'charge', queue: queues.default, payload, retry })
const refund = defineJob({ type: 'refund', queue: queues.default, payload, retry })
const gone = { job: '999999', run: '00000000-0000-4000-8000-000000000000' }

async function working(handler: (payload: { order: string }, ctx: JobContext) => unknown) {
  const t = await setup()
  await t.sql('create table ledger (note text)')
  const { millrace } = await t.working([implement(charge, handler), implement(refund, handler)])
  return {
    ...t,
    millrace,
    ledger: async () => (await t.sql<{ note: string }>('select note from ledger')).map(({ note }) => note),
    keys: () => t.sql('select tenant, scope, key, state, result from millrace.once_key'),
    /** As a run leaves a key behind whose process died. */
    abandon: (key: string) =>
      t.sql(
        `insert into millrace.once_key (tenant, scope, key, state, job_id, run_id, claimed_at, expires_at)
         values ('', 'charge', $1, 'running', $2, $3, now(), now() + interval '7 days')`,
        [key, gone.job, gone.run],
      ),
    /** Runs a job to its end and returns its result. */
    async result(contract: typeof charge | typeof refund = charge, options: { tenant?: string } = {}) {
      const { id } = await millrace.enqueue(contract, {}, options)
      return (await millrace.result(id)) as { status: string; result: unknown }
    },
  }
}

describe('ctx.once', () => {
  test('does its work in the first attempt and remembers the result for the next one', async () => {
    let calls = 0
    await using t = await working(async ({ order }, ctx) => {
      const receipt = await ctx.once(order, async () => ({ number: ++calls, at: new Date(0) }))
      if (ctx.attempt === 1) throw new Error('after the effect')
      return receipt
    })
    expect(await t.result()).toMatchObject({ result: { number: 1, at: '1970-01-01T00:00:00.000Z' } })
    expect(calls).toBe(1)
    expect(await t.keys()).toEqual([
      { tenant: '', scope: 'charge', key: 'o-1', state: 'done', result: { number: 1, at: '1970-01-01T00:00:00.000Z' } },
    ])
  })

  test('gives the first caller what later ones get: a Date is text, nothing stays nothing, null stays null', async () => {
    await using t = await working(async (_, ctx) => {
      const seen = []
      for (let i = 0; i < 2; i++) {
        seen.push(typeof (await ctx.once('date', () => new Date(0) as unknown)))
        seen.push(await ctx.once('null', () => null))
        seen.push((await ctx.once('nothing', () => undefined)) === undefined)
      }
      return seen
    })
    expect(await t.result()).toMatchObject({ result: ['string', null, true, 'string', null, true] })
  })

  test('is shared with other jobs of the tenant and type, and by a scope with other types', async () => {
    let calls = 0
    await using t = await working(async (_, ctx) => [
      await ctx.once('k', () => ++calls),
      await ctx.once('k', () => `shared ${++calls}`, { scope: 'orders' }),
    ])
    expect(await t.result(charge, { tenant: 'a' })).toMatchObject({ result: [1, 'shared 2'] })
    expect(await t.result(charge, { tenant: 'a' })).toMatchObject({ result: [1, 'shared 2'] })
    expect(await t.result(refund, { tenant: 'a' })).toMatchObject({ result: [3, 'shared 2'] })
    expect(await t.result(charge, { tenant: 'b' })).toMatchObject({ result: [4, 'shared 5'] })
    expect(await t.result(charge)).toMatchObject({ result: [6, 'shared 7'] })
  })

  test('gives the key back when the work fails', async () => {
    let calls = 0
    await using t = await working(async (_, ctx) =>
      ctx.once('k', () => {
        if (++calls === 1) throw new Error('declined')
        return calls
      }),
    )
    expect(await t.result()).toMatchObject({ result: 2 })
  })

  test('takes the key over from a run that is no longer live', async () => {
    await using t = await working((_, ctx) => ctx.once('k', () => 'done again'))
    await t.abandon('k')
    expect(await t.result()).toMatchObject({ result: 'done again' })
  })

  test('of many runs that find an abandoned key, one takes it over', async () => {
    let calls = 0
    await using t = await working((_, ctx) => ctx.once('k', () => ++calls))
    await t.abandon('k')
    const results = await Promise.all(Array.from({ length: 10 }, () => t.result()))
    expect(results.map(({ result }) => result)).toEqual(Array(10).fill(1))
  })

  test('a second run waits for the first and gets its result', async () => {
    const [started, bothStarted, release] = [signal(), signal(), signal()]
    let runs = 0
    let calls = 0
    await using t = await working((_, ctx) => {
      if (++runs === 2) bothStarted.resolve()
      return ctx.once('k', async () => {
        calls++
        started.resolve()
        await release.promise
        return 'by the first'
      })
    })
    const first = t.result()
    await started.promise
    const second = t.result()
    await bothStarted.promise
    release.resolve()
    expect(await first).toMatchObject({ result: 'by the first' })
    expect(await second).toMatchObject({ result: 'by the first' })
    expect(calls).toBe(1)
  })

  test('a second run that waits in vain makes room and keeps its attempt', async () => {
    const started = signal()
    const release = signal()
    const errors: unknown[] = []
    await using t = await working(async (_, ctx) => {
      try {
        return await ctx.once('k', async () => {
          started.resolve()
          await release.promise
        })
      } catch (error) {
        errors.push(error)
        throw error
      }
    })
    const first = await t.millrace.enqueue(charge, {})
    await started.promise
    const second = await t.millrace.enqueue(charge, {})
    expect(await jobEvent(t.millrace, 'job_snoozed', second.id)).toMatchObject({ delayMs: 5_000 })
    expect(errors).toEqual([expect.any(OnceBusy)])
    expect(errors[0]).toMatchObject({ code: 'once_busy', key: 'k', scope: 'charge', holderJobId: first.id })
    expect(await t.millrace.job(second.id)).toMatchObject({ attempt: 0 })
    release.resolve()
  })

  test('does nothing for a run whose job has been taken over', async () => {
    let calls = 0
    await using t = await working(async (_, ctx) => {
      await t.sql('update millrace.job set run_id = gen_random_uuid(), worker_id = gen_random_uuid() where id = $1', [
        ctx.jobId,
      ])
      return ctx.once('k', () => ++calls)
    })
    const { id } = await t.millrace.enqueue(charge, {})
    await jobEvent(t.millrace, 'job_fence_lost', id)
    expect(calls).toBe(0)
    expect(await t.keys()).toEqual([])
  })

  test.each([
    ['more than a result may be', 'x'.repeat(70_000), /the limit is 65536/],
    ['what is not JSON', { big: 1n }, /bigint/],
  ])('refuses %s', async (_, value, message) => {
    await using t = await working((_, ctx) => ctx.once('k', () => value as unknown))
    const { id } = await t.millrace.enqueue(charge, {})
    expect(await jobEvent(t.millrace, 'job_died', id)).toMatchObject({
      failure: { class: 'InvalidResult', message: expect.stringMatching(message) },
    })
    expect(await t.keys()).toEqual([])
  })

  test.each([[''], ['x'.repeat(501)], ['nul \u0000'], [7 as never]])('refuses the key %j', async (key) => {
    await using t = await working((_, ctx) => ctx.once(key, () => 1))
    const { id } = await t.millrace.enqueue(charge, {}, { maxAttempts: 1 })
    expect(await jobEvent(t.millrace, 'job_died', id)).toMatchObject({
      failure: { message: expect.stringMatching(/The key of ctx.once is not usable/) },
    })
  })
})

describe('ctx.once in a transaction', () => {
  test('records nothing if ctx.transaction rolls back, and everything if it commits', async () => {
    let calls = 0
    await using t = await working((_, ctx) =>
      ctx.transaction(async (tx) => {
        const result = await ctx.once('k', async () => {
          await tx.query(`insert into ledger values ('charged')`)
          return ++calls
        })
        if (ctx.attempt === 1) throw new Error('rolled back')
        return result
      }),
    )
    expect(await t.result()).toMatchObject({ result: 2 })
    expect(await t.ledger()).toEqual(['charged'])
    expect(await t.result()).toMatchObject({ result: 2 })
    expect(await t.ledger()).toEqual(['charged'])
  })

  test('goes with a transaction of the handler’s own', async () => {
    await using t = await working(async (_, ctx) => {
      const tx = new pg.Client(t.url)
      await tx.connect()
      await tx.query('begin')
      const result = await ctx.once('k', () => tx.query(`insert into ledger values ('charged')`).then(() => 'once'), {
        tx,
      })
      await tx.query(ctx.attempt === 1 ? 'rollback' : 'commit')
      await tx.end()
      if (ctx.attempt === 1) throw new Error('again')
      return result
    })
    expect(await t.result()).toMatchObject({ result: 'once' })
    expect(await t.ledger()).toEqual(['charged'])
    expect(await t.keys()).toMatchObject([{ state: 'done', result: 'once' }])
  })

  test('whoever comes second waits for the end of the transaction: once, however many come', async () => {
    await using t = await working((_, ctx) =>
      ctx.transaction((tx) =>
        ctx.once('k', async () => {
          await tx.query(`insert into ledger values ('charged')`)
          return 'once'
        }),
      ),
    )
    const results = await Promise.all(Array.from({ length: 10 }, () => t.result()))
    expect(results.map(({ result }) => result)).toEqual(Array(10).fill('once'))
    expect(await t.ledger()).toEqual(['charged'])
  })

  test('outside of a transaction it makes room when an open one holds the key', async () => {
    await using t = await working((_, ctx) => ctx.once('k', () => 'after all'))
    const holder = new pg.Client(t.url)
    await holder.connect()
    await holder.query('begin')
    await holder.query(
      `insert into millrace.once_key values ('', 'charge', 'k', 'done', '1', $1, $2, now(), now(), now())`,
      [gone.job, gone.run],
    )
    const { id } = await t.millrace.enqueue(charge, {})
    await jobEvent(t.millrace, 'job_snoozed', id)
    await holder.query('rollback')
    await holder.end()
    await t.millrace.runNow(id, { by: 'ann' })
    expect(await t.millrace.result(id)).toMatchObject({ result: 'after all' })
  })
})

describe('ctx.once elsewhere', () => {
  test('an inline run records it as a worker does, and a later run finds it', async () => {
    await using t = await setup()
    let calls = 0
    const handler = implement(charge, (_, ctx) => ctx.once('k', () => ++calls))
    const millrace = t.client([charge])
    expect(await runJob(handler, {}, { millrace })).toMatchObject({ result: 1 })
    await millrace.enqueue(charge, {})
    expect(await drain(millrace, [handler])).toMatchObject([{ result: 1 }])
  })

  test('a run without a database refuses it clearly', async () => {
    const handler = implement(charge, (_, ctx) => ctx.once('k', () => 1))
    await expect(runJob(handler, {})).rejects.toThrow(/used .*ctx\.once.*runJob\(…, \{ millrace \}\)/)
  })

  test('results are kept for seven days or as long as was said, then they expire and are forgotten in batches', async () => {
    await using t = await setup()
    const clock = fakeClock('2026-01-01T00:00:00Z')
    let calls = 0
    const handler = implement(charge, async (_, ctx) => [
      await ctx.once('a', () => ++calls),
      await ctx.once('b', () => ++calls, { retention: '1d' }),
    ])
    const millrace = t.client([charge], { clock })
    const run = () => runJob(handler, {}, { millrace })
    expect(await run()).toMatchObject({ result: [1, 2] })
    clock.advance('2d')
    expect(await run()).toMatchObject({ result: [1, 3] })
    clock.advance('6d')
    const db = new Database({ connection: { connectionString: t.url }, schema: 'millrace', maxConnections: 1 })
    const housekeeper = new Housekeeper({ db, clock, registry: new Registry([]) })
    expect(await housekeeper.tick()).toMatchObject({ onceKeysForgotten: 2 })
    await t.sql(
      `insert into millrace.once_key (tenant, scope, key, state, job_id, run_id, claimed_at, expires_at)
       select '', 's', n::text, 'running', $1, $2, 'epoch', 'epoch' from generate_series(1, 1001) as n`,
      [gone.job, gone.run],
    )
    const tick = await housekeeper.tick()
    expect(tick).toMatchObject({ onceKeysForgotten: 1000 })
    expect(housekeeper.delayAfter(tick)).toBe(0)
    expect(await housekeeper.tick()).toMatchObject({ onceKeysForgotten: 1 })
    await db.close()
  })

  const isolated = defineJob({
    type: 'isolated',
    queue: queues.default,
    payload: z.looseObject({ does: z.string() }),
    retry,
  })

  async function isolatedly() {
    const t = await setup()
    const module = new URL('../worker/fixtures/deeds.js', import.meta.url)
    return { ...t, ...(await t.working([implement(isolated, { isolation: 'process', module })])) }
  }

  test('an isolated handler has it too', async () => {
    await using t = await isolatedly()
    const first = await t.millrace.enqueue(isolated, { does: 'once' })
    expect(await t.millrace.result(first.id)).toMatchObject({ result: { by: first.id } })
    const second = await t.millrace.enqueue(isolated, { does: 'once' })
    expect(await t.millrace.result(second.id)).toMatchObject({ result: { by: first.id } })
  })

  test('what was under way when its process died is done again', async () => {
    await using t = await isolatedly()
    const { id } = await t.millrace.enqueue(isolated, { does: 'once-crashes' })
    expect(await t.millrace.result(id)).toMatchObject({ result: { attempt: 2 } })
  })
})
