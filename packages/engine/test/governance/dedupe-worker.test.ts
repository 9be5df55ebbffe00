import { defineJob, defineLimit, defineQueues, fixed, implement } from 'millrace'
import pg from 'pg'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { jobEvent, setup, signal } from '../support/setup.ts'

const { default: queue } = defineQueues({ default: {} })
const payload = z.object({ n: z.number() })

test('mode latest: a worker stops the run that is superseded, and runs the newest', async () => {
  await using t = await setup()
  const latest = defineJob({ type: 'latest', queue, payload, dedupe: { key: () => 'a', mode: 'latest' } })
  const handler = implement(latest, async ({ n }, { signal: aborted }) => {
    if (n === 1) await new Promise((_, reject) => aborted.addEventListener('abort', () => reject(aborted.reason)))
    return n
  })
  const { millrace } = await t.working([handler])
  const started = millrace.events.next('job_started', () => true)
  const first = await millrace.enqueue(latest, { n: 1 })
  await started
  const second = await millrace.enqueue(latest, { n: 2 })
  await jobEvent(millrace, 'job_cancelled', first.id)
  await jobEvent(millrace, 'job_completed', second.id)
  expect(await millrace.job(first.id)).toMatchObject({ status: 'cancelled', reason: 'superseded' })
  expect(await millrace.job(second.id)).toMatchObject({ status: 'completed', result: 2 })
})

test('mode latest: the worker of the superseded run is told at commit, and only then', async () => {
  await using t = await setup()
  const latest = defineJob({ type: 'latest', queue, payload, dedupe: { key: () => 'a', mode: 'latest' } })
  const millrace = t.client([latest], { notify: false })
  await millrace.enqueue(latest, { n: 1 })
  await t.sql(`update millrace.job set status = 'processing', started_at = now(),
    worker_id = '6f9619ff-8b86-4011-b42d-00c04fc964ff'`)
  const heard: string[] = []
  const done = signal()
  const listener = new pg.Client(t.url)
  await listener.connect()
  listener.on('notification', ({ payload: text }) => (text === 'end' ? done.resolve() : heard.push(text ?? '')))
  await listener.query('listen millrace_pulse')
  for (const end of ['rollback', 'commit']) {
    await listener.query('begin')
    await millrace.enqueue(latest, { n: 2 }, { tx: listener })
    await listener.query(end)
    await t.sql(`select pg_notify('millrace_pulse', '${end}')`)
  }
  await t.sql(`select pg_notify('millrace_pulse', 'end')`)
  await done.promise
  await listener.end()
  expect(heard).toEqual(['rollback', 'r:6f9619ff-8b86-4011-b42d-00c04fc964ff', 'commit'])
})

test('mode waiting: a governed queue frees the key when the job starts, too', async () => {
  await using t = await setup()
  const { governed } = defineQueues({ governed: { limits: [defineLimit('one', { running: 1 })] } })
  const waiting = defineJob({ type: 'waiting', queue: governed, payload, dedupe: { key: () => 'a', mode: 'waiting' } })
  const release = signal()
  const { millrace } = await t.working([
    implement(waiting, async ({ n }) => {
      if (n === 1) await release.promise
    }),
  ])
  const started = millrace.events.next('job_started', () => true)
  const first = await millrace.enqueue(waiting, { n: 1 })
  await started
  const second = await millrace.enqueue(waiting, { n: 2 })
  expect(second).toMatchObject({ status: 'queued' })
  expect(await millrace.enqueue(waiting, { n: 3 })).toEqual({ status: 'duplicate', id: second.id })
  release.resolve()
  await jobEvent(millrace, 'job_completed', first.id)
  await jobEvent(millrace, 'job_completed', second.id)
})

test('mode waiting: a run that fails while a newer one waits ends as superseded by itself', async () => {
  await using t = await setup()
  const retry = { backoff: fixed(100) }
  const waiting = defineJob({ type: 'waiting', queue, payload, retry, dedupe: { key: () => 'a', mode: 'waiting' } })
  const release = signal()
  const { millrace } = await t.working([
    implement(waiting, async ({ n }) => {
      if (n === 2) return n
      await release.promise
      throw new Error('too late')
    }),
  ])
  const started = millrace.events.next('job_started', () => true)
  const first = await millrace.enqueue(waiting, { n: 1 })
  await started
  const second = await millrace.enqueue(waiting, { n: 2 }, { delay: '1h' })
  release.resolve()
  await jobEvent(millrace, 'job_cancelled', first.id)
  expect(await millrace.job(first.id)).toMatchObject({
    status: 'cancelled',
    reason: 'superseded',
    lastError: 'too late',
  })
  expect(await millrace.attempts(first.id)).toHaveLength(1)
  await millrace.runNow(second.id, { by: 'ann' })
  await jobEvent(millrace, 'job_completed', second.id)
})
