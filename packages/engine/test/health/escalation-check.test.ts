import { defineJob, defineQueues, implement, type Millrace } from 'millrace'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { setup } from '../support/setup.ts'

const queues = defineQueues({ 'millrace.escalation': {} })
const deliver = defineJob({
  type: 'millrace.escalation.deliver',
  queue: queues['millrace.escalation'],
  payload: z.unknown(),
})

const says = async (millrace: Millrace): Promise<string[]> => {
  const { findings } = await millrace.health()
  return findings.filter(({ check }) => check === 'escalations').map((each) => `${each.verdict}: ${each.says}`)
}

test('the health report says when nobody delivers, when a channel is late or refuses, and when nobody answers', async () => {
  await using t = await setup()
  const { millrace, worker } = await t.working([implement(deliver, async () => {})])
  expect(await says(millrace)).toEqual(['ok: No escalation waits.'])
  await millrace.escalations.escalate({ key: 'disk', severity: 'warning', summary: 'The disk is full.' })
  expect(await says(millrace)).toEqual(['ok: 1 escalation waits to be delivered.'])
  await t.sql(`update millrace.escalation set created_at = now() - interval '6 minutes'`)
  expect(await says(millrace)).toEqual([
    expect.stringMatching(/^degraded: 1 escalation waits, the oldest for 6 min.*: its channel does not take it\.$/),
  ])
  await worker.stop()
  expect(await says(millrace)).toEqual(['failing: 1 escalation waits, and no worker delivers them: nobody is told.'])
  await t.sql(`update millrace.escalation set undeliverable_at = now(), respond_by = now() - interval '1 minute'`)
  expect(await says(millrace)).toEqual([
    'degraded: 1 escalation was refused by the channel.',
    'degraded: 1 escalation is overdue: nobody has acknowledged them in time.',
  ])
})
