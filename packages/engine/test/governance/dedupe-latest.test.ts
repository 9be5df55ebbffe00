import { describe, expect, test } from 'vitest'
import { ids, inTransaction, latest, race, setup, statuses } from '../support/dedupe.ts'

describe('mode latest', () => {
  test('replaces one that waits, and asks a running one to stop', async () => {
    await using t = await setup()
    const first = await t.millrace.enqueue(latest, { key: 'a', n: 1 })
    expect(await t.millrace.enqueue(latest, { key: 'a', n: 2 })).toMatchObject({ status: 'replaced', id: first.id })
    const run = await t.claimOne()
    const second = await t.millrace.enqueue(latest, { key: 'a', n: 3 })
    expect(second).toMatchObject({ status: 'queued' })
    expect(await t.sql('select cancel_reason from millrace.job where id = $1', [first.id])).toEqual([
      { cancel_reason: 'superseded' },
    ])
    expect(await t.millrace.enqueue(latest, { key: 'a', n: 4 })).toMatchObject({ status: 'replaced', id: second.id })
    await t.cancelled(run)
    expect(await t.millrace.job(first.id)).toMatchObject({ status: 'cancelled', reason: 'superseded', dedupKey: 'a' })
    expect((await t.claimOne()).job).toMatchObject({ id: second.id, payload: { n: 4 } })
  })

  test('one that waits for its next attempt is superseded too', async () => {
    await using t = await setup()
    const first = await t.millrace.enqueue(latest, { key: 'a', n: 1 })
    await t.fail(await t.claimOne(), 3_600_000)
    const second = await t.millrace.enqueue(latest, { key: 'a', n: 2 })
    expect(second).toMatchObject({ status: 'queued' })
    const runs = await t.claim()
    expect(runs.map(({ job }) => [job.id, job.isCancelRequested])).toEqual([
      [first.id, true],
      [second.id, false],
    ])
  })

  test('a superseded run whose process dies is archived, and the newer one stays', async () => {
    await using t = await setup()
    const first = await t.millrace.enqueue(latest, { key: 'a' })
    await t.claimOne()
    const second = await t.millrace.enqueue(latest, { key: 'a' })
    await t.rescue()
    expect(await t.millrace.job(first.id)).toMatchObject({ status: 'cancelled', reason: 'superseded' })
    expect(await t.millrace.job(second.id)).toMatchObject({ status: 'pending' })
  })

  test('rolled back, the running one goes on undisturbed', async () => {
    await using t = await setup()
    const { id } = await t.millrace.enqueue(latest, { key: 'a' })
    await t.claimOne()
    await inTransaction(t.url, 'rollback', (tx) => t.millrace.enqueue(latest, { key: 'a' }, { tx }))
    expect(await t.sql('select id, dedup_key, cancel_requested_at from millrace.job')).toEqual([
      { id, dedup_key: 'a', cancel_requested_at: null },
    ])
  })

  test('in lists, and apart by tenant', async () => {
    await using t = await setup()
    await t.millrace.enqueueMany(latest, [{ key: 'a' }, { key: 'b' }])
    await t.millrace.enqueue(latest, { key: 'a' }, { tenant: 'acme' })
    await t.claim()
    const results = await t.millrace.enqueueMany(latest, [{ key: 'b' }, { key: 'a' }, { key: 'b', n: 9 }])
    expect(statuses(results)).toEqual(['queued', 'queued', 'replaced'])
    expect(
      await t.sql('select tenant, cancel_reason from millrace.job where started_at is not null order by 1, 2'),
    ).toEqual([
      { tenant: 'acme', cancel_reason: null },
      { tenant: null, cancel_reason: 'superseded' },
      { tenant: null, cancel_reason: 'superseded' },
    ])
  })

  test('a redriven dead letter does not push a newer one aside', async () => {
    await using t = await setup()
    await t.millrace.enqueue(latest, { key: 'a', n: 1 })
    await t.bury(await t.claimOne())
    const newer = await t.millrace.enqueue(latest, { key: 'a', n: 2 })
    const [letter] = await t.sql<{ id: string }>('select id from millrace.dead_letter_jobs')
    expect(await t.millrace.deadLetters.redrive(letter?.id ?? '', { by: 'ann' })).toMatchObject([
      { status: 'duplicate', jobId: newer.id },
    ])
    expect(await t.millrace.job(newer.id)).toMatchObject({ payload: { n: 2 } })
  })

  test('raced for by fifty callers while one runs: one waits, and the run is asked to stop', async () => {
    await using t = await setup()
    await t.millrace.enqueue(latest, { key: 'a' })
    await t.claimOne()
    const results = await race(t, latest as never)
    expect(statuses(results).filter((status) => status === 'queued')).toHaveLength(1)
    expect(ids(results).size).toBe(1)
    expect(await t.sql('select status, cancel_reason from millrace.job order by id')).toEqual([
      { status: 'processing', cancel_reason: 'superseded' },
      { status: 'pending', cancel_reason: null },
    ])
  })
})
