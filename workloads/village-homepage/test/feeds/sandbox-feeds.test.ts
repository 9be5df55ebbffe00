import { runJob } from 'millrace/testing'
import { expect, test } from 'vitest'
import { seedSources } from '#sandbox/seed-sources'
import { setup } from '../support/setup.ts'

test('the feeds of the sandbox are fetched in all their formats and charsets, or fail as they are meant to', async () => {
  await using t = await setup({ clock: { now: () => new Date('2026-11-18T10:00:00Z') } })
  await seedSources(t.parts.database, t.sandbox.urlOf('feeds'))
  const refresh = t.handler('RSS_FEED_REFRESH')
  const sources = await t.sql<{ id: string; name: string }>('select id, name from rss_sources')
  const outcomes: Record<string, unknown> = {}
  for (const { id, name } of sources) {
    const run = await runJob(refresh, { source_id: id }, { millrace: t.millrace })
    outcomes[name] = run.outcome === 'completed' ? (run.result as { new: number }).new : run.outcome
  }
  expect(outcomes).toEqual({
    ...{ 'Village Gazette': 12, 'Harbour Wire': 12, 'Mill & Motherboard': 12, 'Market Square Review': 12 },
    ...{ 'The Long View': 12, 'Café & Cricket': 12, 姉妹都市だより: 12, 'Untitled Post': 9, 'Slow Boat': 12 },
    ...{ 'Notes from the Old Mill': 'dead', 'Busy Bee': 'snoozed', 'The Torn Page': 'retry' },
  })
  const [old] = await t.sql(
    "select is_active, error_count, last_error_type from rss_sources where url like '%old-mill'",
  )
  expect(old).toEqual({ is_active: false, error_count: 5, last_error_type: 'http_404' })
  const [sister] = await t.sql(
    "select title from feed_items join rss_sources s on s.id = source_id where s.url like '%sister-town'",
  )
  expect(sister?.title).toMatch(/^[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}ー「」、。0-9]+$/u)
})

test('a sandbox on another port brings the addresses of its feeds up to date', async () => {
  await using t = await setup()
  await seedSources(t.parts.database, 'http://127.0.0.1:1/feeds')
  await t.sql("update village.rss_sources set error_count = 2 where name = 'Busy Bee'")
  await seedSources(t.parts.database, 'http://127.0.0.1:2/feeds')
  const found = await t.sql(
    "select count(*)::int as count, max(error_count) as errors from rss_sources where url like 'http://127.0.0.1:2/%'",
  )
  expect(found).toEqual([{ count: 12, errors: 4 }])
})

test('two feeds of the sandbox are compressed, if they may be', async () => {
  await using t = await setup()
  for (const [path, encoding] of [
    ['harbour-wire', 'gzip'],
    ['long-view', 'br'],
  ] as const) {
    const url = `${t.sandbox.urlOf('feeds')}/${path}`
    const packed = await fetch(url, { headers: { 'accept-encoding': encoding } })
    expect([packed.headers.get('content-encoding'), await packed.text()]).toEqual([
      encoding,
      expect.stringContaining('<title>'),
    ])
    const plain = await fetch(url, { headers: { 'accept-encoding': 'identity' } })
    expect(plain.headers.get('content-encoding')).toBeNull()
    await plain.text()
  }
})
