import { readFile } from 'node:fs/promises'
import { defineBudget, defineJob, defineQueues, type Health, implement, type Millrace } from 'millrace'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { attentive, eventually, setup, signal } from '../support/setup.ts'

const queues = defineQueues({ mail: { sla: '1m' }, bulk: {} })
const payload = z.object({})
const budget = defineBudget('words', { limit: 100, per: 'month' })
const send = defineJob({ type: 'send', queue: queues.mail, payload, services: ['smtp'], budget })
const crunch = defineJob({ type: 'crunch', queue: queues.bulk, payload })

/** What a check says: its verdict and sentences. */
const saysOf = ({ findings }: Health, check: string): string[] =>
  findings.filter((finding) => finding.check === check).map(({ verdict, says }) => `${verdict}: ${says}`)
const says = async (millrace: Millrace, check: string): Promise<string[]> => saysOf(await millrace.health(), check)
const fine = [expect.stringMatching(/^ok: /)]

const runs = `
  insert into millrace.metric_minute
  select date_trunc('minute', now()), 'mail', 'send', outcome, runs, 1, '{1}', 1, '{1}', 1, $3 from (values ('completed', $1::int), ('failed', $2::int)) as given (outcome, runs)`

test('a platform at work is well, and says of every check what it looked at', async () => {
  await using t = await setup()
  const millrace = t.client([send, crunch])
  await millrace.work({ handlers: [implement(send, () => {}), implement(crunch, () => {})], lease: attentive })
  const health = await eventually(async () => {
    const read = await millrace.health()
    return read.verdict === 'ok' && read
  })
  expect(health).toMatchObject({ reasons: [], figures: { due: 0, processing: 0, failed: 0, dead: 0, breakers: [] } })
  expect(health.summary).toMatch(/^All is well, by \d+ checks\.$/)
  expect(health.findings.length).toBeGreaterThan(18)
  for (const { says: sentence, remedy } of health.findings) {
    expect(sentence).toMatch(/^[A-Z\d].*\.$/)
    expect(remedy).toBeNull()
  }
})

test('depth and age of a queue are noticed, and that a pause holds it', async () => {
  await using t = await setup()
  const millrace = t.client([send, crunch])
  await millrace.enqueueMany(crunch, new Array(501).fill({}))
  await millrace.pauses.pause({ queue: 'bulk' }, { by: 'ann', reason: 'the import' })
  expect(await says(millrace, 'queue_depth')).toEqual([
    'degraded: Queue "bulk" holds 501 jobs, and 501 of them could run now. The queue is paused by ann: the import.',
  ])
  await t.sql(
    `update millrace.job set run_at = now() - interval '2 hours' where id = (select min(id) from millrace.job)`,
  )
  const health = await millrace.health()
  expect(saysOf(health, 'queue_age')).toEqual([
    expect.stringMatching(/^degraded: The oldest due job of queue "bulk" has waited for 2 h/),
  ])
  expect(health.figures).toMatchObject({ due: 501 })
  expect(health.figures?.oldestDueMs).toBeGreaterThan(7_000_000)
  await t.sql('delete from millrace.job')
  expect(await says(millrace, 'queue_depth')).toEqual(fine)
  expect(await says(millrace, 'queue_age')).toEqual(['ok: No job is due.'])
})

test('jobs that wait without a worker are failing: when there is none, and when none serves their queue', async () => {
  await using t = await setup()
  const millrace = t.client([send, crunch])
  expect(await says(millrace, 'workers')).toEqual(['degraded: No worker runs.'])
  await millrace.enqueue(crunch, {})
  await t.sql(`update millrace.job set run_at = now() - interval '5 minutes'`)
  expect(await says(millrace, 'workers')).toEqual(['failing: No worker runs, and 1 job could run now.'])
  const worker = await millrace.work({ handlers: [implement(send, () => {})], lease: attentive })
  await eventually(async () => (await millrace.vitals()).lanes.length > 0)
  const health = await millrace.health()
  expect(saysOf(health, 'workers')).toEqual(fine)
  expect(health.verdict).toBe('failing')
  expect(saysOf(health, 'queue_unserved')).toEqual([
    expect.stringMatching(
      /^failing: 1 job of queue "bulk" could run, for up to 5 min.*, and no worker serves that queue\.$/,
    ),
  ])
  // Jobs of Millrace itself need no lane.
  await t.sql(`update millrace.job set queue = 'millrace'`)
  expect(await says(millrace, 'queue_unserved')).toEqual(fine)
  await t.sql(`update millrace.job set queue = 'bulk'`)
  await millrace.pauses.pause({ queue: 'bulk' }, { by: 'ann', reason: 'nobody there' })
  expect(await says(millrace, 'queue_unserved')).toEqual(fine)
  await worker.stop()
})

test('an SLA is judged by P95 from due to the end of the first attempt', async () => {
  await using t = await setup()
  const millrace = t.client([send])
  expect(await says(millrace, 'queue_sla')).toEqual(['ok: 1 queue keeps its SLA.'])
  // The last bucket ends at 2^17 ms: 131 s.
  await t.sql(runs, [5, 0, `{${new Array(34).fill(0).join()},5}`])
  expect(await says(millrace, 'queue_sla')).toEqual([
    expect.stringMatching(
      /^degraded: P95 from due to the end of the first attempt is 2 min.* in queue "mail"; its SLA is 1 min\.$/,
    ),
  ])
  await t.sql('delete from millrace.metric_minute')
  expect(await says(millrace, 'queue_sla')).toEqual(fine)
})

test('error rates are noticed by type, and are failing when half of all runs fail', async () => {
  await using t = await setup()
  const millrace = t.client([send])
  await t.sql(runs, [9, 1, '{1}'])
  expect(await says(millrace, 'error_rate')).toEqual(fine)
  await t.sql('delete from millrace.metric_minute')
  await t.sql(runs, [8, 2, '{1}'])
  expect(await says(millrace, 'error_rate')).toEqual([
    'degraded: 2 runs of 10 of type "send" failed in the last hour: 20 %.',
  ])
  await t.sql('delete from millrace.metric_minute')
  await t.sql(runs, [10, 10, '{1}'])
  expect((await says(millrace, 'error_rate'))[0]).toBe('failing: 10 of 20 runs of the last five minutes failed: 50 %.')
  await t.sql('delete from millrace.metric_minute')
  expect(await says(millrace, 'error_rate')).toEqual(fine)
})

test('stuck runs and many dead letters are noticed', async () => {
  await using t = await setup()
  const millrace = t.client([crunch])
  const { id } = await millrace.enqueue(crunch, {})
  await t.sql(
    `update millrace.job set status = 'processing', started_at = now() - interval '1 hour', deadline_at = now() - interval '1 minute'`,
  )
  const health = await millrace.health()
  expect(saysOf(health, 'stuck_runs')).toEqual([
    `degraded: A run of job ${id} of type "crunch" went on beyond twice its timeout.`,
  ])
  expect(health.figures?.longestRunMs).toBeGreaterThan(3_500_000)
  await t.sql('delete from millrace.job')
  expect(await says(millrace, 'stuck_runs')).toEqual(fine)
  await t.sql(`
    insert into millrace.dead_letter_jobs (job_id, type, queue, correlation_id, reason, attempts, original_job, error_message, died_at)
    select n, 'crunch', 'bulk', 'c', 'exhausted', 1, '{}', 'no', now() from generate_series(1, 50) as n`)
  expect(await says(millrace, 'dead_letters')).toEqual(['degraded: 50 dead letters wait for a decision.'])
  await t.sql(`update millrace.dead_letter_jobs set status = 'resolved' where job_id = 1`)
  expect(await says(millrace, 'dead_letters')).toEqual(['ok: 49 dead letters wait for a decision.'])
})

test('a worker whose heartbeats stay away, and one that died, are noticed', async () => {
  await using t = await setup()
  const release = signal()
  const { millrace } = await t.working([implement(crunch, () => release.promise)], { lease: {} })
  expect(await says(millrace, 'leases')).toEqual(fine)
  await t.sql(
    `update millrace.worker set heartbeat_at = now() - interval '30 seconds', expires_at = now() + interval '15 seconds'`,
  )
  expect(await says(millrace, 'leases')).toEqual([
    expect.stringMatching(/^degraded: The worker with pid \d+ on host .+ has sent no heartbeat for 30 s\.$/),
  ])
  await t.sql(`update millrace.worker set heartbeat_at = now()`)
  expect(await says(millrace, 'leases')).toEqual(fine)
  await t.sql(`
    insert into millrace.worker (id, host, pid, version, lanes, started_at, heartbeat_at, expires_at, ended_at, ended_reason)
    values (gen_random_uuid(), 'pod-7', 4711, '1', '{}', now(), now(), now(), now(), 'lease expired')`)
  expect(await says(millrace, 'leases')).toEqual([
    'degraded: A worker with pid 4711 on host pod-7 died in the last ten minutes: lease expired.',
  ])
  release.resolve()
})

test('memory, event loop and notifications are judged by what workers report', async () => {
  await using t = await setup()
  const millrace = t.client([crunch])
  await t.sql(`
    insert into millrace.worker (id, host, pid, version, lanes, started_at, heartbeat_at, expires_at, report)
    values (gen_random_uuid(), 'pod-7', 4711, '1', '{"bulk": 1}', now(), now(), now() + interval '1 minute',
      '{"state": "working", "lanes": [], "running": 0, "runs": [], "suspectJobId": null, "permits": [], "ageMs": 0}')`)
  const report = (change: string) => t.sql(`update millrace.worker set report = report || $1`, [change])
  await report('{"memory": {"percent": 91, "isHigh": true}, "loopLagMs": 1800, "isListening": false}')
  const health = await millrace.health()
  expect(saysOf(health, 'memory')[0]).toMatch(/^degraded: The worker with pid .* uses 91 % of its memory/)
  expect(saysOf(health, 'event_loop')[0]).toMatch(/^degraded: The event loop of the worker with pid .* was 1 s late/)
  expect(saysOf(health, 'listen')[0]).toMatch(/^degraded: Notifications do not reach the worker with pid .*\. It polls/)
  expect(health.figures?.memoryRatio).toBe(0.91)
  await report('{"memory": {"percent": 20, "isHigh": false}, "loopLagMs": 3, "isListening": true}')
  const after = await millrace.health()
  for (const check of ['memory', 'event_loop', 'listen']) expect(saysOf(after, check)).toEqual(fine)
})

test('an open breaker and a budget that is used up are noticed', async () => {
  await using t = await setup()
  const millrace = t.client([send, crunch])
  await millrace.work({ handlers: [implement(send, () => {})] })
  await millrace.breakers.trip('smtp', { by: 'ann' })
  await millrace.budgets.adjust('words', { by: 'ann', limit: 0 })
  const health = await millrace.health()
  expect(saysOf(health, 'breakers')).toEqual([
    'degraded: The breaker of service "smtp" is open. It holds jobs of queue "mail".',
  ])
  expect(health.figures?.breakers).toEqual([{ service: 'smtp', state: 'open' }])
  expect(saysOf(health, 'budgets')).toEqual([
    expect.stringMatching(/^degraded: Budget "words" is used up in \d{4}-\d\d: 0 of 0/),
  ])
  await millrace.breakers.reset('smtp', { by: 'ann' })
  await millrace.budgets.adjust('words', { by: 'ann', limit: 100 })
  expect(await says(millrace, 'breakers')).toEqual(fine)
  expect(await says(millrace, 'budgets')).toEqual(fine)
})

test('docs/operations.md has an entry for each check', async () => {
  await using t = await setup()
  const page = await readFile(new URL('../../../../docs/operations.md', import.meta.url), 'utf8')
  const { findings } = await t.client([]).health()
  const names = new Set(findings.map(({ check }) => check))
  expect([...names].filter((name) => !page.includes(`| \`${name}\` |`))).toEqual([])
})
