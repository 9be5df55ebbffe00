import { defineJob, defineQueues } from 'millrace'
import pg from 'pg'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { setup as base } from './support/setup.ts'

const queues = defineQueues({ mail: {} })
const send = defineJob({ type: 'mail.send', queue: queues.mail, payload: z.object({}) })

test('stats are printed by type and by tenant, and a pause is shown wherever a queue or job is', async () => {
  await using t = await base({ jobs: [send] })
  expect((await t.run('stats')).out).toBe('Nothing waits and nothing runs, and no worker has declared a queue.\n')
  const { id } = await t.millrace.enqueue(send, {}, { tenant: 'acme' })
  await t.millrace.pauses.pause({ queue: 'mail' }, { by: 'ann', reason: 'no toner' })
  const { out } = await t.run('stats')
  expect(out).toMatch(/^QUEUE +TYPE +WAITING +DUE +OLDEST +RUNNING +FAILED +DEAD +ENDED +PAUSED\n/)
  expect(out).toMatch(/^mail +mail\.send +1 +1 +(now|\d+s ago) +0 +0 +0 +0 +by ann: no toner$/m)
  expect(out).toMatch(/^mail +acme +1 +(now|\d+s ago) +0 +by ann: no toner$/m)
  const json = JSON.parse((await t.run('stats', '--json')).out)
  expect(json).toMatchObject({
    types: [{ queue: 'mail', due: 1, pauses: [{ by: 'ann' }] }],
    tenants: [{ tenant: 'acme' }],
  })
  expect((await t.run('queues')).out).toMatch(/^mail +1 +0 +0 +0 +by ann: no toner$/m)
  expect((await t.run('jobs')).out).toMatch(/ by ann: no toner$/m)
  expect((await t.run('job', id)).out).toMatch(/^Paused +by ann: no toner$/m)
  expect(JSON.parse((await t.run('jobs', '--json')).out)).toMatchObject([{ id, pauses: [{ reason: 'no toner' }] }])
  expect((await t.run('explain', id)).out).toMatch(/Paused by ann since .*: no toner/)
})

test('what became of runs is told by type and step by step, with dead letters by the hour', async () => {
  await using t = await base({ jobs: [send] })
  const client = new pg.Client(t.env.DATABASE_URL)
  await client.connect()
  await client.query(`
    insert into millrace.metric_minute
    values (date_trunc('minute', now()), 'mail', 'mail.send', 'completed', 3, 30, '{0,0,0,3}', 6, '{0,3}', 36, '{0,0,0,3}'),
      (date_trunc('minute', now()), 'mail', 'mail.send', 'dead', 1, 30, '{0,0,0,1}', 6, '{0,1}', 36, '{0,0,0,1}')`)
  await client.query(`
    insert into millrace.dead_letter_jobs (job_id, type, queue, correlation_id, reason, attempts, original_job, error_message, died_at)
    values (1, 'mail.send', 'mail', 'c', 'exhausted', 1, '{}', 'no', now())`)
  await client.end()
  const { out } = await t.run('stats', '--since', '24h')
  expect(out).toMatch(/^QUEUE +TYPE +RUNS +COMPLETED +CANCELLED +FAILED +RATE +P50 +P95 +P99 +WAIT P95 +LATENCY P95\n/)
  expect(out).toMatch(/^mail +mail\.send +4 +3 +0 +1 +25\.0 % +2 ms +3 ms +3 ms +1 ms +3 ms$/m)
  expect(out).toMatch(/^all +4 +3 /m)
  const hours = (await t.run('stats', '--since', '2h', '--by', 'hour')).out
  expect(hours).toMatch(/^FROM \(UTC\) .* BORN +DECIDED +DEAD$/m)
  expect(hours).toMatch(/^\d{4}-\d\d-\d\d \d\d:00 +4 +3 .* 1 +0 +1$/m)
  expect((await t.run('stats', '--since', '1h', '--by', 'minute', '--queue', 'other')).out).toBe(
    'No run ended in that time.\n',
  )
  const json = JSON.parse((await t.run('stats', '--since', '1h', '--by', 'hour', '--json')).out)
  expect(json).toMatchObject({ step: 'hour', deadLetters: { growth: 1 } })
  expect((await t.run('stats', '--by', 'hour')).err).toMatch(/need --since/)
})
