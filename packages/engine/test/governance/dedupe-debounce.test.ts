import pg from 'pg'
import { describe, expect, test } from 'vitest'
import { debounced, ids, inTransaction, live, race, setup, statuses } from '../support/dedupe.ts'

describe('mode debounce', () => {
  test('replaces payload and run time of the one that waits, until its contract says that is enough', async () => {
    await using t = await setup()
    const first = await t.millrace.enqueue(debounced, { key: 'a', n: 1 })
    const dueIn = async () => {
      const job = await t.millrace.job(first.id)
      return {
        n: (job?.payload as { n: number } | undefined)?.n,
        s: ((job?.runAt.getTime() ?? 0) - t.clock.now().getTime()) / 1_000,
      }
    }
    expect(await dueIn()).toEqual({ n: 1, s: 5 })
    t.clock.advance('4s')
    const replaced = { status: 'replaced', id: first.id, warnings: [] }
    expect(await t.millrace.enqueue(debounced, { key: 'a', n: 2 })).toEqual(replaced)
    expect(await dueIn()).toEqual({ n: 2, s: 5 })
    t.clock.advance('4s')
    await t.millrace.enqueue(debounced, { key: 'a', n: 3 })
    expect(await dueIn()).toEqual({ n: 3, s: 4 })
    t.clock.advance('3s')
    await t.millrace.enqueue(debounced, { key: 'a', n: 4 }, { delay: '1h', priority: 1, createdBy: 'ann' })
    expect(await dueIn()).toEqual({ n: 4, s: 1 })
    expect(await t.millrace.job(first.id)).toMatchObject({ priority: 1, createdBy: 'ann' })
    t.clock.advance('1s')
    expect((await t.claimOne()).job).toMatchObject({ id: first.id, payload: { n: 4 } })
  })

  test('leaves a running one alone and waits beside it', async () => {
    await using t = await setup()
    const first = await t.millrace.enqueue(debounced, { key: 'a', n: 1 })
    t.clock.advance('5s')
    const run = await t.claimOne()
    const second = await t.millrace.enqueue(debounced, { key: 'a', n: 2 })
    expect(second).toMatchObject({ status: 'queued' })
    expect(await t.millrace.enqueue(debounced, { key: 'a', n: 3 })).toMatchObject({ status: 'replaced', id: second.id })
    await t.fail(run)
    expect((await t.claimOne()).job).toMatchObject({ id: first.id, isCancelRequested: true, payload: { n: 1 } })
  })

  test('in one list the last one under a key counts', async () => {
    await using t = await setup()
    const results = await t.millrace.enqueueMany(debounced, [
      { key: 'b', n: 1 },
      { key: 'a', n: 2 },
      { key: 'b', n: 3 },
      { key: 'a', n: 4 },
    ])
    expect(statuses(results)).toEqual(['queued', 'queued', 'replaced', 'replaced'])
    expect([results[2]?.id, results[3]?.id]).toEqual([results[0]?.id, results[1]?.id])
    expect(await t.sql(`select dedup_key as key, payload->'n' as n from millrace.job order by 1`)).toEqual([
      { key: 'a', n: 4 },
      { key: 'b', n: 3 },
    ])
  })

  test('a replacement that is rolled back leaves the first payload', async () => {
    await using t = await setup()
    const { id } = await t.millrace.enqueue(debounced, { key: 'a', n: 1 })
    await inTransaction(t.url, 'rollback', (tx) => t.millrace.enqueue(debounced, { key: 'a', n: 2 }, { tx }))
    expect(await t.millrace.job(id)).toMatchObject({ payload: { n: 1 } })
  })

  test('a tenant does not replace what another one has waiting', async () => {
    await using t = await setup()
    for (const options of [{}, { tenant: 'acme' }, { tenant: 'umbrella' }]) {
      expect(await t.millrace.enqueue(debounced, { key: 'a' }, options)).toMatchObject({ status: 'queued' })
    }
    expect(await t.millrace.enqueue(debounced, { key: 'a' }, { tenant: 'acme' })).toMatchObject({ status: 'replaced' })
  })

  test('meets a job that a claim is just starting: it waits for that, and is a new one', async () => {
    await using t = await setup()
    const first = await t.millrace.enqueue(debounced, { key: 'a', n: 1 })
    t.clock.advance('5s')
    const claim = new pg.Client(t.url)
    await claim.connect()
    await claim.query('begin')
    await claim.query(
      `update millrace.job set status = 'processing', dedup_key = nullif(dedup_key, start_key), started_at = now()`,
    )
    const second = t.millrace.enqueue(debounced, { key: 'a', n: 2 })
    await t.waitsForLock()
    await claim.query('commit')
    await claim.end()
    expect(await second).toMatchObject({ status: 'queued' })
    expect(await t.millrace.job(first.id)).toMatchObject({ payload: { n: 1 } })
  })

  test('a job from before the type was debounced is left as it is', async () => {
    await using t = await setup()
    const { id } = await t.millrace.enqueue(live, { key: 'a', n: 1 })
    await t.sql(`update millrace.job set type = 'debounced'`)
    const run = await t.claimOne()
    expect(await t.millrace.enqueue(debounced, { key: 'a', n: 2 })).toEqual({ status: 'duplicate', id })
    await t.giveBack(run)
    expect(await t.millrace.enqueue(debounced, { key: 'a', n: 2 })).toEqual({ status: 'duplicate', id })
  })

  test('raced for by fifty callers, rollbacks among them, is one job with one of their payloads', async () => {
    await using t = await setup()
    const results = await race(t, debounced as never)
    expect(statuses(results).filter((status) => status === 'queued')).toHaveLength(1)
    expect(new Set(statuses(results))).toEqual(new Set(['queued', 'replaced']))
    expect(ids(results).size).toBe(1)
    const [job] = await t.sql<{ n: number }>(`select (payload->>'n')::int as n from millrace.job`)
    // Those of the transactions that were rolled back end in 7.
    expect((job?.n ?? 7) % 10).not.toBe(7)
  })
})
