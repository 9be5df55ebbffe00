import { expect, test } from 'vitest'
import { escalating } from '../support/escalating.ts'
import { feedSetup } from '../support/feeds.ts'

test('Slack hears once of a feed that five failures have disabled, with its address, the last error and the way back', async () => {
  await using t = await feedSetup()
  await using e = await escalating(t)
  t.server.set('/feed', { status: 410 })
  const id = await t.follow('/feed', { name: 'Gazette', error_count: 4 })
  const { RSS_FEED_REFRESH } = t.parts.contracts
  const job = await e.millrace.enqueue(RSS_FEED_REFRESH, { source_id: id })
  expect(await e.millrace.result(job.id)).toMatchObject({ status: 'dead', reason: 'discarded' })
  await e.until(() => t.sandbox.slack.messages.length > 0)
  // Nothing more comes of a feed that is inactive.
  const later = await e.millrace.enqueue(RSS_FEED_REFRESH, { source_id: id, force_refresh: true })
  expect(await e.millrace.result(later.id)).toMatchObject({ status: 'completed', result: { status: 'inactive' } })
  await e.settle()
  expect(t.sandbox.slack.messages).toHaveLength(1)
  expect(t.sandbox.slack.messages[0]?.channel).toBe('#ops-alerts')
  const told = JSON.stringify(t.sandbox.slack.messages[0])
  for (const part of ['Gazette', t.server.url('/feed'), 'status 410', `/admin/api/rss-sources/${id}`])
    expect(told).toContain(part)
  expect(t.sandbox.pagerDuty.incidents).toEqual([])
})
