import { defineJob, defineQueues, InvalidPayload, KeyBusy, TenantMismatch, TenantRequired } from 'millrace'
import pg from 'pg'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { Millrace } from '#src/millrace'
import { decodeMessage } from '#src/store/notifications'
import { type Setup, setup, signal } from '../support/setup.ts'

const queues = defineQueues({ default: { priority: 3 }, orgs: { tenant: 'required' } })
const note = defineJob({ type: 'note', queue: queues.default, payload: z.object({ text: z.string() }) })
const keyed = defineJob({
  type: 'keyed',
  queue: queues.default,
  payload: z.object({ key: z.string() }),
  dedupe: { key: (payload) => payload.key },
})
const org = defineJob({
  type: 'org',
  queue: queues.orgs,
  payload: z.object({ organization_id: z.string() }),
  tenant: (payload) => payload.organization_id,
})
const orgByOption = defineJob({ type: 'org-by-option', queue: queues.orgs, payload: z.object({}) })
const jobs = [note, keyed, org, orgByOption]

describe('enqueue', () => {
  test('writes a pending job with the defaults of its contract', async () => {
    await using t = await setup()
    const result = await t.client(jobs).enqueue(note, { text: 'hi' })
    expect(result).toEqual({ status: 'queued', id: expect.stringMatching(/^\d+$/), warnings: [] })
    const [row] = await t.sql('select * from millrace.job')
    expect(row).toMatchObject({
      id: result.id,
      status: 'pending',
      type: 'note',
      queue: 'default',
      tenant: null,
      priority: 3,
      payload: { text: 'hi' },
      attempt: 0,
      max_attempts: 5,
      crashes: 0,
      correlation_id: null,
    })
    expect(row?.run_at).toEqual(row?.created_at)
  })

  test('takes every option', async () => {
    await using t = await setup()
    const runAt = new Date('2031-02-03T04:05:06.789Z')
    const { id } = await t.client(jobs).enqueue(
      note,
      { text: 'hi' },
      {
        tenant: 'acme',
        priority: 0,
        runAt,
        correlationId: 'user-action-123',
        parentJobId: '77',
        createdBy: 'ann',
        maxAttempts: 9,
        dedupKey: 'once',
        traceParent: '00-abc',
      },
    )
    const [row] = await t.sql('select * from millrace.job where id = $1', [id])
    expect(row).toMatchObject({
      tenant: 'acme',
      priority: 0,
      run_at: runAt,
      correlation_id: 'user-action-123',
      parent_job_id: '77',
      created_by: 'ann',
      max_attempts: 9,
      dedup_key: 'once',
      trace_parent: '00-abc',
    })
  })

  test('counts a delay from the database clock', async () => {
    await using t = await setup()
    await t.client(jobs).enqueue(note, { text: 'later' }, { delay: '90s' })
    const [row] = await t.sql('select extract(epoch from run_at - created_at)::int as wait from millrace.job')
    expect(row).toEqual({ wait: 90 })
  })

  test('stores the input as it was validated, so that transforms apply once, at the run', async () => {
    await using t = await setup()
    const shout = defineJob({
      type: 'shout',
      queue: queues.default,
      payload: z.object({ text: z.string().transform((text) => text.toUpperCase()) }),
    })
    await t.client([shout]).enqueue(shout, { text: 'hi' })
    expect(await t.sql('select payload from millrace.job')).toEqual([{ payload: { text: 'hi' } }])
  })

  test.each([
    ['a payload that does not fit', () => ({ text: 7 }), /text: .*expected string/i],
    ['NUL', () => ({ text: '\u0000' }), /\\u0000/],
    ['too large a payload', () => ({ text: 'x'.repeat(300_000) }), /the limit is 262144/],
  ])('refuses %s and writes nothing', async (_, payload, message) => {
    await using t = await setup()
    const refused = t.client(jobs).enqueue(note, payload() as never)
    await expect(refused).rejects.toBeInstanceOf(InvalidPayload)
    await expect(refused).rejects.toThrow(message)
    expect(await t.sql('select from millrace.job')).toEqual([])
  })

  test('refuses a value that JSON would change into one its schema does not take', async () => {
    await using t = await setup()
    const dated = defineJob({ type: 'dated', queue: queues.default, payload: z.object({ at: z.date() }) })
    await expect(t.client([dated]).enqueue(dated, { at: new Date() })).rejects.toThrow(/at: .*expected date/i)
  })

  test.each([
    [{ priority: -1 }, /priority is -1/],
    [{ priority: 0.5 }, /priority is 0.5/],
    [{ maxAttempts: 0 }, /maxAttempts is 0/],
    [{ delay: 'soon' as never }, /delay is "soon"/],
    [{ runAt: new Date('nonsense') }, /runAt is Invalid Date: expected a valid Date/],
    [{ runAt: '2031-02-03' as unknown as Date }, /runAt is 2031-02-03: expected a valid Date/],
    [{ runAt: new Date('+010000-01-01') }, /runAt is \+010000-01-01.*from the year 1 to the year 9999/],
    [{ runAt: new Date('0000-12-31T23:59:59.999Z') }, /runAt is 0000-12-31.*from the year 1 to the year 9999/],
    [{ runAt: new Date(-8.64e15) }, /runAt is -271821-04-20.*from the year 1 to the year 9999/],
    [{ delay: 1e300 }, /ten years is the most/],
    [{ parentJobId: '1,2' }, /parentJobId is "1,2"/],
    [{ tenant: 5 as never }, /tenant is not usable \(number\)/],
    [{ tenant: 'a\u0000b' }, /tenant is not usable/],
    [{ correlationId: 'x'.repeat(10_000) }, /correlationId is not usable \(10000 characters\)/],
    [{ dedupKey: 'x'.repeat(501) }, /dedupKey is not usable/],
    [{ runAt: new Date(), delay: '1s' as const }, /Both runAt and delay/],
  ])('refuses %j', async (options, message) => {
    await using t = await setup()
    await expect(t.client(jobs).enqueue(note, { text: '' }, options)).rejects.toThrow(message)
  })

  test('demands a tenant where the queue does, or reads it from the payload', async () => {
    await using t = await setup()
    const millrace = t.client(jobs)
    await expect(millrace.enqueue(orgByOption, {}, {} as never)).rejects.toBeInstanceOf(TenantRequired)
    await expect(millrace.enqueue(orgByOption, {}, { tenant: '' })).rejects.toBeInstanceOf(TenantRequired)
    await expect(millrace.enqueue(org, { organization_id: 'a' }, { tenant: 'b' })).rejects.toBeInstanceOf(
      TenantMismatch,
    )
    await millrace.enqueue(org, { organization_id: 'a' })
    expect(await t.sql('select tenant from millrace.job')).toEqual([{ tenant: 'a' }])
  })

  test('many single enqueues at once share commits and each gets its own id', async () => {
    await using t = await setup()
    const millrace = t.client(jobs)
    const results = await Promise.all(Array.from({ length: 2_500 }, (_, i) => millrace.enqueue(note, { text: `${i}` })))
    const rows = await t.sql<{ id: string; text: string }>(`select id, payload->>'text' as text from millrace.job`)
    const texts = new Map(rows.map((row) => [row.id, row.text]))
    results.forEach((result, i) => {
      expect(texts.get(result.id)).toBe(`${i}`)
    })
    const [commits] = await t.sql<{ count: number }>(
      'select count(distinct xmin::text)::int as count from millrace.job',
    )
    expect(commits?.count).toBeLessThan(50)
  })

  test('a row that Postgres refuses fails its own caller and none of its batch', async () => {
    await using t = await setup()
    await t.sql(`alter table millrace.job add constraint no_bad check (payload->>'text' <> 'bad')`)
    const millrace = t.client(jobs)
    const texts = Array.from({ length: 40 }, (_, i) => (i === 17 ? 'bad' : `good ${i}`))
    const results = await Promise.allSettled(texts.map((text) => millrace.enqueue(note, { text })))
    expect(results.map((result) => result.status === 'rejected')).toEqual(texts.map((text) => text === 'bad'))
    expect(await t.sql('select count(*)::int from millrace.job')).toEqual([{ count: 39 }])
  })
})

describe('inside a transaction', () => {
  test('the job exists exactly if it commits', async () => {
    await using t = await setup()
    const millrace = t.client(jobs)
    for (const end of ['rollback', 'commit']) {
      const client = new pg.Client(t.url)
      await client.connect()
      await client.query('begin')
      await millrace.enqueue(note, { text: end }, { tx: client })
      await millrace.enqueueMany(note, [{ text: end }, { text: end }], { tx: client })
      expect(await t.sql('select from millrace.job')).toEqual([])
      await client.query(end)
      await client.end()
    }
    expect(await t.sql(`select distinct payload from millrace.job`)).toEqual([{ payload: { text: 'commit' } }])
    expect(await t.sql('select count(*)::int from millrace.job')).toEqual([{ count: 3 }])
  })

  test('leaves the settings of that transaction alone', async () => {
    await using t = await setup()
    const client = new pg.Client(t.url)
    await client.connect()
    await client.query('begin')
    const before = (await client.query('show lock_timeout')).rows
    await t.client(jobs).enqueue(keyed, { key: 'a' }, { tx: client })
    expect((await client.query('show lock_timeout')).rows).toEqual(before)
    await client.query('commit')
    expect((await client.query('show synchronous_commit')).rows).toEqual([{ synchronous_commit: 'on' }])
    await client.end()
  })
})

describe('enqueueMany', () => {
  test('answers by position', async () => {
    await using t = await setup()
    const results = await t.client(jobs).enqueueMany(note, [{ text: 'a' }, { text: 'b' }, { text: 'c' }])
    const rows = await t.sql<{ id: string; text: string }>(`select id, payload->>'text' as text from millrace.job`)
    expect(results.map((result) => rows.find((row) => row.id === result.id)?.text)).toEqual(['a', 'b', 'c'])
  })

  test('refuses the whole list for one bad payload', async () => {
    await using t = await setup()
    const many = t.client(jobs).enqueueMany(note, [{ text: 'a' }, { text: 7 as never }])
    await expect(many).rejects.toBeInstanceOf(InvalidPayload)
    expect(await t.sql('select from millrace.job')).toEqual([])
  })

  test('writes thousands, and nothing for an empty list', async () => {
    await using t = await setup()
    const millrace = t.client(jobs)
    expect(await millrace.enqueueMany(note, [])).toEqual([])
    const results = await millrace.enqueueMany(
      note,
      Array.from({ length: 5_000 }, (_, i) => ({ text: `${i}` })),
    )
    expect(new Set(results.map((result) => result.id)).size).toBe(5_000)
  })

  test('tells duplicates inside the list and against live jobs apart from new ones', async () => {
    await using t = await setup()
    const millrace = t.client(jobs)
    const held = await millrace.enqueue(keyed, { key: 'held' })
    const results = await millrace.enqueueMany(keyed, [{ key: 'new' }, { key: 'held' }, { key: 'new' }, { key: 'b' }])
    expect(results.map((result) => result.status)).toEqual(['queued', 'duplicate', 'duplicate', 'queued'])
    expect(results[1]?.id).toBe(held.id)
    expect(results[2]?.id).toBe(results[0]?.id)
  })
})

describe('a dedup key', () => {
  test('is held by a live job, per tenant and type', async () => {
    await using t = await setup()
    const millrace = t.client(jobs)
    const first = await millrace.enqueue(keyed, { key: 'a' })
    expect(await millrace.enqueue(keyed, { key: 'a' })).toEqual({ status: 'duplicate', id: first.id })
    expect(await millrace.enqueue(keyed, { key: 'a' }, { tenant: 'acme' })).toMatchObject({ status: 'queued' })
    expect(await millrace.enqueue(note, { text: '' }, { dedupKey: 'a' })).toMatchObject({ status: 'queued' })
    await millrace.cancel(first.id, { by: 'ann' })
    expect(await millrace.enqueue(keyed, { key: 'a' })).toMatchObject({ status: 'queued' })
  })

  test('raced for by fifty callers is won once', async () => {
    await using t = await setup()
    const millrace = t.client(jobs)
    const results = await Promise.all(Array.from({ length: 50 }, () => millrace.enqueue(keyed, { key: 'a' })))
    expect(results.filter((result) => result.status === 'queued')).toHaveLength(1)
    expect(new Set(results.map((result) => result.id)).size).toBe(1)
  })

  test('held by an open transaction is waited for, and then refused as busy', async () => {
    await using t = await setup()
    const millrace = t.client(jobs)
    const other = new pg.Client(t.url)
    await other.connect()
    await other.query('begin')
    await millrace.enqueue(keyed, { key: 'a' }, { tx: other })
    await expect(millrace.enqueue(keyed, { key: 'a' })).rejects.toBeInstanceOf(KeyBusy)
    const list = millrace.enqueueMany(keyed, [{ key: 'b' }, { key: 'a' }])
    await expect(list).rejects.toThrow(/One of the 2 dedup keys of job "keyed" is held by another transaction/)
    const waiting = millrace.enqueue(keyed, { key: 'a' })
    await other.query('rollback')
    expect(await waiting).toMatchObject({ status: 'queued' })
    await other.end()
  })

  test('busy in one place does not hold up unkeyed jobs', async () => {
    await using t = await setup()
    const millrace = t.client(jobs)
    const other = new pg.Client(t.url)
    await other.connect()
    await other.query('begin')
    await millrace.enqueue(keyed, { key: 'a' }, { tx: other })
    const order: string[] = []
    const busy = millrace.enqueue(keyed, { key: 'a' }).catch(() => order.push('busy'))
    await millrace.enqueue(note, { text: 'free' }).then(() => order.push('free'))
    await busy
    await other.query('rollback')
    await other.end()
    expect(order).toEqual(['free', 'busy'])
  })
})

describe('wake-ups', () => {
  /** Everything said on the channel up to `end`. */
  async function listening(t: Setup) {
    const heard: string[] = []
    const done = signal()
    const listener = new pg.Client(t.url)
    await listener.connect()
    listener.on('notification', ({ payload }) => {
      if (payload === 'end') done.resolve()
      else heard.push(payload ?? '')
    })
    await listener.query('listen millrace_pulse')
    return async () => {
      await t.sql(`select pg_notify('millrace_pulse', 'end')`)
      await done.promise
      await listener.end()
      return heard
    }
  }

  test('one message per transaction and queue, on a pooled connection too, and none when switched off', async () => {
    await using t = await setup()
    const heard = await listening(t)
    await t.client(jobs, { notify: false }).enqueue(note, { text: '' })
    const tx = new pg.Client(t.url)
    await tx.connect()
    const millrace = t.client(jobs)
    for (let transaction = 0; transaction < 3; transaction++) {
      await tx.query('begin')
      for (let i = 0; i < 5; i++) await millrace.enqueue(note, { text: '' }, { tx })
      await millrace.enqueue(org, { organization_id: 'a' }, { tx })
      await tx.query('commit')
    }
    await tx.end()
    expect(await heard()).toEqual(['w:default', 'w:orgs', 'w:default', 'w:orgs', 'w:default', 'w:orgs'])
  })

  test('a program tells others under its own name: its workers were told before', async () => {
    await using t = await setup()
    const heard = await listening(t)
    const millrace = t.client(jobs)
    await millrace.enqueueMany(note, [{ text: '' }, { text: '' }])
    await millrace.close()
    const { token } = Millrace.servicesOf(millrace as never).waker
    const messages = await heard()
    expect(messages).toEqual([`o:${token}:default`])
    expect(messages.map(decodeMessage)).toEqual([{ kind: 'work', queue: 'default', from: token }])
  })

  test('a program that closes right after its last enqueue has sent its message', async () => {
    await using t = await setup()
    const heard = await listening(t)
    const millrace = t.client(jobs)
    await millrace.enqueue(note, { text: '' })
    await millrace.close()
    expect(await heard()).toEqual(['w:default'])
  })
})
