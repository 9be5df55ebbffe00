// A worker that is killed while it stores a feed: nothing is lost, and nothing is there twice.
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { Program } from '../../../../packages/cli/test/support/program.ts'
import { eventually } from '../../../../packages/engine/test/support/setup.ts'
import { items, rss } from '../support/feed-server.ts'
import { feedSetup } from '../support/feeds.ts'

const MODULE = fileURLToPath(new URL('../../dist/src/index.js', import.meta.url))
/** As many as a source keeps by default. */
const ITEMS = 1_000
/** Milliseconds from the answer of the feed until the kill. A job that has seen more of its workers die is suspected. */
const KILLS = [40, 200]

test('a feed whose worker is killed twice is stored once', { timeout: 180_000 }, async () => {
  await using t = await feedSetup()
  const id = await t.follow('/feed')
  const { id: job } = await t.millrace.enqueue(t.parts.contracts.RSS_FEED_REFRESH, { source_id: id })
  const env = {
    DATABASE_URL: t.url,
    VILLAGECOMPUTE_EGRESS_ALLOW: t.server.address,
    SLACK_OPS_WEBHOOK: 'https://slack.example/',
    PAGERDUTY_INTEGRATION_KEY: 'key',
    SMTP_URL: 'smtp://mail.example',
    IMAP_URL: 'imap://user@mail.example',
    NWS_USER_AGENT: 'test',
  }
  const lease = ['heartbeat=1s', 'ttl=5s', 'sweep=1s'].flatMap((part) => ['--lease', part])
  const start = () => new Program(['work', MODULE, '--queues', 'DEFAULT', ...lease], env)
  for (const delayMs of KILLS) {
    const program = start()
    await new Promise<void>((resolve) => {
      t.server.set('/feed', (_request, response) => {
        response.end(rss(items(ITEMS)), () => resolve())
      })
    })
    await sleep(delayMs)
    program.signal('SIGKILL')
    if ((await t.millrace.job(job))?.status === 'completed') break
  }
  t.server.set('/feed', { body: rss(items(ITEMS)) })
  start()
  await eventually(async () => (await t.millrace.job(job))?.status === 'completed', 60_000)
  const [stored] = await t.sql('select count(*)::int as count, count(distinct item_guid)::int as guids from feed_items')
  expect(stored).toEqual({ count: ITEMS, guids: ITEMS })
  expect(await t.source(id)).toMatchObject({ error_count: 0, is_active: true })
})
