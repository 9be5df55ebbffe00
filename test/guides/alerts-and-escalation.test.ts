import { createEgress } from '@millrace/egress'
import { type Delivery, defineEscalation, type Escalation, slack } from '@millrace/escalation'
import { createMillrace, type JobContract, type Millrace } from 'millrace'
import { expect, test } from 'vitest'
import { setup, silent } from '../../packages/engine/test/support/setup.ts'
import { slackServer } from '../../packages/escalation/test/support/servers.ts'
import { openDocument } from '../support/document.ts'

const GUIDE = 'docs/guides/alerts-and-escalation.md'

test('the escalation of the guide can be put together, and its contract declares the policies', async () => {
  await using guide = await openDocument(GUIDE)
  const { escalation } = await guide.load<{ escalation: Escalation }>('escalation.ts')
  expect(escalation.jobs.map(({ type }) => type)).toEqual(['millrace.escalation.deliver'])
  const { refreshStocks } = await guide.load<{ refreshStocks: JobContract }>('contracts.ts')
  expect(refreshStocks.queue.facts.escalation).toEqual({ to: 'on-call', respondWithin: '15m' })
})

test('the watch of the guide reports a full disk once, and that it has room again', async () => {
  await using t = await setup()
  await using server = await slackServer()
  await using guide = await openDocument(GUIDE)
  const { watchDisk } = await guide.load<{ watchDisk(millrace: Millrace, percent: number): Promise<void> }>(
    'disk-watch.ts',
  )
  const escalation = defineEscalation({
    channels: { '#ops': slack({ webhook: server.url }) },
    fetch: createEgress({ allow: [server.address] }).fetch,
    intervalMs: 100,
  })
  const millrace = createMillrace({ database: t.url, jobs: [...escalation.jobs], logger: silent })
  const delivery: Delivery = escalation.attach({ millrace, logger: silent })
  await millrace.work({ handlers: [...delivery.handlers] })
  await watchDisk(millrace, 81)
  await server.atLeast(1)
  await watchDisk(millrace, 82)
  await watchDisk(millrace, 60)
  const messages = await server.atLeast(2)
  await delivery.stop()
  await millrace.close()
  expect(messages.map(({ text }) => text)).toEqual([
    'The disk for uploads is nearly full.',
    'Resolved: The disk for uploads is nearly full.',
  ])
})
