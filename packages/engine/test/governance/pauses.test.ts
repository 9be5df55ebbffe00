import { defineJob, defineQueues, InvalidDefinition, implement, type PauseTarget } from 'millrace'
import { fakeClock } from 'millrace/testing'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { lockKeys } from '#src/store/governed-claims'
import { eventually, jobEvent, setup, signal } from '../support/setup.ts'

const queues = defineQueues({ a: {}, b: {} })
const payload = z.object({ n: z.number() })
const mail = defineJob({ type: 'mail', queue: queues.a, payload })
const fax = defineJob({ type: 'fax', queue: queues.a, payload })
const other = defineJob({ type: 'other', queue: queues.b, payload })
const jobs = [mail, fax, other]
const handlers = jobs.map((job) => implement(job, () => {}))
const words = { by: 'the test', reason: 'the printer is on fire' }
const numbered = (count: number) => Array.from({ length: count }, (_, n) => ({ n }))

describe('a pause', () => {
  test.each<[string, PauseTarget, string[]]>([
    ['of a queue', { queue: 'a' }, ['mail', 'fax', 'mail of x', 'mail of y']],
    ['of a type', { type: 'mail' }, ['mail', 'mail of x', 'mail of y']],
    ['of a tenant', { tenant: 'x' }, ['mail of x']],
    ['of a type of one tenant', { type: 'mail', tenant: 'x' }, ['mail of x']],
  ])('%s holds what it names and nothing else, until it is ended', async (_, target, held) => {
    await using t = await setup()
    const { millrace } = await t.working(handlers)
    await millrace.pauses.pause(target, words)
    const ids = {
      mail: (await millrace.enqueue(mail, { n: 1 })).id,
      fax: (await millrace.enqueue(fax, { n: 2 })).id,
      other: (await millrace.enqueue(other, { n: 3 })).id,
      'mail of x': (await millrace.enqueue(mail, { n: 4 }, { tenant: 'x' })).id,
      'mail of y': (await millrace.enqueue(mail, { n: 5 }, { tenant: 'y' })).id,
    }
    const all = Object.entries(ids)
    for (const [name, id] of all) if (!held.includes(name)) await jobEvent(millrace, 'job_completed', id)
    for (const [name, id] of all)
      if (held.includes(name)) expect((await millrace.job(id))?.status, name).toBe('pending')
    const { reason, by } = words
    expect(await millrace.pauses.resume(target, words)).toMatchObject({ ended: [{ reason, by }], others: [] })
    for (const [, id] of all) await jobEvent(millrace, 'job_completed', id)
    expect(await millrace.pauses.resume(target, words)).toEqual({ ended: [], others: [] })
  })

  test('is heeded by every claim that begins after it has returned', async () => {
    await using t = await setup()
    const { millrace } = await t.working(handlers, { concurrency: { a: 2 } })
    await millrace.enqueueMany(mail, numbered(5_000))
    await eventually(async () => (await t.sql('select 1 from millrace.job_archive limit 1')).length > 0)
    for (let round = 0; round < 5; round++) {
      await millrace.pauses.pause({ queue: 'a' }, words)
      const [{ at }] = (await t.sql<{ at: string }>('select clock_timestamp()::text as at')) as [{ at: string }]
      await millrace.enqueue(mail, { n: 0 })
      const { id } = await millrace.enqueue(other, { n: 0 })
      await jobEvent(millrace, 'job_completed', id)
      await eventually(async () => (await t.sql(`select 1 from millrace.job where status = 'processing'`)).length === 0)
      const late = await t.sql(
        `select id from millrace.job where queue = 'a' and started_at > $1
         union all select id from millrace.job_archive where queue = 'a' and started_at > $1`,
        [at],
      )
      expect(late).toEqual([])
      await millrace.pauses.resume({ queue: 'a' }, words)
    }
  })

  test('leaves running jobs alone', async () => {
    await using t = await setup()
    const release = signal()
    const { millrace } = await t.working([implement(mail, () => release.promise)])
    const { id } = await millrace.enqueue(mail, { n: 1 })
    await eventually(async () => (await millrace.job(id))?.status === 'processing')
    await millrace.pauses.pause({ type: 'mail' }, words)
    release.resolve()
    await jobEvent(millrace, 'job_completed', id)
  })

  test('ends by itself when its time is over', async () => {
    await using t = await setup()
    const clock = fakeClock(new Date())
    const millrace = t.client(jobs, { clock })
    await millrace.work({ handlers })
    const pause = await millrace.pauses.pause({ queue: 'a' }, { ...words, for: '10m' })
    expect(pause.expiresAt?.getTime()).toBe(clock.now().getTime() + 600_000)
    const { id } = await millrace.enqueue(mail, { n: 1 })
    clock.advance('9m')
    await millrace.enqueue(other, { n: 1 }).then((each) => jobEvent(millrace, 'job_completed', each.id))
    expect((await millrace.job(id))?.status).toBe('pending')
    clock.advance('1m')
    await jobEvent(millrace, 'job_completed', id)
    expect(await millrace.pauses.list()).toEqual([])
  })

  test('holds in a worker that starts later, and in another client', async () => {
    await using t = await setup()
    await t.client(jobs).pauses.pause({ type: 'mail' }, words)
    const { millrace } = await t.working(handlers)
    const held = await millrace.enqueue(mail, { n: 1 })
    const { id } = await millrace.enqueue(fax, { n: 1 })
    await jobEvent(millrace, 'job_completed', id)
    expect((await millrace.job(held.id))?.status).toBe('pending')
  })

  test('is in the audit log, with who and why', async () => {
    await using t = await setup()
    const millrace = t.client(jobs)
    await millrace.pauses.pause({ queue: 'a', tenant: 'x' }, { ...words, for: '1h' })
    await millrace.pauses.resume({ queue: 'a', tenant: 'x' }, { by: 'somebody else', all: true })
    expect(
      await t.sql('select actor as by, action, target, tenant, details from millrace.audit_log order by id'),
    ).toEqual([
      {
        by: 'the test',
        action: 'pause.set',
        target: 'queue a, tenant x',
        tenant: 'x',
        details: { reason: words.reason, forMs: 3_600_000 },
      },
      {
        by: 'somebody else',
        action: 'pause.end',
        target: 'queue a, tenant x',
        tenant: 'x',
        details: { all: true, ended: [{ by: 'the test', reason: words.reason }] },
      },
    ])
  })

  test('can be set by a program that knows no contract, of what waits and of what workers run', async () => {
    await using t = await setup()
    const stranger = t.client([])
    await expect(stranger.pauses.pause({ queue: 'a' }, words)).rejects.toThrow(
      /nothing waits in it, and no worker declares it/,
    )
    await expect(stranger.pauses.pause({ type: 'mail' }, words)).rejects.toThrow(/no job type "mail"/)
    const { id } = await t.client(jobs).enqueue(mail, { n: 1 })
    expect(await stranger.pauses.pause({ queue: 'a' }, words)).toMatchObject({ queue: 'a' })
    await expect(stranger.pauses.pause({ queue: 'b' }, words)).rejects.toThrow(/no queue "b"/)
    const { millrace } = await t.working(handlers)
    expect(await stranger.pauses.pause({ type: 'fax' }, words)).toMatchObject({ type: 'fax' })
    await stranger.pauses.resume({ queue: 'a' }, words)
    await jobEvent(millrace, 'job_completed', id)
  })

  test('waits for a claim of tenants’ jobs that is under way, also in a program that knows no contract', async () => {
    await using t = await setup()
    await t.client(jobs).enqueue(mail, { n: 1 }, { tenant: 'x' })
    const claiming = await t.pool.connect()
    await claiming.query('begin')
    await claiming.query('select pg_advisory_xact_lock($1)', lockKeys('millrace', ['queue:a']))
    let isPaused = false
    const paused = t
      .client([])
      .pauses.pause({ tenant: 'x' }, words)
      .then(() => {
        isPaused = true
      })
    await eventually(
      async () => (await t.sql(`select 1 from pg_locks where locktype = 'advisory' and not granted`)).length === 1,
    )
    expect(isPaused).toBe(false)
    await claiming.query('commit')
    claiming.release()
    await paused
  })

  test('of nothing, of what is unknown, or without a word is refused', async () => {
    await using t = await setup()
    const millrace = t.client(jobs)
    await expect(millrace.pauses.pause({}, words)).rejects.toThrow(InvalidDefinition)
    await expect(millrace.pauses.pause({ queue: 'c' }, words)).rejects.toThrow(/no queue "c"/)
    await expect(millrace.pauses.pause({ type: 'mial' }, words)).rejects.toThrow(/Did you mean "mail"/)
    await expect(millrace.pauses.pause({ queue: 'a' }, { by: 'x', reason: '' })).rejects.toThrow(/a reason and `by`/)
  })
})
