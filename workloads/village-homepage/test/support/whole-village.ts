// One of everything: what the tour enqueues, on workers of processes of their own, and what must be there afterwards.
import { fileURLToPath } from 'node:url'
import { seedMarket } from '#sandbox/seed-market'
import { seedSocial } from '#sandbox/seed-social'
import { seedSources } from '#sandbox/seed-sources'
import { agreeAndClick, writeToSellers } from '#sandbox/tour-visitors'
import { Program } from '../../../../packages/cli/test/support/program.ts'
import { addItems } from './articles.ts'
import { addOriginal, photograph } from './pictures.ts'
import { TEST_KEY, type Village } from './setup.ts'

const MODULE = fileURLToPath(new URL('../../dist/src/index.js', import.meta.url))
const LEASE = ['heartbeat=1s', 'ttl=5s', 'sweep=1s'].flatMap((part) => ['--lease', part])
const TAGGED_ITEMS = 12

/** Its feeds, sellers, accounts and links are those of the sandbox, which the workers take for the real world. */
export async function seedVillage(t: Village): Promise<void> {
  const { database } = t.parts
  await seedSources(database, t.sandbox.urlOf('feeds'))
  await seedSocial(t.parts, { instagram: t.sandbox.urlOf('instagram'), mastodon: t.sandbox.urlOf('mastodon') })
  await seedMarket(database)
  await t.sql('update village.rss_sources set is_sandbox = false, error_count = 0')
  await t.sql('update village.social_accounts set is_sandbox = false')
  await addItems(t, TAGGED_ITEMS)
  for (const path of ['choir', 'moved', 'no-head'])
    await t.sql("insert into village.good_sites (url, title) values ($1 || '/' || $2, $2)", [
      t.sandbox.urlOf('links'),
      path,
    ])
}

export async function enqueueAll(t: Village): Promise<void> {
  const { parts, millrace } = t
  const { contracts } = parts
  // Its two pictures are made smaller by IMAGE_PROCESSING, as the upload is.
  const url = `${t.sandbox.urlOf('sites')}/library`
  const [site] = await t.sql<{ id: string }>(
    "insert into village.good_sites (url, title) values ($1, 'The village library') returning id",
    [url],
  )
  await millrace.enqueue(contracts.SCREENSHOT_CAPTURE, { site_id: site?.id as string, url })
  const upload = await addOriginal(t, await photograph())
  await millrace.enqueue(contracts.IMAGE_PROCESSING, { media_id: upload, kind: 'listing' })
  await millrace.enqueue(contracts.RSS_FEED_REFRESH, {})
  await millrace.enqueue(contracts.WEATHER_REFRESH, { kind: 'forecast' })
  await millrace.enqueue(contracts.WEATHER_REFRESH, { kind: 'alerts' })
  await millrace.enqueue(contracts.STOCK_REFRESH, {})
  await millrace.enqueue(contracts.SOCIAL_REFRESH, {})
  await millrace.enqueue(contracts.LINK_HEALTH_CHECK, {})
  await millrace.enqueue(contracts.LISTING_EXPIRATION, {})
  await writeToSellers(parts, { createdBy: 'test' })
  await agreeAndClick(parts)
  await millrace.enqueue(contracts.CLICK_ROLLUP, {})
  await millrace.enqueue(contracts.RANK_RECALCULATION, {})
  await millrace.enqueue(contracts.SITEMAP_GENERATION, {})
  await millrace.enqueue(contracts.AI_TAGGING, { trigger: 'manual' })
}

/** It knows the sandbox as if it were the real world. Resolves when it works. */
export async function startWorker(t: Village): Promise<Program> {
  const { sandbox } = t
  const program = new Program(['work', MODULE, ...LEASE], {
    DATABASE_URL: t.url,
    PORT: '0',
    MILLRACE_ENCRYPTION_KEYS: `${TEST_KEY.id}:${TEST_KEY.key.toString('base64')}`,
    VILLAGECOMPUTE_EGRESS_ALLOW: sandbox.address,
    VILLAGECOMPUTE_JOBS_BASE_DELAY: '1',
    VILLAGECOMPUTE_STOCKS_BASE_URL: sandbox.urlOf('alpha-vantage'),
    VILLAGECOMPUTE_STOCKS_REQUEST_INTERVAL: '0',
    VILLAGECOMPUTE_LINKS_REQUEST_INTERVAL: '0',
    VILLAGECOMPUTE_WEATHER_NWS_URL: sandbox.urlOf('nws'),
    VILLAGECOMPUTE_WEATHER_OPEN_METEO_URL: sandbox.urlOf('open-meteo'),
    VILLAGECOMPUTE_JOBS_ESCALATION_PAGERDUTY_URL: `${sandbox.urlOf('pagerduty')}/v2/enqueue`,
    ALPHAVANTAGE_API_KEY: 'sandbox',
    ANTHROPIC_API_KEY: 'sandbox',
    ANTHROPIC_BASE_URL: sandbox.urlOf('anthropic'),
    NWS_USER_AGENT: 'VillageHomepage/1.0 (test)',
    PAGERDUTY_INTEGRATION_KEY: 'sandbox',
    SLACK_OPS_WEBHOOK: `${sandbox.urlOf('slack')}/ops-alerts`,
    SMTP_URL: sandbox.smtpUrl,
    IMAP_URL: sandbox.imapUrl,
  })
  await program.logged(({ msg }) => msg === 'running')
  return program
}

const UNDONE = `
select job_type || ': ' || coalesce(last_error, '') as job
from millrace.delayed_jobs
where job_type not like 'millrace.%'
  and not (job_type = 'RSS_FEED_REFRESH' and last_error is not null)
  and scheduled_at < now() + interval '20 seconds'`

/** Jobs of feeds that misbehave on purpose may wait for their next attempt. */
export const undone = (t: Village): Promise<{ job: string }[]> => t.sql<{ job: string }>(UNDONE)

/** By type, a query for what is wrong with its effects: none, if each is there once. */
export const EFFECTS: Readonly<Record<string, string>> = {
  RSS_FEED_REFRESH: `
    select 'a feed without items: ' || source.name from village.rss_sources as source
    where url like 'http://127.%' and last_fetched_at is not null
      and not exists (select from village.feed_items where source_id = source.id)
    union all select 'fewer than six feeds' from village.rss_sources having count(last_fetched_at) < 6`,
  AI_TAGGING: `
    select 'paid twice: ' || item_id from village.ai_calls where outcome = 'tagged' group by item_id having count(*) > 1
    union all select 'nothing is tagged' from village.feed_items having count(*) filter (where ai_tagged) < ${TAGGED_ITEMS}
    union all select 'a call is not counted' from village.ai_calls where not counted and outcome <> 'begun'
      and called_at < now() - interval '15 minutes'`,
  STOCK_REFRESH: `
    select 'quotes: ' || count(*) from village.stock_quotes having count(*) <> 5
    union all select 'more than the day allows' from village.provider_usage where used > 25`,
  WEATHER_REFRESH: `
    select 'forecasts: ' || count(*) from village.weather_forecasts having count(*) <> 2`,
  LISTING_EXPIRATION: `
    select 'notices of ' || subject || ': ' || count(*) from village.messages where direction = 'notice' and kind <> 'undeliverable'
    group by subject having count(*) <> 1
    union all select 'notices: ' || count(*) from village.messages where kind in ('reminder_7d', 'reminder_1d', 'expired') having count(*) <> 3
    union all select 'expired: ' || count(*) from village.listings where status = 'expired' having count(*) <> 1`,
  MESSAGE_RELAY: `
    select 'not sent: ' || subject || ' ' || status from village.messages where status = 'waiting'`,
  INBOUND_EMAIL: `
    select 'replies: ' || count(*) from village.messages where kind = 'reply' having count(*) <> 1
    union all select 'bounced: ' || count(*) from village.messages where kind = 'inquiry' and status = 'undeliverable' having count(*) <> 1
    union all select 'told of it: ' || count(*) from village.messages where kind = 'undeliverable' having count(*) <> 1
    union all select 'not moved' from village.inbound_mail where moved_at is null`,
  SOCIAL_REFRESH: `
    select 'posts of ' || handle || ': ' || count(post_id) from village.social_accounts as account
    left join village.social_posts on account_id = account.id
    group by handle having count(post_id) <> case when handle in ('village', 'village.square') then 8 else 0 end`,
  LINK_HEALTH_CHECK: `
    select 'links: ' || count(*) from village.site_links where state in ('ok', 'moved') and failures = 0 having count(*) <> 4`,
  SITEMAP_GENERATION: `
    select 'sitemaps: ' || count(*) from village.sitemap_generations where state = 'current' having count(*) <> 1`,
  CLICK_ROLLUP: `
    select 'clicks: ' || coalesce(sum(clicks), 0) from village.click_rollups having coalesce(sum(clicks), 0) <> 5`,
  SCREENSHOT_CAPTURE: `
    select 'pictures of a site: ' || count(*) from village.media
    where owner_kind = 'site' and parent_id is null having count(*) <> 2`,
  IMAGE_PROCESSING: `
    select 'variants: ' || count(variant.id) from village.media as original
    left join village.media as variant on variant.parent_id = original.id
    where original.parent_id is null
    group by original.id having count(variant.id) <> 6`,
  RANK_RECALCULATION: `
    select 'nothing is ranked' from village.feed_items having count(*) filter (where rank_score > 0) = 0`,
}

/** What is wrong, by type; empty, if all is as it should be. */
export async function wrongEffects(t: Village): Promise<string[]> {
  const wrong: string[] = []
  for (const [type, query] of Object.entries(EFFECTS))
    for (const row of await t.sql(query)) wrong.push(`${type}: ${Object.values(row)[0]}`)
  // A mail that the server got twice has one Message-ID: a mail program shows it once.
  const sent = await t.sql<{ id: string }>("select id from village.messages where status <> 'waiting'")
  for (const { id } of sent) {
    const mails = t.sandbox.mailboxes.mails.filter(({ messageId }) => messageId.includes(id))
    if (mails.length !== 1) wrong.push(`MESSAGE_RELAY: ${mails.length} mails of message ${id}`)
  }
  return wrong
}
