import { KeyBusy } from 'millrace'
import pg from 'pg'
import { describe, expect, test } from 'vitest'
import { ids, inTransaction, race, setup, statuses, windowed } from '../support/dedupe.ts'

describe('a window', () => {
  test('outlives the job: another enqueue is a duplicate until it is over', async () => {
    await using t = await setup()
    const first = await t.millrace.enqueue(windowed, { key: 'a' })
    const duplicate = { status: 'duplicate', id: first.id }
    expect(await t.millrace.enqueue(windowed, { key: 'a' })).toEqual(duplicate)
    await t.complete(await t.claimOne())
    t.clock.advance('59m')
    expect(await t.millrace.enqueue(windowed, { key: 'a' })).toEqual(duplicate)
    expect(await t.millrace.enqueue(windowed, { key: 'b' })).toMatchObject({ status: 'queued' })
    expect(await t.millrace.enqueue(windowed, { key: 'a' }, { tenant: 'acme' })).toMatchObject({ status: 'queued' })
    t.clock.advance('1m')
    const second = await t.millrace.enqueue(windowed, { key: 'a' })
    expect(second).toMatchObject({ status: 'queued' })
    expect(await t.millrace.enqueue(windowed, { key: 'a' })).toEqual({ status: 'duplicate', id: second.id })
  })

  test('that is over does not let a second one live beside the first', async () => {
    await using t = await setup()
    const { id } = await t.millrace.enqueue(windowed, { key: 'a' })
    const run = await t.claimOne()
    t.clock.advance('2h')
    expect(await t.millrace.enqueue(windowed, { key: 'a' })).toEqual({ status: 'duplicate', id })
    await t.complete(run)
    expect(await t.millrace.enqueue(windowed, { key: 'a' })).toMatchObject({ status: 'queued' })
  })

  test('lasts whatever becomes of the job', async () => {
    await using t = await setup()
    const { id } = await t.millrace.enqueue(windowed, { key: 'a' })
    await t.millrace.cancel(id, { by: 'ann' })
    expect(await t.millrace.enqueue(windowed, { key: 'a' })).toEqual({ status: 'duplicate', id })
    const other = await t.millrace.enqueue(windowed, { key: 'b' })
    await t.bury(await t.claimOne())
    expect(await t.millrace.enqueue(windowed, { key: 'b' })).toEqual({ status: 'duplicate', id: other.id })
  })

  test('is closed when its job is erased, because its key is made of what the job carried', async () => {
    await using t = await setup()
    const { id } = await t.millrace.enqueue(windowed, { key: 'k' })
    await t.millrace.cancel(id, { by: 'ann' })
    await t.millrace.erase({ ids: [id], by: 'ann', reason: 'asked to' })
    expect(await t.sql('select from millrace.dedup_window')).toEqual([])
    expect((await t.millrace.enqueue(windowed, { key: 'k' })).status).toBe('queued')
  })

  test('does not keep its own dead letter from being redriven', async () => {
    await using t = await setup()
    await t.millrace.enqueue(windowed, { key: 'a' })
    await t.bury(await t.claimOne())
    const [letter] = await t.sql<{ id: string }>('select id from millrace.dead_letter_jobs')
    expect(await t.millrace.deadLetters.redrive(letter?.id ?? '', { by: 'ann' })).toMatchObject([
      { status: 'redriven' },
    ])
  })

  test('raced for by fifty callers, rollbacks among them, has one job', async () => {
    await using t = await setup()
    const results = await race(t, windowed as never)
    expect(statuses(results).filter((status) => status === 'queued')).toHaveLength(1)
    expect(ids(results).size).toBe(1)
    expect(await t.sql('select job_id as id from millrace.dedup_window')).toEqual([{ id: results[0]?.id }])
  })

  test('opened and its job ended while another enqueue was under way: that one is a duplicate, and leaves nothing', async () => {
    await using t = await setup()
    const holder = new pg.Client(t.url)
    await holder.connect()
    await holder.query('begin')
    const first = await t.millrace.enqueue(windowed, { key: 'a' }, { tx: holder })
    const second = t.millrace.enqueueMany(windowed, [{ key: 'a' }, { key: 'a' }, { key: 'b' }])
    await t.waitsForLock()
    // As if it had run and ended before the second one saw it.
    await holder.query('delete from millrace.job where id = $1', [first.id])
    await holder.query('commit')
    await holder.end()
    const duplicate = { status: 'duplicate', id: first.id }
    expect(await second).toEqual([duplicate, duplicate, expect.objectContaining({ status: 'queued' })])
    expect(await t.sql('select dedup_key from millrace.job')).toEqual([{ dedup_key: 'b' }])
    expect(await t.sql('select dedup_key, job_id from millrace.dedup_window order by 1')).toEqual([
      { dedup_key: 'a', job_id: first.id },
      { dedup_key: 'b', job_id: (await second)[2]?.id },
    ])
  })

  test('of a transaction that is rolled back was never there', async () => {
    await using t = await setup()
    await inTransaction(t.url, 'rollback', (tx) => t.millrace.enqueue(windowed, { key: 'a' }, { tx }))
    expect(await t.sql('select from millrace.dedup_window')).toEqual([])
    const [own, again] = await inTransaction(t.url, 'commit', async (tx) => [
      await t.millrace.enqueue(windowed, { key: 'a' }, { tx }),
      await t.millrace.enqueue(windowed, { key: 'a' }, { tx }),
    ])
    expect(again).toEqual({ status: 'duplicate', id: own?.id })
  })

  test('held by an open transaction is waited for, and then refused as busy', async () => {
    await using t = await setup()
    await inTransaction(t.url, 'commit', async (tx) => {
      await t.millrace.enqueue(windowed, { key: 'a' }, { tx })
      await expect(t.millrace.enqueue(windowed, { key: 'a' })).rejects.toBeInstanceOf(KeyBusy)
    })
  })
})
