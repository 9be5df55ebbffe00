// The handler of `email`: what is sent, what a refusal means, and the breaker of the mail server.
import { drain } from 'millrace/testing'
import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest'
import { services } from '#src/contracts'
import { mailsCounted } from '#src/telemetry/metrics'
import { type Lipas, setup } from '../support/lipas.ts'

let t: Lipas
beforeAll(async () => {
  t = await setup({ hasSampleData: true })
})
afterAll(() => t[Symbol.asyncDispose]())
beforeEach(() => t.sandbox.set('smtp', 'ok'))

const breaker = () => t.millrace.breakers.get(services.email.name)
const to = 'user@example.com'

test('a mail reaches its recipient as it was written', async () => {
  const run = await t.run('email', { to, subject: 'Welcome!', body: 'Your account is ready' })
  const messageId = `<job-${run.job.id}@lipas.example>`
  expect(run).toMatchObject({ outcome: 'completed', result: { 'message-id': messageId, kind: 'notification' } })
  const [mail] = t.sandbox.mailboxes.of(to)
  expect(mail).toMatchObject({ subject: 'Welcome!', text: expect.stringContaining('Your account is ready'), messageId })
})

test('a log line tells the domain of the recipient, and nothing else of the mail', async () => {
  const { logs } = await t.run('email', { to, subject: 'Private', body: 'between us' })
  expect(JSON.stringify(logs)).toContain('example.com')
  for (const secret of ['user@', 'Private', 'between us']) expect(JSON.stringify(logs)).not.toContain(secret)
})

test('an address that is a list of others is refused or sent to nobody else', async () => {
  const before = t.sandbox.mailboxes.mails.length
  await expect(t.run('email', { to: 'a@example.com, b@example.com' })).rejects.toThrow(/to/)
  expect(t.sandbox.mailboxes.mails).toHaveLength(before)
})

test('a mail that is refused for good dies after one attempt, and the breaker does not count it', async () => {
  const run = await t.run('email', { to: 'nobody@example.org' })
  expect(run).toMatchObject({ outcome: 'dead', reason: 'unrecoverable', failure: { class: 'Unrecoverable' } })
  expect(JSON.stringify(run)).not.toContain('nobody@')
  expect(await breaker()).toMatchObject({ state: 'closed', failureCount: 0 })
})

test('a mail that is refused for now is tried again after 1 to 1.1 s, then after 2 to 2.2 s, and then it is a dead letter', async () => {
  t.sandbox.set('smtp', 'limited')
  await t.millrace.breakers.configure(services.email.name, { failures: 100, by: 'test' })
  const first = await t.run('email', { to })
  expect(first).toMatchObject({ outcome: 'retry', failure: { message: expect.stringContaining('452') } })
  const { id } = first.job
  const waits = [first.outcome === 'retry' ? first.delayMs : 0]
  await t.millrace.runNow(id, { by: 'test' })
  const [second] = await drain(t.millrace, t.workload.handlers)
  waits.push(second?.outcome === 'retry' ? second.delayMs : 0)
  await t.millrace.runNow(id, { by: 'test' })
  const [third] = await drain(t.millrace, t.workload.handlers)
  expect(third).toMatchObject({ outcome: 'dead', reason: 'exhausted' })
  expect(await t.millrace.deadLetters.ofJob(id)).toBeDefined()
  for (const [i, least] of [1_000, 2_000].entries()) {
    expect(waits[i]).toBeGreaterThanOrEqual(least)
    expect(waits[i]).toBeLessThanOrEqual(least * 1.1)
  }
  // However often it may be tried, no wait is longer than five minutes.
  const stubborn = await t.run('email', { to }, { maxAttempts: 12 })
  for (let attempt = 2; attempt <= 11; attempt++) {
    await t.millrace.runNow(stubborn.job.id, { by: 'test' })
    const [run] = await drain(t.millrace, t.workload.handlers)
    waits.push(run?.outcome === 'retry' ? run.delayMs : 0)
  }
  expect(Math.max(...waits)).toBe(300_000)
  await t.millrace.breakers.configure(services.email.name, { failures: null, by: 'test' })
  await t.millrace.breakers.reset(services.email.name, { by: 'test' })
})

test('a mail counts by kind and outcome', async () => {
  const text = async () => JSON.stringify(await mailsCounted.metric.get())
  const before = await text()
  await t.run('email', { to })
  expect(await text()).not.toBe(before)
  expect(await text()).toContain('"kind":"notification","outcome":"sent"')
})

test('the reminder of a place has its own letter with a link, and becomes sent with its job', async () => {
  vi.stubEnv('MILLRACE_PUBLIC_URL', 'https://sports.example/')
  const [due] = await t.sql<{ id: string; lipas_id: number; name: string }>(
    `update lipas.reminder set status = 'queued', queued_at = now() from lipas.sports_site
     where reminder.lipas_id = sports_site.lipas_id and reminder.lipas_id = 1234 returning id, reminder.lipas_id, name`,
  )
  const payload = { to: 'owner@example.com', type: 'reminder', 'reminder-id': due?.id }
  expect(await t.run('email', payload)).toMatchObject({ outcome: 'completed', result: { kind: 'reminder' } })
  const [mail] = t.sandbox.mailboxes.of('owner@example.com')
  expect(mail?.subject).toContain(due?.name)
  expect(mail?.text).toContain('https://sports.example/lipas?site=1234')
  expect(await t.sql('select status from lipas.reminder where id = $1', [due?.id])).toEqual([{ status: 'sent' }])
  expect(await t.run('email', payload)).toMatchObject({ outcome: 'cancelled' })
  expect(t.sandbox.mailboxes.of('owner@example.com')).toHaveLength(1)
})
