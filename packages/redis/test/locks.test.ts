import { connectRedis, createLocks, LockBusy, LockLost, LockUnavailable } from '@millrace/redis'
import pg from 'pg'
import { expect, test } from 'vitest'
import { describeRedis, setup } from './support/setup.ts'

async function locksOf(t: Awaited<ReturnType<typeof setup>>) {
  const locks = createLocks({ redis: t.redis, database: t.url })
  const client = new pg.Client({ connectionString: t.url })
  await client.connect()
  return {
    locks,
    client,
    async [Symbol.asyncDispose]() {
      await client.end()
      await locks.close()
    },
  }
}

describeRedis('a lock', () => {
  test('has one holder, and is free when the holder is done or throws', async () => {
    await using t = await setup()
    await using s = await locksOf(t)
    const inside = await s.locks.run('rebuild', async ({ fence }) => {
      await expect(s.locks.run('rebuild', async () => 'second')).rejects.toThrow(LockBusy)
      expect(await s.locks.run('another', async () => 'other')).toBe('other')
      return fence
    })
    await expect(s.locks.run('rebuild', () => Promise.reject(new Error('no')))).rejects.toThrow('no')
    expect(await s.locks.run('rebuild', async ({ fence }) => fence)).toBeGreaterThan(inside)
  })

  test('that Redis forgot is fenced by PostgreSQL: the old holder cannot write, the new one can', async () => {
    await using t = await setup()
    await using s = await locksOf(t)
    await s.locks.run('rebuild', async (old) => {
      await t.redis.run(['FLUSHALL'])
      await s.locks.run('rebuild', async (fresh) => {
        await s.client.query('begin')
        await fresh.guard(s.client)
        await s.client.query('commit')
      })
      await s.client.query('begin')
      await expect(old.guard(s.client)).rejects.toThrow(LockLost)
      await s.client.query('rollback')
    })
  })

  test('is given to nobody until a guarded transaction has ended', async () => {
    await using t = await setup()
    await using s = await locksOf(t)
    const order: string[] = []
    await s.locks.run('rebuild', async (old) => {
      await s.client.query('begin')
      await old.guard(s.client)
      await t.redis.run(['FLUSHALL'])
      const next = s.locks.run('rebuild', async () => void order.push('next'))
      const waits = `select count(*)::int as waiting from pg_stat_activity where wait_event_type = 'Lock'`
      await expect.poll(() => t.sql(waits)).toEqual([{ waiting: 1 }])
      order.push('commit')
      await s.client.query('commit')
      await next
    })
    expect(order).toEqual(['commit', 'next'])
  })

  test('is kept while its holder works, and its signal aborts when Redis is not heard of', async () => {
    await using t = await setup()
    await using s = await locksOf(t)
    await s.locks.run(
      'rebuild',
      async ({ signal }) => {
        const ttlOf = async () =>
          Number(await t.redis.run(['PTTL', ...(await t.redis.run<string[]>(['KEYS', '*lock*']))]))
        await expect.poll(ttlOf, { interval: 20 }).toBeLessThan(900)
        await expect.poll(ttlOf, { interval: 20 }).toBeGreaterThan(950)
        expect(signal.aborted).toBe(false)
        await t.server.kill()
        await expect.poll(() => signal.aborted).toBe(true)
      },
      { ttl: '1s' },
    )
  })

  test('is given to nobody without Redis', async () => {
    await using t = await setup()
    await using locks = createLocks({ redis: await connectRedis(), database: t.url })
    await expect(locks.run('rebuild', async () => {})).rejects.toThrow(LockUnavailable)
    await expect(locks.run('rebuild', async () => {}, { ttl: '10ms' })).rejects.toThrow(/expected 1000 ms or more/)
  })
})
