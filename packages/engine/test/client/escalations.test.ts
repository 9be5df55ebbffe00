import {
  defineBudget,
  defineJob,
  defineQueues,
  discard,
  fixed,
  implement,
  type JobContract,
  Unrecoverable,
} from 'millrace'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { jobEvent, type Setup, setup } from '../support/setup.ts'

const queues = defineQueues({
  loud: { escalation: { to: '#ops-alerts', respondWithin: '4h' } },
  quiet: {},
  // As a deliverer declares it, without an escalation of its own.
  'millrace.escalation': {},
})

const job = (type: string, options: Partial<Parameters<typeof defineJob>[0]> = {}) =>
  defineJob({
    ...{ type, queue: queues.loud, payload: z.object({ how: z.string() }), retry: { attempts: 1, backoff: fixed(0) } },
    ...options,
  } as never) as JobContract

const deliver = defineJob({
  type: 'millrace.escalation.deliver',
  queue: queues['millrace.escalation'],
  payload: z.unknown(),
})

interface Row {
  kind: string
  key: string
  queue: string
  reason: string
}

const outbox = (t: Setup) =>
  t.sql<Row>(`select kind, key, queue, details ->> 'reason' as reason from millrace.escalation order by id`)

const fail = async (payload: unknown) => {
  const { how } = payload as { how: string }
  if (how === 'discard') return discard('not worth it')
  if (how === 'unrecoverable') throw new Unrecoverable('hopeless')
  throw new Error(`failed: ${how}`)
}

test('a death is in the outbox if its queue declares an escalation, whatever it died of', async () => {
  await using t = await setup()
  const loud = job('loud')
  const quiet = job('quiet', { queue: queues.quiet })
  const patient = job('patient', { retry: { attempts: 9, giveUpAfter: '1ms', backoff: fixed('1h') } })
  const droppable = job('droppable', { retry: { attempts: 1, onExhausted: 'drop' } })
  const { millrace } = await t.working([loud, quiet, patient, droppable].map((each) => implement(each, fail)))
  for (const [contract, how] of [
    [loud, 'exhausted'],
    [loud, 'discard'],
    [loud, 'unrecoverable'],
    [patient, 'gave up'],
    [quiet, 'nobody hears'],
    [droppable, 'may be dropped'],
  ] as const) {
    const { id } = await millrace.enqueue(contract, { how })
    await jobEvent(millrace, 'job_died', id)
  }
  const rows = await outbox(t)
  expect(rows.map(({ reason }) => reason)).toEqual(['exhausted', 'discarded', 'unrecoverable', 'gave_up'])
  expect(new Set(rows.map(({ queue }) => queue))).toEqual(new Set(['loud']))
  expect(rows[0]?.key).toMatch(/^dead\/loud\/loud\/\w+/)
  const [newest] = await millrace.escalations.list()
  expect(newest).toMatchObject({ policy: { to: '#ops-alerts', respondWithin: '4h' }, channel: null, isOverdue: false })
})

test('a job that was failed by hand is escalated by a client that knows no contract', async () => {
  await using t = await setup()
  const loud = job('loud')
  const { millrace } = await t.working([implement(loud, async () => 'done')])
  const { id } = await millrace.enqueue(loud, { how: 'later' }, { delay: '1h' })
  const stranger = t.client([])
  expect(await stranger.fail(id, { by: 'ann', reason: 'wrong input', final: true })).toMatchObject({ status: 'dead' })
  expect(await outbox(t)).toMatchObject([{ kind: 'dead_job', reason: 'discarded' }])
})

test('a stuck run and a crash loop are escalated by whoever rescues them', async () => {
  await using t = await setup()
  const loud = job('loud')
  await t.working([implement(loud, fail)])
  const workers = await t.sql<{ id: string }>(
    `insert into millrace.worker (id, host, pid, version, lanes, started_at, heartbeat_at, expires_at, ended_at, ended_reason)
     select gen_random_uuid(), 'far', 1, version, lanes, now(), now(), now() + interval '1 hour', ended, reason
     from millrace.worker, (values (now(), 'killed'), (null, null)) as other (ended, reason) returning id`,
  )
  await t.sql(
    `insert into millrace.job (status, type, queue, priority, attempt, max_attempts, crashes, run_at, created_at, updated_at, run_id, worker_id,
       started_at, deadline_at, payload)
     select 'processing', 'loud', 'loud', 5, 1, 5, crashes, now(), now(), now(), gen_random_uuid(), worker, now(), deadline, '{}'
     from (values (2, $1::uuid, now() + interval '1 hour'), (0, $2::uuid, now() - interval '1 hour')) as run (crashes, worker, deadline)`,
    workers.map(({ id }) => id),
  )
  await expect.poll(async () => (await outbox(t)).map(({ reason }) => reason).sort()).toEqual(['crash_loop', 'stuck'])
})

test('a job that its spent budget cancels is in the outbox, and so are the thresholds', async () => {
  await using t = await setup()
  const budget = defineBudget('ai', { limit: 100, per: 'month', unit: 'cents' })
  const tagging = job('tagging', { budget })
  const { millrace } = await t.working([
    implement(tagging, async (_, ctx) => {
      await ctx.budget.spend(100)
    }),
  ])
  const first = await millrace.enqueue(tagging, { how: 'spend' })
  await jobEvent(millrace, 'job_completed', first.id)
  const second = await millrace.enqueue(tagging, { how: 'spend' })
  await jobEvent(millrace, 'job_cancelled', second.id)
  const rows = await millrace.escalations.list()
  expect(rows.map(({ kind, severity }) => `${kind} ${severity}`)).toEqual([
    'budget_stop warning',
    'budget_threshold critical',
    'budget_threshold warning',
    'budget_threshold notice',
    'budget_threshold info',
  ])
  expect(rows[0]).toMatchObject({ jobId: second.id, type: 'tagging', details: { budget: 'ai' } })
  await millrace.budgets.adjust('ai', { limit: 120, by: 'ann' })
  const open = await millrace.escalations.list({ state: 'open' })
  expect(open.map(({ details }) => details.threshold).filter(Boolean)).toEqual([80, 75])
})

test('a fault is written once while it is open, for each policy of its queues, and in the transaction of the caller', async () => {
  await using t = await setup()
  const loud = job('loud')
  const { millrace } = await t.working([implement(loud, fail)])
  const fault = {
    key: 'breaker/mail',
    severity: 'warning',
    summary: 'The breaker is open.',
    queues: ['loud', 'quiet'],
  } as const
  expect(await millrace.escalations.escalate({ ...fault, queues: ['quiet'] })).toBe(false)
  const client = await t.pool.connect()
  await client.query('begin')
  expect(await millrace.escalations.escalate(fault, { tx: client })).toBe(true)
  await client.query('rollback')
  client.release()
  expect(await millrace.escalations.list()).toEqual([])
  expect(await millrace.escalations.escalate(fault)).toBe(true)
  expect(await millrace.escalations.escalate(fault)).toBe(false)
  expect(await millrace.escalations.resolve(fault.key)).toBe(true)
  expect(await millrace.escalations.resolve(fault.key)).toBe(false)
  expect(await millrace.escalations.escalate(fault)).toBe(true)
  expect(await millrace.escalations.list()).toMatchObject([{ resolvedAt: null }, { resolvedAt: expect.any(Date) }])
})

test('with a deliverer a fault needs no policy, and one about the delivery itself is not escalated', async () => {
  await using t = await setup()
  const { millrace } = await t.working([implement(deliver, async () => {})])
  expect(
    await millrace.escalations.escalate({ key: 'worker/1', severity: 'critical', summary: 'A worker died.' }),
  ).toBe(true)
  const own = { key: 'dlq/x', severity: 'warning', summary: 'Dead letters.', queues: ['millrace.escalation'] } as const
  expect(await millrace.escalations.escalate(own)).toBe(false)
  expect(await millrace.escalations.standing()).toMatchObject({
    unsent: 1,
    undeliverable: 0,
    overdue: 0,
    deliverers: 1,
  })
})

test('acknowledging one escalation acknowledges all that are open under its key', async () => {
  await using t = await setup()
  const loud = job('loud')
  const { millrace } = await t.working([implement(loud, fail)])
  for (let i = 0; i < 2; i++) {
    const { id } = await millrace.enqueue(loud, { how: 'same' })
    await jobEvent(millrace, 'job_died', id)
  }
  const [second, first] = await millrace.escalations.list()
  const ids = [first?.id, second?.id, '999999'] as string[]
  expect(await millrace.escalations.acknowledge(ids[0] as string, { by: 'ann' })).toEqual([
    { status: 'acknowledged', id: ids[0] },
  ])
  expect((await millrace.escalations.acknowledge(ids, { by: 'bob' })).map(({ status }) => status)).toEqual([
    'already_acknowledged',
    'already_acknowledged',
    'not_found',
  ])
  expect(await millrace.escalations.get(ids[1] as string)).toMatchObject({ acknowledgedBy: 'ann' })
  expect(await millrace.escalations.resend(ids, { by: 'ann' })).toHaveLength(2)
  const audit = await millrace.audit.list()
  expect(audit.map(({ action }) => action)).toEqual([
    'escalation.resend',
    'escalation.resend',
    'escalation.acknowledge',
    'escalation.acknowledge',
  ])
})
