// The handler of `cleanup-jobs`: what it forgets, and what it leaves.
import { fakeClock, jobInState } from 'millrace/testing'
import { expect, test } from 'vitest'
import { contracts, email, webhook } from '#src/contracts'
import { setup } from '../support/lipas.ts'

const DAY_MS = 86_400_000
const to = 'user@example.com'

test('completed jobs older than the given days are forgotten, and nothing else', async () => {
  const clock = fakeClock(new Date(Date.now() - 8 * DAY_MS))
  await using t = await setup({ clock })
  const { millrace } = t
  const old = await jobInState(millrace, 'completed', { contract: email, payload: { to } })
  const dead = await jobInState(millrace, 'dead', { contract: email, payload: { to } })
  const stopped = await jobInState(millrace, 'cancelled', { contract: email, payload: { to } })
  const failed = await jobInState(millrace, 'failed', { contract: webhook, payload: { 'lipas-ids': [123] } })
  const waiting = await jobInState(millrace, 'scheduled', { contract: email, payload: { to } })
  clock.moveTo(new Date())
  const young = await jobInState(millrace, 'completed', { contract: email, payload: { to } })
  await t.sql(
    `insert into lipas.webhook_delivery (job_id, objects, status, sent_at)
     values (1, 1, 202, now() - interval '8 days'), (2, 1, 202, now())`,
  )
  await t.sql(
    `insert into lipas.reminder (email, event_date, status, sent_at)
     values ('a@example.com', now() - interval '9 days', 'sent', now() - interval '8 days'),
       ('b@example.com', now() - interval '9 days', 'sent', now()),
       ('c@example.com', now() - interval '9 days', 'queued', null)`,
  )
  const run = await t.run('cleanup-jobs', { 'days-old': 7 })
  expect(run).toMatchObject({ outcome: 'completed', result: { jobs: 1, reminders: 1, deliveries: 1 } })
  const left = await t.sql<{ id: string }>('select id from millrace.jobs order by id')
  const kept = [dead, stopped, failed, waiting, young].map(({ id }) => id)
  expect(left.map(({ id }) => id)).toEqual([...kept, run.job.id].sort((a, b) => Number(a) - Number(b)))
  expect(left.map(({ id }) => id)).not.toContain(old.id)
  expect(await millrace.deadLetters.ofJob(dead.id)).toBeDefined()
  expect(await t.sql(`select count(*)::int from lipas.reminder where email like '_@example.com'`)).toEqual([
    { count: 2 },
  ])
})

test('the platform keeps every type that it cleans up for 90 days, so the job decides', () => {
  const kept = contracts.filter(({ type }) => type !== 'monitor-queue-health')
  expect(kept.map(({ retention }) => retention)).toEqual(kept.map(() => 'long'))
})
