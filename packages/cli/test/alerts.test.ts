import { defineJob, defineQueues, implement } from 'millrace'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { setup as base } from './support/setup.ts'

const queues = defineQueues({ mail: { owner: { name: 'Mail team', channel: 'slack', address: '#mail' } } })
const send = defineJob({ type: 'mail.send', queue: queues.mail, payload: z.object({}), services: ['smtp'] })

async function setup() {
  const t = await base({ jobs: [send] })
  return { ...t, run: (...args: string[]) => t.run('alerts', ...args) }
}

test('what fires is listed with its reason, its owner and what to do, and a silence stands beside it', async () => {
  await using t = await setup()
  expect(await t.run()).toMatchObject({ code: 0, out: 'No alert fires.\n' })
  await t.millrace.breakers.trip('smtp', { by: 'ann' })
  const fired = t.millrace.events.next('alert_fired')
  await t.millrace.work({ handlers: [implement(send, () => {})] })
  await fired
  const { out } = await t.run()
  expect(out).toMatch(/^WARNING {2}breaker_open {2}smtp {2}\(fires since (now|\d+s ago)\)\n/)
  expect(out).toContain(
    '\n  The breaker of service "smtp" is open. It holds jobs of queue "mail".\n  Do: Look at the service.',
  )
  expect(out).toContain('\n  Owner: Mail team, slack, #mail\n  More: docs/operations.md#breaker_open\n')
  expect((await t.run('--all')).out).toContain('breaker_open_long  smtp  (holds since')

  const silenced = await t.run('silence', 'breaker_open', '--for', '2h', '--reason', 'maintenance', '--by', 'ann')
  expect(silenced).toMatchObject({ code: 0, out: 'Alert breaker_open is silenced; the silence ends in 2h.\n' })
  const json = JSON.parse((await t.run('--json')).out)
  expect(json.alerts).toMatchObject([
    { name: 'breaker_open', state: 'firing', silence: { reason: 'maintenance', by: 'ann' } },
  ])
  expect((await t.run()).out).toMatch(
    /Silenced by ann: maintenance\n.*\nSilenced:\n {2}breaker_open, until \S+, by ann: maintenance\n$/s,
  )
  expect(await t.run('unsilence', 'breaker_open')).toMatchObject({
    out: 'The silence of alert breaker_open has ended.\n',
  })
  expect(await t.run('unsilence', 'breaker_open', '--subject', 'smtp')).toMatchObject({
    out: 'Alert breaker_open of smtp was not silenced.\n',
  })
  expect(await t.run('silence', 'breaker_open', '--for', 'ever', '--reason', 'x')).toMatchObject({
    code: 1,
    err: expect.stringContaining('not a duration'),
  })
})

test('the rules for Prometheus are printed without a database', async () => {
  await using t = await setup()
  const { code, out } = await t.run('rules')
  expect(code).toBe(0)
  expect(out).toMatch(/^groups:\n {2}- name: millrace\n {4}rules:\n {6}- alert: MillraceQueueDepth\n/)
})
