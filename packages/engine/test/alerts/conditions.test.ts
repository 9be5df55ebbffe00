// Every built-in alert fires and clears, through real rows and the real reading.
import { defineBudget, defineJob, defineQueues } from 'millrace'
import { fakeClock } from 'millrace/testing'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { BUILT_IN } from '#src/alerts/conditions'
import { alerting } from '../support/alerts.ts'

const owner = { name: 'Mail team', channel: 'slack', address: '#mail' }
const queues = defineQueues({ mail: { sla: '30s', owner, tenantJobs: { max: 2 } } })
const payload = z.object({ n: z.number() })
const budget = defineBudget('words', { limit: 200, per: 'month' })
const send = defineJob({ type: 'send', queue: queues.mail, payload, services: ['smtp'], budget })

type Alerting = Awaited<ReturnType<typeof setup>>

async function setup() {
  const clock = fakeClock(new Date())
  return { ...(await alerting([send], {}, { clock })), clock }
}

/** Jobs as they stand in the table. */
const jobs = (t: Alerting, count: number, agoS = 0) =>
  t.sql(
    `insert into millrace.job (type, queue, priority, max_attempts, run_at, created_at, updated_at, payload)
     select 'send', 'mail', 5, 5, $2::timestamptz - make_interval(secs => $3), now(), now(), '{}' from generate_series(1, $1)`,
    [count, t.clock.now(), agoS],
  )

const noJobs = (t: Alerting) => t.sql('delete from millrace.job')

/** Runs of the minute before now; `latencies`: a histogram. */
const runs = (t: Alerting, outcome: string, count: number, latencies = '{}') =>
  t.sql(
    `insert into millrace.metric_minute (minute, queue, type, outcome, runs, duration_ms, durations, wait_ms, waits, latencies)
     values (date_trunc('minute', $1::timestamptz - interval '1 minute'), 'mail', 'send', $2, $3, 1, '{1}', 1, '{1}', $4)`,
    [t.clock.now(), outcome, count, latencies],
  )

const worker = (t: Alerting, report: object) =>
  t.sql(
    `insert into millrace.worker (id, host, pid, version, lanes, started_at, heartbeat_at, expires_at, report)
     values (gen_random_uuid(), 'web-1', 411, '1', '{"fast": 10}', now(), now(), now() + interval '1 hour', $1)`,
    [JSON.stringify({ state: 'working', lanes: [], running: 0, runs: [], memory: { percent: 10 }, ...report })],
  )

const spend = (t: Alerting, spent: number) =>
  t.sql(
    `with declared as (
       insert into millrace.budget (name, per, unit, time_zone, declared_limit, has_source, declared_at)
       values ('words', 'month', 'units', 'UTC', 200, false, now()) on conflict do nothing
     )
     insert into millrace.budget_period (budget, period, spent, updated_at)
     values ('words', to_char($1::timestamptz at time zone 'UTC', 'YYYY-MM'), $2, now())
     on conflict (budget, period) do update set spent = excluded.spent`,
    [t.clock.now(), spent],
  )

interface Case {
  /** Below the threshold, and nothing fires. */
  below?(t: Alerting): Promise<unknown>
  fire(t: Alerting): Promise<unknown>
  /** How long it has to hold; one second less is too short. */
  forS?: number
  subject: string
  why: RegExp
  /** Better, and not good enough: it goes on. */
  linger?(t: Alerting): Promise<unknown>
  clear(t: Alerting): Promise<unknown>
  queues?: string[]
}

const letters = (t: Alerting, count: number) =>
  t.sql(
    `insert into millrace.dead_letter_jobs (job_id, type, queue, correlation_id, reason, attempts, original_job, error_message, died_at)
     select n, 'send', 'mail', 'c', 'exhausted', 1, '{}', 'm', $2 from generate_series(1, $1) as n`,
    [count, t.clock.now()],
  )

const noLetters = (t: Alerting) =>
  t.sql(`update millrace.dead_letter_jobs set status = 'resolved', acknowledged_at = now()`)

const fewer = (t: Alerting, left: number) =>
  t.sql('delete from millrace.job where id not in (select id from millrace.job limit $1)', [left])

const fast = (running: number) => ({ lanes: [{ name: 'fast', slots: 10, running, buffered: 0, queues: ['mail'] }] })

const budgetCase = (below: number, at: number, cleared: number): Case => ({
  below: (t) => spend(t, below),
  fire: (t) => spend(t, at),
  subject: 'words',
  why: new RegExp(
    `^Budget "words" has used ${at / 2} % of its limit in \\d{4}-\\d{2}: ${at} of 200 units are spent\\.$`,
  ),
  clear: (t) => spend(t, cleared),
})

const cases: Record<string, Case> = {
  queue_depth: {
    below: (t) => jobs(t, 1_000, -600),
    fire: (t) => jobs(t, 1, -600),
    forS: 900,
    subject: 'mail',
    why: /^Queue "mail" holds 1001 jobs, and \d+ of them could run now\.$/,
    linger: (t) => fewer(t, 901),
    clear: (t) => fewer(t, 900),
    queues: ['mail'],
  },
  queue_pending: {
    below: (t) => jobs(t, 500),
    fire: (t) => jobs(t, 1),
    forS: 300,
    subject: 'mail',
    why: /^501 due jobs wait in queue "mail"\.$/,
    linger: (t) => fewer(t, 451),
    clear: (t) => fewer(t, 450),
    queues: ['mail'],
  },
  oldest_due: {
    below: (t) => jobs(t, 1, 3_599),
    fire: (t) => jobs(t, 1, 3_700),
    subject: 'mail',
    why: /^The oldest due job of queue "mail" has waited for 1 h 1 min\.$/,
    clear: noJobs,
    queues: ['mail'],
  },
  queue_sla: {
    // Bucket 29 ends at 23 s, bucket 32 at 66 s.
    below: (t) => runs(t, 'completed', 10, `{${'0,'.repeat(29)}10}`),
    fire: (t) => runs(t, 'failed', 90, `{${'0,'.repeat(32)}90}`),
    forS: 60,
    subject: 'mail',
    why: /^P95 is 1 min \d+ s in queue "mail"; its SLA is 30 s\.$/,
    clear: (t) => t.sql(`delete from millrace.metric_minute where outcome = 'failed'`),
    queues: ['mail'],
  },
  error_rate: {
    below: (t) => runs(t, 'completed', 18),
    fire: (t) => runs(t, 'failed', 3),
    subject: 'send',
    why: /^3 runs of 21 of type "send" failed in the last hour: 14\.3 %\.$/,
    linger: (t) => t.sql(`update millrace.metric_minute set runs = 30 where outcome = 'completed'`),
    clear: (t) => t.sql(`update millrace.metric_minute set runs = 60 where outcome = 'completed'`),
    queues: ['mail'],
  },
  dead_letters: {
    below: (t) => letters(t, 49),
    fire: (t) => letters(t, 1),
    subject: 'all',
    why: /^50 dead letters wait for a decision\.$/,
    clear: noLetters,
  },
  dead_letters_growing: {
    below: (t) => letters(t, 20),
    fire: (t) => letters(t, 1),
    subject: 'all',
    why: /^21 dead letters came in the last hour/,
    clear: async (t) => t.clock.advance('2h'),
  },
  job_stuck: {
    async fire(t) {
      const { id } = await t.millrace.enqueue(send, { n: 1 })
      const late = new Date(t.clock.now().getTime() - 1_000)
      await t.sql(`update millrace.job set status = 'processing', deadline_at = $2 where id = $1`, [id, late])
    },
    subject: 'send',
    why: /^1 run of type "send" went on beyond twice the timeout: job \d+ still runs\.$/,
    linger: async (t) => {
      const [row] = await t.sql<{ id: string }>('select id from millrace.job')
      await t.kill([row?.id as string], { reason: 'stuck', at: t.clock.now() })
    },
    clear: async (t) => t.clock.advance('11m'),
    queues: ['mail'],
  },
  worker_died: {
    fire: async (t) => {
      await worker(t, {})
      await t.sql(`update millrace.worker set ended_at = now(), ended_reason = 'lease expired'`)
    },
    subject: 'web-1',
    why: /^1 worker died on host web-1: pid 411 \(lease expired\)\.$/,
    clear: (t) => t.sql(`update millrace.worker set ended_at = now() - interval '11 minutes'`),
  },
  worker_memory: {
    below: (t) => worker(t, { memory: { percent: 85 } }),
    fire: (t) => t.sql(`update millrace.worker set report = jsonb_set(report, '{memory,percent}', '85.5')`),
    subject: 'worker ',
    why: /^The worker with pid 411 on host web-1 uses 85\.5 % of its memory\.$/,
    linger: (t) => t.sql(`update millrace.worker set report = jsonb_set(report, '{memory,percent}', '81')`),
    clear: (t) => t.sql(`update millrace.worker set report = jsonb_set(report, '{memory,percent}', '80')`),
  },
  lane_busy: {
    below: (t) => worker(t, fast(9)),
    fire: (t) => t.sql(`update millrace.worker set report = report || $1::jsonb`, [JSON.stringify(fast(10))]),
    forS: 120,
    subject: 'fast',
    why: /^Lane "fast" uses 10 of 10 slots: 100 %\.$/,
    linger: (t) => t.sql(`update millrace.worker set report = report || $1::jsonb`, [JSON.stringify(fast(9))]),
    clear: (t) => t.sql(`update millrace.worker set report = report || $1::jsonb`, [JSON.stringify(fast(8))]),
    queues: ['mail'],
  },
  breaker_open: {
    fire: (t) => t.millrace.breakers.trip('smtp', { by: 'ann', for: '1m' }),
    subject: 'smtp',
    why: /^The breaker of service "smtp" is open\. It holds jobs of queue "mail"\.$/,
    linger: (t) => t.sql(`update millrace.circuit_breakers set state = 'half_open', half_opened_at = now()`),
    clear: (t) => t.millrace.breakers.reset('smtp', { by: 'ann' }),
    queues: ['mail'],
  },
  breaker_open_long: {
    fire: (t) => t.millrace.breakers.trip('smtp', { by: 'ann' }),
    forS: 600,
    subject: 'smtp',
    why: /^The breaker of service "smtp" is open\./,
    linger: (t) => t.sql(`update millrace.circuit_breakers set state = 'half_open', half_opened_at = now()`),
    clear: (t) => t.millrace.breakers.reset('smtp', { by: 'ann' }),
    queues: ['mail'],
  },
  tenant_at_limit: {
    below: (t) => t.millrace.enqueue(send, { n: 1 }, { tenant: 'acme' }),
    fire: (t) => t.millrace.enqueue(send, { n: 2 }, { tenant: 'acme' }),
    subject: 'acme in mail',
    why: /^Tenant "acme" has 2 jobs in queue "mail"; its limit is 2\.$/,
    clear: noJobs,
    queues: ['mail'],
  },
  budget_75: budgetCase(149, 150, 148),
  budget_80: budgetCase(158, 160, 158),
  budget_90: budgetCase(178, 180, 178),
  budget_100: budgetCase(198, 200, 0),
}

test('every built-in alert has a case here', () => {
  expect(Object.keys(cases)).toEqual(BUILT_IN.map(({ name }) => name))
})

describe.each(Object.entries(cases))(
  '%s',
  (name, { below, fire, forS = 0, subject, why, linger, clear, queues: held }) => {
    test('fires and clears', async () => {
      await using t = await setup()
      const rule = BUILT_IN.find((each) => each.name === name)
      const isFiring = async () => (await t.firing()).some((each) => each.startsWith(`${name} ${subject}`))
      await below?.(t)
      await t.evaluate()
      t.clock.advance(forS * 1_000)
      await t.evaluate()
      expect(await isFiring(), 'below its threshold').toBe(false)

      if (below !== undefined && forS > 0) t.clock.advance('1s')
      await fire(t)
      await t.evaluate()
      if (forS > 0) {
        expect(await isFiring(), 'at once').toBe(false)
        t.clock.advance((forS - 1) * 1_000)
        await t.evaluate()
        expect(await isFiring(), 'too early').toBe(false)
        t.clock.advance('1s')
        await t.evaluate()
      }
      const [alert] = (await t.millrace.alerts.list()).filter((each) => each.name === name)
      expect(alert).toMatchObject({
        state: 'firing',
        severity: rule?.severity,
        summary: rule?.summary,
        queues: held ?? [],
      })
      expect(alert?.why).toMatch(why)
      expect(alert?.owner).toEqual(held?.includes('mail') ? owner : null)

      await linger?.(t)
      await t.evaluate()
      expect(await isFiring(), 'a little better').toBe(true)
      await clear(t)
      await t.evaluate()
      expect(await isFiring(), 'well again').toBe(false)
      const past = await t.millrace.alerts.list({ states: ['cleared'] })
      expect(past.map((each) => each.name)).toContain(name)
      expect(t.errors).toEqual([])
    })
  },
)

test('a queue at a standstill breaks its SLA, though nothing ends in it', async () => {
  await using t = await setup()
  await jobs(t, 1, 31)
  await t.evaluate()
  t.clock.advance('1m')
  await t.evaluate()
  const [alert] = await t.millrace.alerts.list()
  expect(alert).toMatchObject({ name: 'queue_sla', owner })
  expect(alert?.why).toMatch(
    /^No job has ended in 5 minutes, and the oldest has been due for 1 min 31 s in queue "mail"/,
  )
})

test('error rates of types that hardly run fire nothing', async () => {
  await using t = await setup()
  await runs(t, 'failed', 9)
  await t.evaluate()
  expect(await t.firing()).toEqual([])
})

test('only the fast lane is watched, unless other lanes are named', async () => {
  await using t = await alerting([send], { settings: { lane_busy: { only: ['mail'], for: 0 } } })
  await t.sql(
    `insert into millrace.worker (id, host, pid, version, lanes, started_at, heartbeat_at, expires_at, report)
     select gen_random_uuid(), 'web-1', 411, '1', '{}', now(), now(), now() + interval '1 hour', $1`,
    [
      JSON.stringify({
        ...{ state: 'working', running: 4, runs: [], memory: { percent: 1 } },
        lanes: ['fast', 'mail'].map((name) => ({ name, slots: 2, running: 2, buffered: 0, queues: [] })),
      }),
    ],
  )
  await t.evaluate()
  expect(await t.firing()).toEqual(['lane_busy mail'])
})
