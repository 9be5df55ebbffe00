import { expect, test } from 'vitest'
import { setup } from './support/setup.ts'

test('the village starts with its tables, and its operators find them without a schema', async () => {
  await using t = await setup()
  await t.sql("insert into rss_sources (name, url) values ('Gazette', 'https://example.com/feed')")
  const [source] = await t.sql('select name, is_active, refresh_interval_minutes from village.rss_sources')
  expect(source).toEqual({ name: 'Gazette', is_active: true, refresh_interval_minutes: 60 })
  expect(t.announced).toMatchObject({ Sandbox: t.sandbox.url, anthropic: 'sandbox' })
})
