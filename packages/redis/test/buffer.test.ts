import { BufferFull, InvalidRedisOption } from '@millrace/redis'
import { defineJob, InvalidPayload, SecretInPayload, TenantMismatch, UnknownJobType } from 'millrace'
import pg from 'pg'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { describeRedis, moveAll, perOrganisation, queues, setup, view } from './support/setup.ts'

describeRedis('the spike buffer', () => {
  test('takes a job into Redis, and a mover makes one job of it', async () => {
    await using t = await setup()
    const answer = await t.buffer.enqueue(view, { page: '/' })
    expect(answer).toMatchObject({ status: 'buffered', durability: 'memory', warnings: [] })
    const { entryId } = answer as { entryId: string }
    expect(await t.jobs()).toEqual([])
    expect(await t.buffer.settled(entryId)).toEqual({ status: 'waiting' })
    expect(await moveAll(t)).toEqual({ moved: 1, rejected: 0 })
    const [job] = await t.jobs()
    expect(job).toMatchObject({ type: 'view', payload: { page: '/' }, tenant: null })
    expect(await t.buffer.settled(entryId)).toEqual({ status: 'moved', jobId: job?.id })
    expect(await t.buffer.state()).toEqual({
      ...{ entries: 0, oldestAgeMs: 0, rejected: 0, lost: 0, unwatched: 0, closed: null },
    })
  })

  test('keeps what the caller asked for, and counts the time in the buffer as waiting', async () => {
    await using t = await setup()
    const runAt = new Date(Date.now() + 3_600_000)
    const before = Date.now()
    await t.buffer.enqueue(view, { page: '/a' }, { priority: 2, dedupKey: 'a', createdBy: 'shop', maxAttempts: 2 })
    await t.buffer.enqueue(view, { page: '/b' }, { runAt })
    await t.buffer.enqueue(view, { page: '/c' }, { delay: '10m' })
    const after = Date.now()
    await moveAll(t)
    const jobs = await t.jobs()
    const [a, b, c] = ['/a', '/b', '/c'].map((page) => jobs.find(({ payload }) => payload.page === page))
    expect(await t.millrace.job(a?.id ?? '')).toMatchObject({
      priority: 2,
      dedupKey: 'a',
      createdBy: 'shop',
      maxAttempts: 2,
    })
    expect(a?.run_at.getTime()).toBeGreaterThanOrEqual(before - 1)
    expect(a?.run_at.getTime()).toBeLessThanOrEqual(after + 1)
    expect(b?.run_at).toEqual(runAt)
    expect(c?.run_at.getTime()).toBeGreaterThanOrEqual(before + 599_999)
    expect(c?.run_at.getTime()).toBeLessThanOrEqual(after + 600_001)
  })

  test('keeps the order of each tenant, and lets no tenant wait behind the flood of another', async () => {
    await using t = await setup()
    for (let n = 0; n < 300; n++) await t.buffer.enqueue(perOrganisation, { org: 'large', n })
    for (let n = 0; n < 3; n++) await t.buffer.enqueue(perOrganisation, { org: 'small', n })
    await using mover = t.buffer.startMover({ pause: () => true })
    await mover.pass()
    expect((await t.jobs()).filter(({ tenant }) => tenant === 'small')).toHaveLength(3)
    expect((await t.jobs()).filter(({ tenant }) => tenant === 'large')).toHaveLength(100)
    await moveAll(t)
    const large = (await t.jobs()).filter(({ tenant }) => tenant === 'large')
    expect(large.map(({ payload }) => payload.n)).toEqual(Array.from({ length: 300 }, (_, n) => n))
  })

  test('is moved once by several movers, in order', async () => {
    await using t = await setup()
    const others = await Promise.all([t.program(), t.program()])
    for (let n = 0; n < 250; n++) await t.buffer.enqueue(perOrganisation, { org: `org ${n % 3}`, n })
    const movers = [t, ...others].map(({ buffer }) => buffer.startMover())
    await expect.poll(async () => (await t.buffer.state()).entries).toBe(0)
    for (const mover of movers) await mover.stop()
    const jobs = await t.jobs()
    expect(jobs).toHaveLength(250)
    for (const org of ['org 0', 'org 1', 'org 2']) {
      const seen = jobs.filter(({ tenant }) => tenant === org).map(({ payload }) => payload.n as number)
      expect(seen).toEqual([...seen].sort((a, b) => a - b))
    }
  })

  test('moves an entry once, even if it could not be removed from Redis after its commit', async () => {
    await using t = await setup()
    await t.buffer.enqueue(view, { page: '/' })
    const stream = '{millrace:buffer:default}:t:'
    const [[, [, text]]] = await t.redis.run<[[string, [string, string]]]>(['XRANGE', stream, '-', '+'])
    await moveAll(t)
    await t.redis.run(['XADD', stream, '*', 'e', text])
    await t.redis.run(['ZADD', '{millrace:buffer:default}:active', '0', ''])
    expect(await moveAll(t)).toEqual({ moved: 0, rejected: 0 })
    expect(await t.jobs()).toHaveLength(1)
    expect((await t.buffer.state()).entries).toBe(0)
  })

  test('refuses before anything is written what enqueue refuses', async () => {
    await using t = await setup()
    const another = defineJob({ type: 'another', queue: queues.views, payload: z.object({}) })
    await expect(t.buffer.enqueue(view, { page: 1 } as never)).rejects.toThrow(InvalidPayload)
    await expect(t.buffer.enqueue(view, { page: '/', password: 'hunter22' } as never)).rejects.toThrow(SecretInPayload)
    await expect(t.buffer.enqueue(another, {})).rejects.toThrow(UnknownJobType)
    await expect(t.buffer.enqueue(perOrganisation, { org: 'a', n: 1 }, { tenant: 'b' })).rejects.toThrow(TenantMismatch)
    expect(await t.buffer.state()).toMatchObject({ entries: 0 })
  })

  test('takes neither sensitive jobs nor those of a critical queue', async () => {
    await using t = await setup()
    const payload = z.object({ card: z.string() })
    const secret = defineJob({ type: 'secret', queue: queues.views, payload, sensitive: ['card'] })
    const charge = defineJob({ type: 'charge', queue: queues.money, payload })
    await expect(t.buffer.enqueue(secret, { card: '4' })).rejects.toThrow(/"secret" cannot be buffered.*plain text/)
    await expect(t.buffer.enqueue(charge, { card: '4' })).rejects.toThrow(/"charge" cannot be buffered.*critical/)
    await expect(t.buffer.enqueue(charge, { card: '4' })).rejects.toThrow(InvalidRedisOption)
  })

  test('writes a job of a transaction into that transaction', async () => {
    await using t = await setup()
    const client = new pg.Client({ connectionString: t.url })
    await client.connect()
    await client.query('begin')
    expect(await t.buffer.enqueue(view, { page: '/' }, { tx: client })).toMatchObject({ status: 'queued' })
    await client.query('rollback')
    await client.end()
    expect(await t.jobs()).toEqual([])
    expect((await t.buffer.state()).entries).toBe(0)
  })

  test('holds so many and no more: then PostgreSQL, or a clear refusal', async () => {
    await using t = await setup({ maxEntries: 8 })
    const strict = await t.program({ maxEntries: 8, otherwise: 'refuse' })
    const of = (org: string, n: number) => strict.buffer.enqueue(perOrganisation, { org, n })
    await of('a', 1)
    await of('a', 2)
    await expect(of('a', 3)).rejects.toThrow(/holds 2 jobs of this tenant.*Try again later/)
    for (const org of ['b', 'c', 'd']) for (const n of [1, 2]) await of(org, n)
    await expect(of('e', 1)).rejects.toThrow(BufferFull)
    await expect(of('e', 1)).rejects.toThrow(/holds 8 jobs, which is all it may/)
    expect(await t.buffer.enqueue(perOrganisation, { org: 'e', n: 1 })).toMatchObject({ status: 'queued' })
    expect(await t.jobs()).toHaveLength(1)
    expect(await moveAll(t)).toEqual({ moved: 8, rejected: 0 })
    expect(await of('e', 2)).toMatchObject({ status: 'buffered' })
  })

  test('rejects what PostgreSQL refuses by name, moves the rest of its batch, and tries again when asked', async () => {
    await using t = await setup()
    const heard: unknown[] = []
    t.buffer.on('rejected', (rejection) => heard.push(rejection))
    const suspended = await t.buffer.enqueue(perOrganisation, { org: 'gone', n: 1 })
    await t.buffer.enqueue(perOrganisation, { org: 'here', n: 2 })
    await t.millrace.tenants.suspend('gone', { by: 'test', reason: 'unpaid' })
    expect(await moveAll(t)).toEqual({ moved: 1, rejected: 1 })
    const { entryId } = suspended as { entryId: string }
    const why = { code: 'tenant_suspended', type: 'view.of', tenant: 'gone' }
    expect(heard).toMatchObject([why])
    expect(await t.buffer.settled(entryId)).toMatchObject({ status: 'rejected', code: 'tenant_suspended' })
    expect(await t.buffer.rejected()).toMatchObject([why])
    expect(await t.buffer.redrive([entryId], { by: 'test' })).toMatchObject({ moved: [], rejected: [why] })
    await t.millrace.tenants.resume('gone', { by: 'test' })
    expect(await t.buffer.redrive([entryId], { by: 'test' })).toMatchObject({
      moved: [{ tenant: 'gone' }],
      rejected: [],
    })
    expect(await t.buffer.settled(entryId)).toMatchObject({ status: 'moved' })
    expect(await t.jobs()).toHaveLength(2)
  })

  test('leaves an entry of a newer version, and what comes behind it, to a newer program', async () => {
    await using t = await setup()
    const newer = defineJob({
      ...definitionOf('view'),
      version: 2,
      migrate: { 1: ({ page }) => ({ path: page }) },
      payload: z.object({ path: z.string() }),
    })
    const next = await t.program({ jobs: [newer] })
    await next.buffer.enqueue(newer, { path: '/new' })
    await t.buffer.enqueue(view, { page: '/old' })
    expect(await moveAll(t)).toEqual({ moved: 0, rejected: 0 })
    expect(await moveAll(next)).toEqual({ moved: 2, rejected: 0 })
    expect((await t.jobs()).map(({ payload }) => payload)).toEqual([{ path: '/new' }, { path: '/old' }])
  })

  test('forgets a tenant, rejected entries too', async () => {
    await using t = await setup()
    await t.buffer.enqueue(perOrganisation, { org: 'gone', n: 1 })
    await t.millrace.tenants.suspend('gone', { by: 'test', reason: 'closed' })
    await moveAll(t)
    const waiting = await t.buffer.enqueue(perOrganisation, { org: 'gone', n: 2 })
    await t.buffer.enqueue(perOrganisation, { org: 'here', n: 3 })
    expect(await t.buffer.forget('gone')).toBe(2)
    expect(await t.buffer.settled((waiting as { entryId: string }).entryId)).toEqual({ status: 'forgotten' })
    await t.buffer.look()
    expect(await t.buffer.state()).toMatchObject({ lost: 0 })
    expect(await moveAll(t)).toEqual({ moved: 1, rejected: 0 })
    expect(await t.buffer.rejected()).toEqual([])
  })

  test('an entry that is none of ours is rejected, not lost', async () => {
    await using t = await setup()
    await t.redis.run(['XADD', '{millrace:buffer:default}:t:', '*', 'e', 'not JSON'])
    await t.redis.run(['ZADD', '{millrace:buffer:default}:active', '0', ''])
    expect(await moveAll(t)).toEqual({ moved: 0, rejected: 1 })
    expect(await t.buffer.rejected()).toMatchObject([{ code: 'unreadable' }])
  })

  test('a paused mover moves nothing', async () => {
    await using t = await setup()
    let isPaused = true
    await t.buffer.enqueue(view, { page: '/' })
    const asked = new Promise<void>((resolve) => {
      let times = 0
      void t.buffer.startMover({
        pause() {
          times += 1
          if (times === 3) resolve()
          return isPaused
        },
      })
    })
    await asked
    expect(await t.jobs()).toEqual([])
    isPaused = false
    await expect.poll(() => t.jobs()).toHaveLength(1)
  })
})

const definitionOf = (type: string) => ({ type, queue: queues.views })
