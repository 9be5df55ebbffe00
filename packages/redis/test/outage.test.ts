// What holds while Redis is away, slow, full, or without its data.
import { BufferUnavailable, connectRedis, type RedisState } from '@millrace/redis'
import { cuttingProxy, startRedis } from '@millrace/redis/testing'
import { expect, test } from 'vitest'
import { describeRedis, moveAll, perOrganisation, setup, view } from './support/setup.ts'

const becomes = (redis: { state: RedisState }, name: RedisState['name']) =>
  expect.poll(() => redis.state.name).toBe(name)

describeRedis('without a usable Redis', () => {
  test('an object that says so: every job goes to PostgreSQL', async () => {
    await using t = await setup()
    const redis = await connectRedis()
    expect(redis.state).toEqual({ name: 'absent', why: 'no address was given (REDIS_URL)' })
    const { buffer } = await t.program({ redis })
    expect(await buffer.enqueue(view, { page: '/' })).toMatchObject({ status: 'queued' })
    expect(await buffer.state()).toMatchObject({ entries: null, closed: 'no address was given (REDIS_URL)' })
  })

  test('a buffer that may not use PostgreSQL refuses, and says what to do', async () => {
    await using t = await setup()
    const { buffer } = await t.program({ redis: await connectRedis(), otherwise: 'refuse' })
    await expect(buffer.enqueue(view, { page: '/' })).rejects.toThrow(BufferUnavailable)
    await expect(buffer.enqueue(view, { page: '/' })).rejects.toThrow(
      /was not enqueued: Redis cannot be used: no address/,
    )
  })

  test('killed: jobs go to PostgreSQL at once, and into Redis again when it is back', async () => {
    await using t = await setup()
    await t.server.kill()
    await becomes(t.redis, 'down')
    expect(await t.buffer.enqueue(view, { page: '/' })).toMatchObject({ status: 'queued' })
    await t.server.start()
    await becomes(t.redis, 'ready')
    expect(await t.buffer.enqueue(view, { page: '/' })).toMatchObject({ status: 'buffered' })
  })

  test('what it took and forgot is reported by name, and what was moved is not', async () => {
    await using t = await setup()
    const lost: unknown[] = []
    t.buffer.on('lost', (row) => lost.push(row))
    await t.buffer.enqueue(perOrganisation, { org: 'a', n: 1 })
    await moveAll(t)
    const gone = await t.buffer.enqueue(perOrganisation, { org: 'a', n: 2 })
    await t.redis.run(['FLUSHALL'])
    await expect.poll(() => lost).toMatchObject([{ type: 'view.of', tenant: 'a' }])
    const { entryId } = gone as { entryId: string }
    expect(await t.buffer.settled(entryId)).toEqual({ status: 'lost' })
    expect(await t.buffer.state()).toMatchObject({ lost: 1, unwatched: 0 })
    await t.buffer.look()
    expect(lost).toHaveLength(1)
  })

  test('with a log of every write it forgets nothing when it is killed', async () => {
    await using t = await setup({ persistence: 'always' })
    expect(await t.buffer.enqueue(view, { page: '/' })).toMatchObject({ durability: 'aof-always' })
    await t.server.restart()
    await becomes(t.redis, 'ready')
    expect(await moveAll(t)).toEqual({ moved: 1, rejected: 0 })
    await t.buffer.look()
    expect(await t.buffer.state()).toMatchObject({ lost: 0 })
  })

  test('an entry whose answer did not come exists once, whether Redis took it or not', async () => {
    await using t = await setup()
    await using proxy = await cuttingProxy(t.server.port)
    const { redis, buffer } = await t.program({ redisUrl: proxy.url })
    await buffer.enqueue(view, { page: 'warm' })
    proxy.holdAnswers()
    // Redis takes the entry, and its answer is kept back.
    expect(await buffer.enqueue(view, { page: 'taken' })).toMatchObject({ status: 'queued' })
    proxy.pass()
    proxy.cut()
    await becomes(redis, 'ready')
    await moveAll(t)
    const pages = (await t.jobs()).map(({ payload }) => payload.page)
    expect(pages.sort()).toEqual(['taken', 'warm'])
  })

  test('frozen: three late answers, and it is left alone', async () => {
    await using t = await setup()
    t.server.freeze()
    expect(await t.buffer.enqueue(view, { page: '/' })).toMatchObject({ status: 'queued' })
    expect(t.redis.state.name).not.toBe('ready')
    t.server.thaw()
    await becomes(t.redis, 'ready')
    await moveAll(t)
    // Whether it had taken the entry before it froze or not: there is one job.
    expect(await t.jobs()).toHaveLength(1)
  })

  test('full: PostgreSQL at once', async () => {
    await using t = await setup({ maxmemory: '2mb' })
    const answers = new Set<string>()
    for (let n = 0; n < 5_000 && !answers.has('queued'); n++)
      answers.add((await t.buffer.enqueue(view, { page: 'x'.repeat(2_000) })).status)
    expect(answers).toEqual(new Set(['buffered', 'queued']))
  })

  test('one that may throw keys away takes no jobs, and says why', async () => {
    await using t = await setup({ policy: 'allkeys-lru' })
    expect(await t.buffer.enqueue(view, { page: '/' })).toMatchObject({ status: 'queued' })
    expect((await t.buffer.state()).closed).toMatch(/maxmemory-policy is allkeys-lru.*expected noeviction/)
  })

  test('a replica takes no jobs; after a failover the new server does', async () => {
    await using t = await setup()
    await using other = await startRedis()
    await using proxy = await cuttingProxy(t.server.port)
    const { redis, buffer } = await t.program({ redisUrl: proxy.url })
    await t.redis.run(['REPLICAOF', '127.0.0.1', String(other.port)])
    expect(await buffer.enqueue(view, { page: '/' })).toMatchObject({ status: 'queued' })
    proxy.switchTo(other.port)
    await becomes(redis, 'ready')
    await expect.poll(async () => (await buffer.enqueue(view, { page: '/' })).status).toBe('buffered')
  })

  test('a wrong address or name is refused with what was expected', async () => {
    await expect(connectRedis({ url: 'http://localhost' })).rejects.toThrow(/expected redis:\/\/host:port/)
    await expect(connectRedis({ url: 'redis://localhost', prefix: 'a b' })).rejects.toThrow(/prefix is "a b"/)
    await using nobody = await connectRedis({ url: 'redis://127.0.0.1:1' })
    expect(nobody.state.name).toBe('down')
  })
})
