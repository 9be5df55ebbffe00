import { slack } from '@millrace/escalation'
import { createMillrace } from 'millrace'
import { expect, test } from 'vitest'
import { slackServer } from './support/servers.ts'
import { failing, setup, silent } from './support/setup.ts'

test('a queue beyond its SLA is told to its owner; an owner without a channel here is named in #ops-alerts', async () => {
  await using t = await setup()
  await using owners = await slackServer()
  await using ops = await slackServer()
  const queue = (address: string) =>
    ({ sla: '100ms', owner: { name: `Owners of ${address}`, channel: 'slack', address } }) as const
  const feeds = failing('feeds', queue('#platform-feeds'), 'feed')
  const sites = failing('sites', queue('#good-sites'), 'site')
  const producer = createMillrace({ database: t.url, jobs: [feeds.contract, sites.contract], logger: silent })
  for (const { contract } of [feeds, sites]) {
    await producer.pauses.pause({ queue: contract.queue.name }, { by: 'ann', reason: 'a late queue' })
    await producer.enqueue(contract, { error: '', ok: true })
  }
  await producer.close()
  const channels = { '#platform-feeds': slack({ webhook: owners.url }), '#ops-alerts': slack({ webhook: ops.url }) }
  const { millrace } = await t.working(
    { channels, ops: '#ops-alerts' },
    {
      handlers: [feeds.handler, sites.handler],
      allow: [owners.address, ops.address],
      alerts: { settings: { queue_sla: { for: 0 } } },
    },
  )
  const [toOwner] = await owners.atLeast(1)
  expect(JSON.stringify(toOwner)).toContain('in queue \\"feeds\\"; its SLA is')
  const [toOps] = await ops.atLeast(1)
  expect(JSON.stringify(toOps)).toContain('in queue \\"sites\\"; its SLA is')
  expect(JSON.stringify(toOps)).toContain('Owners of #good-sites')
  expect(JSON.stringify(toOps)).not.toContain('feeds')
  expect((await millrace.alerts.list()).filter(({ name }) => name === 'queue_sla')).toHaveLength(2)
})
