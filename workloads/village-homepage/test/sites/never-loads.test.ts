import { expect, test } from 'vitest'
import { addSite } from '../support/captures.ts'
import { escalating } from '../support/escalating.ts'
import { startFeedServer } from '../support/feed-server.ts'
import { setup } from '../support/setup.ts'

test('a page that never loads uses up its attempts, and one Slack message names its address', {
  timeout: 120_000,
}, async () => {
  await using server = await startFeedServer()
  await using t = await setup({
    allow: [server.address],
    env: {
      VILLAGECOMPUTE_JOBS_MAX_ATTEMPTS: '2',
      VILLAGECOMPUTE_JOBS_BASE_DELAY: '1',
      VILLAGECOMPUTE_SCREENSHOTS_LOAD_TIMEOUT: '1',
    },
  })
  const url = server.url('/never')
  server.set('/never', () => {})
  const site = await addSite(t, url)
  await t.millrace.enqueue(t.parts.contracts.SCREENSHOT_CAPTURE, { site_id: site, url })
  await using worker = await escalating(t)
  await expect
    .poll(async () => (await t.sql('select from millrace.dead_letter_jobs')).length, { timeout: 90_000, interval: 200 })
    .toBe(1)
  await worker.until(() => t.sandbox.slack.messages.length > 0)
  await worker.settle()
  expect(server.asked.filter(({ path }) => path === '/never')).toHaveLength(2)
  expect(t.sandbox.slack.messages).toHaveLength(1)
  expect(JSON.stringify(t.sandbox.slack.messages)).toContain(`No screenshot of ${url}: it did not load within 1 s.`)
})
