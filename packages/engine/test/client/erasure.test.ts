// Erasing what jobs carried.
import { once } from 'node:events'
import { defineJob, defineQueues, type EraseRequest, every, implement } from 'millrace'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { graveyard } from '../support/dead-letters.ts'
import { everyText } from '../support/every-text.ts'
import { ringOf } from '../support/keys.ts'
import { jobEvent, signal } from '../support/setup.ts'

const queues = defineQueues({ default: {} })
const mail = defineJob({
  type: 'mail',
  queue: queues.default,
  payload: z.object({ email: z.string(), n: z.number().optional() }),
  dedupe: { key: ({ email, n }) => (n === undefined ? email : null) },
  retry: { attempts: 2, backoff: () => 3_600_000 },
})
const other = defineJob({ type: 'other', queue: queues.default, payload: z.object({ email: z.string() }) })
const theirs = defineJob({
  type: 'theirs',
  queue: queues.default,
  payload: z.object({ whose: z.string() }),
  tenant: ({ whose }) => whose,
})
const secret = defineJob({
  type: 'secret',
  queue: queues.default,
  payload: z.object({ email: z.string(), room: z.number() }),
  sensitive: ['email'],
})
const canary = 'canary@example.com'
const by = { by: 'ann', reason: 'asked to' } as const

/** Of tenant acme: completed, dead, cancelled, failed and waiting, scheduled. Of tenant beta: one of each kind of row. */
async function office() {
  const t = await graveyard()
  const millrace = t.client([mail, other, theirs, secret], { encryption: ringOf('a') })
  const handler = implement(mail, async ({ n }, ctx) => {
    ctx.log.info({ to: canary }, `mail to ${canary}`)
    if (n === 2) throw new Error(`no such box: ${canary}`)
    return ctx.once(canary, () => ({ sent: canary }))
  })
  const worker = await millrace.work({ handlers: [handler] })
  for (const tenant of ['acme', 'beta']) {
    const { id: done } = await millrace.enqueue(mail, { email: canary }, { tenant })
    await jobEvent(millrace, 'job_completed', done)
    const failing = await millrace.enqueue(mail, { email: canary, n: 2 }, { tenant, delay: '1h' })
    const failed = jobEvent(millrace, 'job_retry_scheduled', failing.id)
    await millrace.runNow(failing.id, { by: 'ann' })
    await failed
  }
  await worker.stop()
  for (const tenant of ['acme', 'beta']) {
    const { id } = await millrace.enqueue(other, { email: canary }, { tenant })
    await t.kill([id], { error: new Error(`dead: ${canary}`) })
    const { id: cancelled } = await millrace.enqueue(other, { email: canary }, { tenant })
    await millrace.cancel(cancelled, { by: 'ann', reason: `by ${canary}` })
    await millrace.enqueue(mail, { email: canary }, { tenant, delay: '1h' })
  }
  const letters = await millrace.deadLetters.list()
  await millrace.deadLetters.note(
    letters.map(({ id }) => id),
    `called ${canary}`,
    { by: 'ann' },
  )
  return { ...t, millrace }
}

const rows = (t: Awaited<ReturnType<typeof office>>, tenant: string) =>
  t.sql<{ text: string }>(
    `select to_jsonb(a)::text as text from millrace.job_archive a where tenant = $1
     union all select to_jsonb(l)::text from millrace.dead_letter_jobs l where tenant = $1
     union all select to_jsonb(j)::text from millrace.job j where tenant = $1
     union all select to_jsonb(f)::text from millrace.job_attempt f
       where job_id in (select id from millrace.job where tenant = $1 union all select id from millrace.job_archive where tenant = $1)`,
    [tenant],
  )

describe('of a tenant', () => {
  test('removes its schedules of run time, which would enqueue it again, and says so', async () => {
    await using t = await office()
    const { schedules } = t.millrace
    const when = every('1h')
    for (const tenant of ['acme', 'beta'])
      await schedules.create({ name: tenant, type: 'other', when, payload: { email: canary }, tenant, by: 'ann' })
    await schedules.create({ name: 'by-payload', type: 'theirs', when, payload: { whose: 'acme' }, by: 'ann' })
    await schedules.create({ name: 'nobodys', type: 'other', when, payload: { email: 'bob' }, by: 'ann' })
    expect(await t.millrace.erase({ tenant: 'acme', ...by, dryRun: true })).toMatchObject({ schedules: 2 })
    expect(await schedules.list()).toHaveLength(4)
    expect(await t.millrace.erase({ tenant: 'acme', ...by })).toMatchObject({ schedules: 2 })
    expect((await schedules.list()).map(({ name }) => name)).toEqual(['beta', 'nobodys'])
    const removed = await t.sql(
      `select actor as by, target, details from millrace.audit_log where action = 'schedule.remove'`,
    )
    expect(removed).toEqual(
      ['acme', 'by-payload'].map((target) => ({ by: 'ann', target, details: { reason: 'asked to' } })),
    )
    const gone = await t.millrace.erase({ type: 'other', where: { email: canary }, ...by })
    expect(gone).toMatchObject({ schedules: 1 })
    expect((await schedules.list()).map(({ name }) => name)).toEqual(['nobodys'])
  })

  test('erases everything that its jobs carried, keeps the rows, and leaves other tenants alone', async () => {
    await using t = await office()
    const before = await rows(t, 'acme')
    const beta = await rows(t, 'beta')
    const progress: string[] = []
    const onProgress: EraseRequest['onProgress'] = ({ place }) => progress.push(place)
    const recorded = () => t.sql('select tenant from millrace.once_key order by tenant')
    expect(await recorded()).toEqual([{ tenant: 'acme' }, { tenant: 'beta' }])
    expect(await t.millrace.erase({ tenant: 'acme', ...by, onProgress })).toEqual({
      isDryRun: false,
      cancelled: 2,
      running: [],
      jobs: 5,
      deadLetters: 1,
      attempts: 2,
      schedules: 0,
    })
    expect(await recorded()).toEqual([{ tenant: 'beta' }])
    expect(progress).toEqual(['live', 'archive', 'deadLetters'])
    const after = await rows(t, 'acme')
    expect(after).toHaveLength(before.length)
    expect(JSON.stringify(after)).not.toContain('canary')
    expect(await rows(t, 'beta')).toEqual(beta)
    expect(await t.sql('select payload, result from millrace.job_archive where tenant = $1', ['acme'])).toEqual(
      Array.from({ length: 5 }, () => ({ payload: { erased: true }, result: null })),
    )
    const audit = await t.sql('select actor as by, action, tenant, details, * from millrace.audit_log')
    expect(audit).toContainEqual(
      expect.objectContaining({
        by: 'ann',
        action: 'job.erase',
        tenant: 'acme',
        details: expect.objectContaining({ reason: 'asked to', jobs: 2 }),
      }),
    )
    expect(JSON.stringify(audit)).not.toContain('canary')
  })

  test('goes on when it is repeated, and finds nothing when all is done', async () => {
    await using t = await office()
    const stop = new Error('cut off')
    const cutOff = ({ place }: { place: string }) => {
      if (place === 'live') throw stop
    }
    await expect(t.millrace.erase({ tenant: 'acme', ...by, onProgress: cutOff })).rejects.toThrow(stop)
    expect(await t.millrace.erase({ tenant: 'acme', ...by })).toMatchObject({ cancelled: 0, jobs: 3, deadLetters: 1 })
    expect(JSON.stringify(await rows(t, 'acme'))).not.toContain('canary')
    expect(await t.millrace.erase({ tenant: 'acme', ...by })).toMatchObject({
      cancelled: 0,
      jobs: 0,
      deadLetters: 0,
      attempts: 0,
    })
  })

  test('as a dry run only counts', async () => {
    await using t = await office()
    const before = await everyText(t)
    expect(await t.millrace.erase({ tenant: 'acme', ...by, dryRun: true })).toEqual({
      isDryRun: true,
      cancelled: 2,
      running: [],
      jobs: 3,
      deadLetters: 1,
      attempts: null,
      schedules: 0,
    })
    expect(await everyText(t)).toBe(before)
  })
})

test('by type and payload erases what contains it, and nothing else', async () => {
  await using t = await office()
  await t.millrace.enqueue(other, { email: 'bob@example.com' }, { delay: '1h' })
  expect(await t.millrace.erase({ type: 'other', where: { email: canary }, ...by })).toMatchObject({
    cancelled: 0,
    jobs: 4,
    deadLetters: 2,
  })
  expect(await t.sql('select payload from millrace.job where type = $1', ['other'])).toEqual([
    { payload: { email: 'bob@example.com' } },
  ])
  await t.millrace.erase({ type: 'mail', where: { email: canary }, ...by })
  expect(await everyText(t)).not.toContain('canary')
})

test('by ids asks running jobs to stop, names them, and erases them once they have ended', async () => {
  await using t = await graveyard()
  const [started, answered] = [signal(), signal()]
  const millrace = t.client([mail])
  await millrace.work({
    handlers: [
      implement(mail, async (_, { signal: abort }) => {
        started.resolve()
        await answered.promise
        if (!abort.aborted) await once(abort, 'abort')
        throw abort.reason
      }),
    ],
  })
  const { id } = await millrace.enqueue(mail, { email: canary })
  await started.promise
  const cancelled = jobEvent(millrace, 'job_cancelled', id)
  expect(await millrace.erase({ ids: [id, '999'], ...by })).toMatchObject({ cancelled: 0, running: [id], jobs: 0 })
  answered.resolve()
  await cancelled
  expect(await millrace.erase({ ids: [id], ...by })).toMatchObject({ running: [], jobs: 1 })
  expect(await everyText(t)).not.toContain('canary')
})

test('an erased dead letter is not redriven by mistake', async () => {
  await using t = await office()
  const [letter] = await t.millrace.deadLetters.list({ tenant: 'acme' })
  const id = letter?.id as string
  await t.millrace.erase({ tenant: 'acme', ...by })
  expect(await t.millrace.deadLetters.redrive(id, { by: 'ann' })).toMatchObject([
    { status: 'refused', reason: 'erased' },
  ])
  const payload = { email: 'new@example.com' }
  expect(await t.millrace.deadLetters.redrive(id, { by: 'ann', payload })).toMatchObject([{ status: 'redriven' }])
})

test.each<[string, object, RegExp]>([
  ['nothing', {}, /one of \{ tenant \}, \{ type, where \}, \{ createdBy \}, \{ path, equals \} and \{ ids \}/],
  ['two things', { tenant: 'a', ids: ['1'] }, /one of/],
  ['a payload without a type', { where: { a: 1 } }, /one of/],
  ['an empty payload', { type: 'mail', where: {} }, /an object that the payload contains/],
  ['a sensitive path', { type: 'secret', where: { email: canary } }, /sensitive path.*Erase by tenant/],
  ['a path without a value', { path: 'email' }, /one of/],
  ['no path', { path: 'a..b', equals: 1 }, /path is "a\.\.b"/],
  ['a cursor of another erasure', { tenant: 'a', cursor: 'workflows:0' }, /cursor is "workflows:0"/],
  ['a cursor of ids', { ids: ['1'], cursor: 'live:0' }, /An erasure by ids has none/],
  ['no id', { ids: ['x'] }, /ids has "x"/],
  ['nobody', { tenant: 'a', by: '' }, /`by` is missing/],
  ['no reason', { tenant: 'a', reason: '' }, /`reason` is missing/],
])('%s is refused', async (_, request, message) => {
  await using t = await graveyard()
  const millrace = t.client([mail, secret], { encryption: ringOf('a') })
  await expect(millrace.erase({ ...by, ...request } as never)).rejects.toThrow(message)
})

test('what is not sensitive of a sensitive type can be searched for', async () => {
  await using t = await graveyard()
  const millrace = t.client([secret], { encryption: ringOf('a') })
  await millrace.enqueueMany(secret, [
    { email: canary, room: 1 },
    { email: canary, room: 2 },
  ])
  expect(await millrace.erase({ type: 'secret', where: { room: 2 }, ...by })).toMatchObject({ cancelled: 1, jobs: 1 })
})
