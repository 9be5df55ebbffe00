// docs/workloads/village-homepage/neighbours.md: its commands run as they stand there, by the real curl and psql. And the list of
// what the village must do names tests that exist.
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { seedSocial } from '#sandbox/seed-social'
import { blocks, root } from '../../../test/support/document.ts'
import { hasPrograms, one, serve } from './support/guide.ts'
import { market } from './support/market.ts'

const GUIDE = 'docs/workloads/village-homepage/neighbours.md'
const [shell, sql] = [blocks(GUIDE, 'sh'), blocks(GUIDE, 'sql')]
if (!hasPrograms) console.warn(`SKIPPED: curl or psql is not installed, so the commands of ${GUIDE} are not tested.`)

describe.skipIf(!hasPrograms)('the guide to mail, marketplace, sites and accounts', () => {
  test('its calls are taken as they stand, and a new token lets an account go on', async () => {
    await using t = await market()
    await using server = await serve(t, { isDevelopment: true })
    await seedSocial(t.parts, { instagram: t.sandbox.urlOf('instagram'), mastodon: t.sandbox.urlOf('mastodon') })
    const [account] = await t.sql<{ id: string }>(
      "update village.social_accounts set state = 'reauthorise' where handle = 'choir' returning id",
    )
    for (const block of shell) {
      const answer = await server.sh(block.replaceAll('uuid-of-account', account?.id ?? ''))
      if (block.includes('enqueue')) expect(JSON.parse(answer), block).toMatchObject({ status: 'queued', warnings: [] })
    }
    expect(await t.sql("select state from village.social_accounts where handle = 'choir'")).toEqual([
      { state: 'active' },
    ])
    const types = await t.sql('select distinct job_type from millrace.delayed_jobs order by 1')
    expect(types.map(({ job_type }) => job_type)).toEqual([
      ...['CLICK_ROLLUP', 'INBOUND_EMAIL', 'LINK_HEALTH_CHECK', 'LISTING_EXPIRATION', 'SITEMAP_GENERATION'],
    ])
  })

  test('its queries run in psql, and say what they are to say', async () => {
    await using t = await market()
    await using server = await serve(t, { isDevelopment: true })
    await t.post({ from: 'eve@evil.example' })
    await t.inbound()
    await t.sql('update village.inbound_mail set moved_at = null')
    await t.sql(`insert into village.messages (conversation_id, direction, kind, subject, body)
      values ('${t.conversationId}', 'to_seller', 'inquiry', 'A boat', 'Hello')`)
    await t.sql(`with site as (insert into village.good_sites (url, title) values ('https://a.example/', 'Choir') returning id)
      insert into village.site_links (site_id, url, state, failures) select id, 'https://a.example/', 'dead', 3 from site`)
    await t.sql("update village.listings set status = 'expired'")
    await t.sql(`insert into village.listing_notices (listing_id, kind) values ('${t.listingId}', 'expired')`)
    const answer = (part: string) => server.psql(one(sql, part).replaceAll('uuid-of-listing', t.listingId))
    expect(await answer("outcome <> 'relayed'")).toContain(
      '|quarantined|Its sender is not a party of the conversation.|',
    )
    expect(await answer("status <> 'sent'")).toContain('|waiting||A boat')
    expect(await answer('left_there')).toMatch(/^INBOX\|\d+\|1$/)
    expect(await answer("'dead'")).toMatch(/^Choir\|https:\/\/a\.example\/\|dead\|\|3\|$/)
    await answer('renewed')
    expect(
      await t.sql('select status, expires_at > now() + interval $$13 days$$ as later from village.listings'),
    ).toEqual([{ status: 'active', later: true }])
    expect(await t.sql('select * from village.listing_notices')).toEqual([])
    for (const block of sql) await server.psql(block.replaceAll('uuid-of-listing', t.listingId))
  })
})

test('each of the 52 points of what the village must do names its test, and the test is there', () => {
  const text = readFileSync(join(root, 'docs/workloads/village-homepage/acceptance.md'), 'utf8')
  const rows = [...text.matchAll(/^\| (\d+) \| .+ \| (.+) \|$/gm)]
  expect(rows.map(([, number]) => Number(number))).toEqual(Array.from({ length: 52 }, (_, i) => i + 1))
  for (const [, number, tests = ''] of rows) {
    const named = [...tests.matchAll(/`([^`]+)`/g)].map(([, path = '']) => path)
    expect(named.length, `point ${number}`).toBeGreaterThan(0)
    for (const path of named) {
      const file = path.startsWith('packages/') ? path : `workloads/village-homepage/test/${path}`
      expect(existsSync(join(root, file)), `point ${number}: ${file}`).toBe(true)
    }
  }
})
