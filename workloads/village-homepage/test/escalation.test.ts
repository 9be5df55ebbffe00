// Who is told what: the scenarios of the escalation paths, with PagerDuty, Slack and the mail server of the sandbox.
import { fakeClock } from 'millrace/testing'
import { expect, test } from 'vitest'
import { startSandbox } from '#sandbox/server'
import { escalating } from './support/escalating.ts'
import { setup, type Village } from './support/setup.ts'

const PROMPT = { VILLAGECOMPUTE_STOCKS_REQUEST_INTERVAL: '0' }
type Escalating = Awaited<ReturnType<typeof escalating>>

test('Alpha Vantage is down: five attempts, one incident, no second one by later ticks, and resolved when it is back', async () => {
  await using t = await setup({ env: PROMPT })
  await using e = await escalating(t)
  t.sandbox.set('alpha-vantage', 'down')
  const first = await refreshUntilDead(t, e)
  expect(await e.millrace.job(first)).toMatchObject({ status: 'dead', attempt: 5 })
  await e.until(() => t.sandbox.pagerDuty.incidents.length > 0)
  expect(t.sandbox.pagerDuty.incidents).toMatchObject([
    {
      state: 'triggered',
      routingKey: 'sandbox',
      dedupKey: expect.stringContaining('STOCK_REFRESH'),
      summary: expect.stringContaining('Alpha Vantage answered 503'),
      severity: 'error',
    },
  ])
  expect(t.sandbox.slack.messages).toEqual([])

  await e.millrace.breakers.reset('alpha-vantage', { by: 'test' })
  const second = await refreshUntilDead(t, e)
  expect(second).not.toBe(first)
  await expect.poll(async () => (await e.millrace.escalations.list({ state: 'undelivered' })).length).toBe(0)
  expect(t.sandbox.pagerDuty.incidents).toMatchObject([{ state: 'triggered' }])

  t.sandbox.set('alpha-vantage', 'ok')
  await e.millrace.breakers.reset('alpha-vantage', { by: 'test' })
  const third = await e.millrace.enqueue(t.parts.contracts.STOCK_REFRESH, {})
  await endOf(third.id, e, /^completed/)
  await e.settle()
  await e.until(() => t.sandbox.pagerDuty.incidents[0]?.state === 'resolved')
  expect(t.sandbox.pagerDuty.incidents).toHaveLength(1)
})

test('with the fallback source quotes refresh while Alpha Vantage is down and its breaker is open', async () => {
  await using t = await setup({ env: PROMPT })
  await using e = await escalating(t)
  t.sandbox.set('alpha-vantage', 'down')
  await e.millrace.breakers.trip('alpha-vantage', { by: 'test' })
  const { chooseSource } = await import('#src/stocks/quote-store')
  await chooseSource(t.parts.database, 'stooq')
  const { id } = await e.millrace.enqueue(t.parts.contracts.STOCK_REFRESH, {})
  expect(await e.millrace.result(id)).toMatchObject({
    status: 'completed',
    result: { source: 'stooq', refreshed: 5, stale: 0 },
  })
})

test('what LOW and BULK failed at, and what the budget stopped, is one digest a day, also across a restart', async () => {
  await using t = await setup()
  const clock = fakeClock(new Date('2026-11-18T06:30:00Z'))
  const { CLICK_ROLLUP, IMAGE_PROCESSING, AI_TAGGING } = t.parts.contracts
  {
    await using e = await escalating(t, { clock })
    await t.sql(`insert into ai_usage_tracking (month, provider, estimated_cost_cents, budget_limit_cents)
      values ('2026-11-01', 'anthropic', 500, 500)`)
    // Later than the test lasts: no worker takes them before they are failed by hand.
    const delay = '1h'
    const image = { media_id: '5f0f6f2e-6f0c-4c58-9d3a-0e1f5b7a9c11', kind: 'listing' } as const
    const waiting = [
      await e.millrace.enqueue(CLICK_ROLLUP, {}, { delay }),
      await e.millrace.enqueue(IMAGE_PROCESSING, image, { delay }),
    ]
    for (const { id } of waiting) await e.millrace.fail(id, { by: 'ann', reason: 'broken', final: true })
    const { id } = await e.millrace.enqueue(AI_TAGGING, { trigger: 'manual' })
    expect(await e.millrace.result(id)).toMatchObject({ status: 'cancelled', reason: expect.stringMatching(/budget/i) })
    await expect.poll(async () => digestRows(e)).toBe(3)
  }
  expect(digests(t)).toEqual([])
  await using one = await escalating(t, { clock })
  await using other = await escalating(t, { clock })
  clock.moveTo('2026-11-18T07:00:01Z')
  await one.until(() => digests(t).length > 0)
  await expect.poll(async () => digestRows(other)).toBe(0)
  await using late = await escalating(t, { clock })
  clock.moveTo('2026-11-19T07:00:01Z')
  await expect.poll(async () => digestRows(late)).toBe(0)
  const [mail] = digests(t)
  expect(digests(t)).toHaveLength(1)
  expect(mail).toMatchObject({ to: 'ops@villagecompute.com', from: 'village@villagecompute.com' })
  for (const type of ['CLICK_ROLLUP', 'IMAGE_PROCESSING', 'AI_TAGGING']) expect(mail?.text).toContain(type)
  expect(t.sandbox.pagerDuty.incidents).toEqual([])
  expect(t.sandbox.slack.messages).toEqual([])
})

test('a late queue is told to the channel of its owner, and not to #ops-alerts', async () => {
  await using t = await setup()
  await makeLate(t)
  await using e = await escalating(t, { alerts: { settings: { queue_sla: { for: 0 } } } })
  await e.until(() => t.sandbox.slack.messages.length > 0)
  expect(t.sandbox.slack.messages).toMatchObject([{ channel: '#platform-feeds' }])
  expect(t.sandbox.slack.messages[0]?.body).toMatch(/queue "?DEFAULT"?; its SLA is 5/)
})

test('an owner without a webhook of their own is named in #ops-alerts', async () => {
  const slack = await startSandbox({ misbehaves: false })
  await using t = await setup({
    env: { VILLAGECOMPUTE_SANDBOX: 'auto', SLACK_OPS_WEBHOOK: `${slack.urlOf('slack')}/ops-alerts` },
    allow: [slack.address],
  })
  await makeLate(t)
  await using e = await escalating(t, { alerts: { settings: { queue_sla: { for: 0 } } } })
  await slack.received.until(() => slack.slack.messages.length > 0, AbortSignal.timeout(20_000))
  expect(slack.slack.messages).toMatchObject([{ channel: '#ops-alerts' }])
  expect(slack.slack.messages[0]?.body).toContain('Platform Services Guild')
  expect(t.announced).toMatchObject({ slack: 'real', pagerduty: 'sandbox' })
  expect(e.worker).toBeDefined()
  await slack.stop()
})

async function refreshUntilDead(t: Village, e: Escalating): Promise<string> {
  const { id } = await e.millrace.enqueue(t.parts.contracts.STOCK_REFRESH, {})
  await endOf(id, e, /^dead/)
  return id
}

/** Its retries, and a breaker that a worker still remembers as open, are not waited for. */
async function endOf(id: string, { millrace }: Escalating, expected: RegExp): Promise<void> {
  const statusOf = async () => {
    await millrace.runNow(id, { by: 'test' })
    const job = await millrace.job(id)
    return `${job?.status} ${job?.attempt} ${job?.lastError}`
  }
  await expect.poll(statusOf, { interval: 30 }).toMatch(expected)
}

/** A job of DEFAULT is due for six minutes, and nobody takes it. */
async function makeLate(t: Village): Promise<void> {
  await t.millrace.pauses.pause({ queue: 'DEFAULT' }, { by: 'ann', reason: 'a late queue' })
  const { id } = await t.millrace.enqueue(t.parts.contracts.WEATHER_REFRESH, { kind: 'alerts' })
  await t.sql(`update millrace.job set run_at = now() - interval '6 minutes' where id = $1`, [id])
}

const digests = (t: Village) => t.sandbox.mailboxes.mails.filter(({ subject }) => subject.includes('Digest'))

const digestRows = async ({ millrace }: Escalating): Promise<number> =>
  (await millrace.escalations.list({ channel: 'ops@villagecompute.com', state: 'undelivered' })).length
