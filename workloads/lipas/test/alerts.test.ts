// The six alerts of the register: each fires and clears on its jobs, and each firing is one mail, or one message where mail is down.

import { Received, Slack, Switches, startFront } from '@millrace/sandbox'
import { createMillrace } from 'millrace'
import { fakeClock } from 'millrace/testing'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { WATCHED } from '#src/alerts'
import { email, services } from '#src/contracts'
import { ALERT_TO } from '#src/sandbox/server'
import { evaluating } from '../../../packages/engine/test/support/alerts.ts'
import { type Lipas, setup, silent } from './support/lipas.ts'

const clock = fakeClock(new Date())
let t: Lipas
let evaluate: () => Promise<unknown>
beforeAll(async () => {
  t = await setup({ clock })
  evaluate = evaluating(t.millrace, t.workload.alerts)
})
afterAll(() => t[Symbol.asyncDispose]())

/** As a living worker reports itself. */
const worker = (report: object) =>
  t.sql(
    `insert into millrace.worker (id, host, pid, version, lanes, started_at, heartbeat_at, expires_at, report)
     values (gen_random_uuid(), 'worker-1', 411, '1', '{"fast": 3}', now(), now(), now() + interval '1 day', $1)`,
    [JSON.stringify({ state: 'working', lanes: [], running: 0, runs: [], memory: { percent: 10 }, ...report })],
  )
const noWorkers = () => t.sql('delete from millrace.worker')

const runs = (outcome: string, count: number) =>
  t.sql(
    `insert into millrace.metric_minute (minute, queue, type, outcome, runs, duration_ms, durations, wait_ms, waits, latencies)
     values (date_trunc('minute', $1::timestamptz - interval '1 minute'), 'lipas', 'webhook', $2, $3, 1, '{1}', 1, '{1}', '{}')`,
    [clock.now(), outcome, count],
  )

const mails = (count: number, delay: '0s' | '1d') =>
  t.millrace.enqueueMany(
    email,
    Array.from({ length: count }, () => ({ to: 'user@example.com' })),
    { delay },
  )
const noMails = () => t.sql(`delete from millrace.job where type = 'email'`)

interface Case {
  /** Not quite. */
  below?(): Promise<unknown>
  fire(): Promise<unknown>
  /** It has to hold so long. */
  after?: '5m' | '2m' | '61m'
  subject: string | RegExp
  clear(): Promise<unknown>
}

const cases: Record<(typeof WATCHED)[number], Case> = {
  queue_pending: {
    // Scheduled jobs are not pending.
    below: () => mails(500, '0s').then(() => mails(50, '1d')),
    fire: () => mails(1, '0s'),
    after: '5m',
    subject: 'lipas',
    clear: noMails,
  },
  error_rate: {
    below: () => runs('completed', 18).then(() => runs('failed', 2)),
    fire: () => t.sql(`update millrace.metric_minute set runs = 3 where outcome = 'failed'`),
    subject: 'webhook',
    clear: () => t.sql('delete from millrace.metric_minute'),
  },
  lane_busy: {
    below: () => worker({ lanes: [{ name: 'general', slots: 5, running: 5, buffered: 0, queues: ['lipas'] }] }),
    fire: () => worker({ lanes: [{ name: 'fast', slots: 3, running: 3, buffered: 0, queues: ['lipas'] }] }),
    after: '2m',
    subject: 'fast',
    clear: noWorkers,
  },
  oldest_due: {
    below: () => mails(1, '1d'),
    fire: () => mails(1, '0s'),
    after: '61m',
    subject: 'lipas',
    clear: noMails,
  },
  breaker_open: {
    fire: () => t.millrace.breakers.trip(services.search.name, { by: 'test' }),
    subject: services.search.name,
    clear: () => t.millrace.breakers.reset(services.search.name, { by: 'test' }),
  },
  worker_memory: {
    below: () => worker({ memory: { percent: 85 } }),
    fire: () => worker({ memory: { percent: 86 } }),
    subject: /^worker [\da-f]{8}$/,
    clear: noWorkers,
  },
}

const monitor = () => t.run('monitor-queue-health', {})
const notices = async () =>
  (
    await t.sql<{ payload: { to: string; subject: string; body: string } }>(
      `select payload from millrace.jobs where type = 'email' and payload->>'to' = $1 order by id`,
      [ALERT_TO],
    )
  ).map(({ payload }) => payload)

describe.each(Object.entries(cases))('%s', (name, { below, fire, after, subject, clear }) => {
  test('fires and clears, and each of both is one mail, however many processes look', async () => {
    const firing = async () => (await t.millrace.alerts.list()).filter((alert) => alert.name === name)
    await below?.()
    await evaluate()
    expect(await firing()).toEqual([])
    await fire()
    await evaluate()
    if (after !== undefined) {
      expect(await firing()).toEqual([])
      clock.advance(after)
      await evaluate()
    }
    const [alert] = await firing()
    expect(alert?.subject).toMatch(subject)
    const looks = await Promise.all([monitor(), monitor(), monitor()])
    expect(looks.map(({ outcome }) => outcome)).toEqual(['completed', 'completed', 'completed'])
    expect(looks[0]).toMatchObject({ result: { firing: expect.arrayContaining([`${name}: ${alert?.subject}`]) } })
    const begun = (await notices()).filter((mail) => mail.subject === `Alert: ${name} (${alert?.subject})`)
    expect(begun).toMatchObject([{ to: ALERT_TO, body: expect.stringContaining(alert?.action ?? '') }])

    await clear()
    await evaluate()
    expect(await firing()).toEqual([])
    await monitor()
    await monitor()
    const over = (await notices()).filter((mail) => mail.subject === `Over: ${name} (${alert?.subject})`)
    expect(over).toHaveLength(1)
    await noMails()
  })
})

test('the alert that mail is down is no mail: it is in the log, and Slack has it', async () => {
  const slack = new Slack()
  const received = new Received<'slack'>()
  const switches = new Switches<'slack'>()
  const titles = { slack: 'Slack' }
  const front = await startFront({ ...{ title: 'Slack', intro: '', titles, switches, received, services: { slack } } })
  const lines: string[] = []
  const heard = (fields: object | string, message?: string) => void lines.push(JSON.stringify({ fields, message }))
  const logger = { ...silent, warn: heard, info: heard }
  await using u = await setup({ env: { LIPAS_SLACK_WEBHOOK: `${front.urlOf('slack')}/services/T/B/x` }, logger })
  const { escalation, jobs, handlers, alerts } = u.workload
  if (escalation === undefined) throw new Error('LIPAS has no escalation.')
  await u.millrace.breakers.trip(services.email.name, { by: 'test' })

  const millrace = createMillrace({ database: u.url, jobs: [...jobs, ...escalation.jobs], logger })
  const delivery = escalation.attach({ millrace, logger })
  const fired = millrace.events.next('alert_fired')
  await millrace.work({ handlers: [...handlers, ...delivery.handlers], ...(alerts && { alerts }), gracePeriod: '2s' })
  expect(await fired).toMatchObject({ name: 'breaker_open', subject: 'email-service' })
  await received.until(() => slack.messages.length > 0, AbortSignal.timeout(20_000))
  expect(slack.messages[0]?.text).toContain('email-service')

  const { id } = await millrace.enqueueByType('monitor-queue-health', {})
  expect(await millrace.result(id)).toMatchObject({
    ...{ status: 'completed', result: { firing: ['breaker_open: email-service'], notified: 0 } },
  })
  expect(lines.filter((line) => line.includes('an alert has begun') && line.includes('email-service'))).toHaveLength(1)
  expect(await u.sql(`select 1 from millrace.jobs where type = 'email'`)).toEqual([])
  await delivery.stop()
  await millrace.close()
  await front.stop()
})

test('without a channel the alerts are the platform’s own, so nothing is put into an outbox that nobody empties', () => {
  expect(t.workload).toMatchObject({ alerts: {} })
  expect(t.workload.escalation).toBeUndefined()
})
