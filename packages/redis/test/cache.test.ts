import { connectRedis, createCache, recentAnswers, recentResults } from '@millrace/redis'
import { implement } from 'millrace'
import { expect, test } from 'vitest'
import { describeRedis, setup, view } from './support/setup.ts'

describeRedis('a cache', () => {
  test('reads the source once, for several callers and several processes', async () => {
    await using t = await setup()
    const other = await t.program()
    let loads = 0
    const load = async (key: string) => {
      loads += 1
      return { key }
    }
    await using here = await createCache({ redis: t.redis, name: 'event', load, ttl: '1m' })
    await using there = await createCache({ redis: other.redis, name: 'event', load, ttl: '1m' })
    expect(await Promise.all([here.get('a'), here.get('a')])).toEqual([{ key: 'a' }, { key: 'a' }])
    expect(await there.get('a')).toEqual({ key: 'a' })
    expect(await there.get('a')).toEqual({ key: 'a' })
    expect(loads).toBe(1)
    expect(there.reads).toEqual({ local: 1, redis: 1, loaded: 0 })
  })

  test('a change that is announced is seen by all', async () => {
    await using t = await setup()
    const other = await t.program()
    let value = 'old'
    const load = async () => ({ value })
    await using here = await createCache({ redis: t.redis, name: 'event', load, ttl: '1m' })
    await using there = await createCache({ redis: other.redis, name: 'event', load, ttl: '1m' })
    await there.get('a')
    value = 'new'
    // Announced again until the other one listens.
    await expect
      .poll(async () => {
        await here.announce('a')
        return there.get('a')
      })
      .toEqual({ value: 'new' })
    expect(await here.get('a')).toEqual({ value: 'new' })
  })

  test('goes to the source without Redis, and keeps nothing that is not there', async () => {
    await using cache = await createCache({
      redis: await connectRedis(),
      name: 'event',
      load: async (key) => (key === 'none' ? undefined : { key }),
      ttl: '1m',
    })
    expect([await cache.get('a'), await cache.get('a'), await cache.get('none')]).toEqual([
      { key: 'a' },
      { key: 'a' },
      undefined,
    ])
    expect(cache.reads).toEqual({ local: 1, redis: 0, loaded: 2 })
  })
})

describeRedis('what a process remembers', () => {
  test('a job that has ended is read once, and the last runs are listed', async () => {
    await using t = await setup()
    const recent = recentResults(t.millrace, { max: 10, ttl: '1m' })
    const { id } = await t.millrace.enqueue(view, { page: '/' })
    expect(await recent.get(id)).toMatchObject({ status: 'pending' })
    const ended = new Promise((resolve) => t.millrace.events.on('job_succeeded', resolve))
    await t.millrace.work({ handlers: [implement(view, async () => 'seen')] })
    await ended
    expect(await recent.get(id)).toMatchObject({ status: 'completed' })
    await t.sql('delete from millrace.job_archive where id = $1', [id])
    expect(await recent.get(id)).toMatchObject({ status: 'completed' })
    expect(recent.runs()).toMatchObject([{ id, type: 'view', attempt: 1, outcome: 'completed' }])
    recent.close()
  })

  test('answers are bounded in number', () => {
    const answers = recentAnswers<string>({ max: 2, ttl: '1m' })
    for (const key of ['a', 'b', 'c']) answers.set(key, key)
    expect([answers.get('a'), answers.get('b'), answers.get('c')]).toEqual([undefined, 'b', 'c'])
  })
})
