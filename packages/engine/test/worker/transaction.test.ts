import { once } from 'node:events'
import { cancel, defineJob, defineQueues, type Handler, implement } from 'millrace'
import pg from 'pg'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { jobEvent, setup } from '../support/setup.ts'

const queues = defineQueues({ default: {} })
const pay = defineJob({
  type: 'pay',
  queue: queues.default,
  payload: z.object({ cents: z.number() }),
  retry: { attempts: 2, backoff: () => 0 },
})

async function ledger(handler: Handler<typeof pay>) {
  const t = await setup()
  await t.sql('create table ledger (job text, cents int)')
  const { millrace } = await t.working([implement(pay, handler)])
  return {
    ...t,
    millrace,
    entries: () => t.sql('select cents from ledger'),
    [Symbol.asyncDispose]: () => t[Symbol.asyncDispose](),
  }
}

describe('ctx.transaction', () => {
  test('commits effects and completion together', async () => {
    await using t = await ledger((payload, ctx) =>
      ctx.transaction(async (tx) => {
        await tx.query('insert into ledger values ($1, $2)', [ctx.jobId, payload.cents])
        return { booked: payload.cents }
      }),
    )
    const { id } = await t.millrace.enqueue(pay, { cents: 5 })
    await jobEvent(t.millrace, 'job_completed', id)
    expect(await t.entries()).toEqual([{ cents: 5 }])
    expect(await t.millrace.job(id)).toMatchObject({ status: 'completed', result: { booked: 5 } })
  })

  test('rolls the effects back when the handler throws, and the attempt fails', async () => {
    let runs = 0
    await using t = await ledger((payload, ctx) =>
      ctx.transaction(async (tx) => {
        await tx.query('insert into ledger values ($1, $2)', [ctx.jobId, payload.cents])
        if (++runs === 1) throw new Error('first time unlucky')
        return 'ok'
      }),
    )
    const { id } = await t.millrace.enqueue(pay, { cents: 5 })
    await jobEvent(t.millrace, 'job_completed', id)
    expect(await t.entries()).toEqual([{ cents: 5 }])
    expect(await t.millrace.attempts(id)).toMatchObject([{ errorMessage: 'first time unlucky' }])
  })

  test('rolls the effects back when another run has taken over meanwhile', async () => {
    await using t = await ledger((payload, ctx) =>
      ctx.transaction(async (tx) => {
        await tx.query('insert into ledger values ($1, $2)', [ctx.jobId, payload.cents])
        // What a rescuer and another worker do to a run that seems dead.
        await t.sql('update millrace.job set run_id = gen_random_uuid(), worker_id = gen_random_uuid() where id = $1', [
          ctx.jobId,
        ])
        return 'zombie'
      }),
    )
    const { id } = await t.millrace.enqueue(pay, { cents: 5 })
    await jobEvent(t.millrace, 'job_fence_lost', id)
    expect(await t.entries()).toEqual([])
  })

  test('that ends after the timeout rolls back: the attempt has failed', async () => {
    await using t = await setup()
    await t.sql('create table ledger (n int)')
    const slow = defineJob({ type: 'slow', queue: queues.default, payload: z.object({}), timeout: '100ms' })
    const handler = implement(slow, (_, ctx) =>
      ctx.transaction(async (tx) => {
        await tx.query('insert into ledger values (1)')
        if (!ctx.signal.aborted) await once(ctx.signal, 'abort')
      }),
    )
    // At twice its timeout a run is stuck and dies, and a busy machine may stand still for that long.
    const { millrace } = await t.working([handler], { stuckAfter: '20s' })
    const { id } = await millrace.enqueue(slow, {})
    expect(await jobEvent(millrace, 'job_retry_scheduled', id)).toMatchObject({ failure: { class: 'TimedOut' } })
    expect(await t.sql('select * from ledger')).toEqual([])
  })

  test('works for a type whose timeout is longer than any timer', async () => {
    await using t = await setup()
    const long = defineJob({ type: 'long', queue: queues.default, payload: z.object({}), timeout: '30d' })
    const { millrace } = await t.working([implement(long, (_, ctx) => ctx.transaction(async () => 'ok'))])
    const { id } = await millrace.enqueue(long, {})
    await jobEvent(millrace, 'job_completed', id)
  })

  test('an outcome returned from inside is settled in the same transaction', async () => {
    await using t = await ledger((payload, ctx) =>
      ctx.transaction(async (tx) => {
        await tx.query('insert into ledger values ($1, $2)', [ctx.jobId, payload.cents])
        return cancel('booked, but not needed')
      }),
    )
    const { id } = await t.millrace.enqueue(pay, { cents: 5 })
    await jobEvent(t.millrace, 'job_cancelled', id)
    expect(await t.entries()).toEqual([{ cents: 5 }])
    expect(await t.millrace.job(id)).toMatchObject({ status: 'cancelled', reason: 'booked, but not needed' })
  })

  test('jobs enqueued inside exist exactly if it commits', async () => {
    let runs = 0
    await using t = await ledger((payload, ctx) =>
      ctx.transaction(async (tx) => {
        if (payload.cents === 0) return 'child'
        await t.millrace.enqueue(pay, { cents: 0 }, { tx })
        if (++runs === 1) throw new Error('again')
        return 'parent'
      }),
    )
    const { id } = await t.millrace.enqueue(pay, { cents: 5 })
    const child = await t.millrace.events.next('job_completed', ({ job }) => job.id !== id)
    expect(await t.sql('select count(*)::int from millrace.job_archive where parent_job_id = $1', [id])).toEqual([
      { count: 1 },
    ])
    expect(await t.millrace.job(child.job.id)).toMatchObject({ parentJobId: id, result: 'child' })
  })
})

describe('ctx.complete(tx)', () => {
  const inOwnTransaction = async (url: string, end: 'commit' | 'rollback', work: (tx: pg.Client) => Promise<void>) => {
    const tx = new pg.Client(url)
    await tx.connect()
    await tx.query('begin')
    await work(tx)
    await tx.query(end)
    await tx.end()
  }

  test('completes the job if that transaction commits', async () => {
    await using t = await ledger(async (payload, ctx) => {
      await inOwnTransaction(t.url, 'commit', async (tx) => {
        await tx.query('insert into ledger values ($1, $2)', [ctx.jobId, payload.cents])
        await ctx.complete(tx, { by: 'hand' })
      })
    })
    const { id } = await t.millrace.enqueue(pay, { cents: 5 })
    await jobEvent(t.millrace, 'job_completed', id)
    expect(await t.entries()).toEqual([{ cents: 5 }])
    expect(await t.millrace.job(id)).toMatchObject({ status: 'completed', result: { by: 'hand' }, attempt: 1 })
  })

  test('counts as a failed attempt if that transaction rolls back', async () => {
    let runs = 0
    await using t = await ledger(async (payload, ctx) => {
      await inOwnTransaction(t.url, ++runs === 1 ? 'rollback' : 'commit', async (tx) => {
        await tx.query('insert into ledger values ($1, $2)', [ctx.jobId, payload.cents])
        await ctx.complete(tx)
      })
    })
    const { id } = await t.millrace.enqueue(pay, { cents: 5 })
    await jobEvent(t.millrace, 'job_completed', id)
    expect(await t.entries()).toEqual([{ cents: 5 }])
    expect(await t.millrace.attempts(id)).toMatchObject([{ errorMessage: expect.stringMatching(/did not commit/) }])
  })

  test('a handler that throws after its transaction committed has completed all the same', async () => {
    await using t = await ledger(async (_, ctx) => {
      await inOwnTransaction(t.url, 'commit', (tx) => ctx.complete(tx))
      throw new Error('too late')
    })
    const { id } = await t.millrace.enqueue(pay, { cents: 5 })
    await jobEvent(t.millrace, 'job_completed', id)
    expect(await t.millrace.attempts(id)).toEqual([])
  })
})
