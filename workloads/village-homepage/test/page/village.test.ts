import { expect, test } from 'vitest'
import { stormUntil } from '#sandbox/weather'
import { keepAlerts, placesOf } from '#src/weather/weather-store'
import { adminSetup } from '../support/admin.ts'
import { silent } from '../support/setup.ts'

const NOW = new Date('2026-11-18T15:00:00Z')
const TAGS = { topics: ['Bridge', 'River', 'Council'], sentiment: 'positive', categories: ['Local'], confidence: 0.9 }

/** The page at a moment that the test moves. Visitors who look within two seconds share what was read. */
async function village() {
  let now = NOW
  const t = await adminSetup({ clock: { now: () => now }, sandbox: { now: () => now } })
  const [source] = await t.sql<{ id: string }>(
    "insert into village.rss_sources (name, url) values ('Gazette', 'https://g.example/') returning id",
  )
  return Object.assign(t, {
    moveTo(at: string) {
      now = new Date(at)
    },
    read: async (path = '/village') => (await t.send(`GET ${path}`)).text(),
    story: (title: string, { url = 'https://g.example/1', tags = null as object | null, minutesAgo = 5 } = {}) =>
      t.sql(
        `insert into village.feed_items (source_id, item_guid, title, url, published_at, content_hash, ai_tagged, ai_tags)
        values ($1, $2, $2, $3, $4, md5($2), $5, $6)`,
        [
          source?.id,
          title,
          url,
          new Date(now.getTime() - minutesAgo * 60_000),
          tags !== null,
          tags && JSON.stringify(tags),
        ],
      ),
  })
}

test('an empty village says what is coming', async () => {
  await using t = await village()
  const page = await t.read()
  expect(page).toContain('No news yet.')
  expect(page).toContain('No quotes yet.')
  expect(page).toContain('No forecast yet.')
  expect(page).toContain('Nothing is for sale yet.')
  expect(page).toContain('No sites yet.')
  expect(page).toMatch(/waits for <a href="\/admin\/jobs\?q=type%3ASTOCK_REFRESH">STOCK_REFRESH<\/a>/)
})

test('good sites stand best first, with their state; those that are not listed do not', async () => {
  await using t = await village()
  await t.sql(`insert into village.good_sites (url, title, score, status) values
    ('https://a.example/', 'Second', 0.2, 'listed'), ('https://b.example/', 'First <b>', 0.6, 'listed'),
    ('javascript:alert(1)', 'Odd', 0.1, 'listed'), ('https://d.example/', 'Gone', 0, 'unlisted')`)
  await t.sql(`insert into village.site_links (site_id, url, state)
    select id, url, 'ok' from village.good_sites where title = 'Second'`)
  const page = await t.read('/village/blocks/sites')
  expect(page).toMatch(/First &lt;b&gt;[\s\S]*not looked at yet[\s\S]*Second[\s\S]*works[\s\S]*Odd/)
  expect(page).toContain('href="#sites"')
  expect(page).not.toMatch(/Gone|javascript:/)
})

test('stories have source, age, mood and topics; those without tags and those that were guessed say so', async () => {
  await using t = await village()
  await t.story('Bridge opens', { tags: TAGS })
  await t.story('Fog again', { tags: { ...TAGS, sentiment: 'negative', confidence: 0.3 }, minutesAgo: 180 })
  await t.story('Untold', { minutesAgo: 2 * 24 * 60 })
  const page = await t.read('/village/blocks/today')
  expect(page).toMatch(/Bridge opens<\/a><\/h3>\s*<p class="meta"><span>Gazette<\/span> <time [^>]+>5 min ago/)
  expect(page).toMatch(/<p class="tags"><span class="mood positive">good news<\/span>/)
  expect(page).toContain('<span class="topic">River</span>')
  expect(page).toMatch(/<p class="tags unsure"><span class="mood negative">bad news<\/span>[\s\S]*a guess/)
  expect(page).toMatch(/3 h ago[\s\S]*2 days ago[\s\S]*not tagged yet/)
})

test('ranked stories stand as they are ranked, and one that has come since stands by its age', async () => {
  await using t = await village()
  await t.story('Ranked low', { tags: TAGS, minutesAgo: 60 })
  await t.story('Ranked high', { tags: TAGS, minutesAgo: 600 })
  await t.story('Just in', { minutesAgo: 1 })
  await t.sql(`update village.feed_items set rank_score = case title when 'Ranked low' then 0.01 else 0.5 end
    where title like 'Ranked%'`)
  expect(await t.read('/village/blocks/today')).toMatch(/Ranked high[\s\S]*Just in[\s\S]*Ranked low/)
})

test('what a feed says is text: no markup of it, no script and no link of another kind gets into the page', async () => {
  await using t = await village()
  await t.story('<img src=x onerror=alert(1)>', {
    url: 'javascript:alert(1)',
    tags: { ...TAGS, topics: ['<script>alert(2)</script>', '"><b>', '</li>'], sentiment: '<i>' },
  })
  const response = await t.send('GET /village')
  const page = await response.text()
  expect(page).not.toMatch(/<img|<script>|javascript:|<b>|<i>/)
  expect(page).toContain('&lt;img src=x onerror=alert(1)&gt;')
  const policy = response.headers.get('content-security-policy') ?? ''
  expect(policy).toContain("default-src 'none'")
  expect(policy).not.toContain('unsafe')
  expect(page.match(/<script\b[^>]*>/g)).toEqual(['<script src="/village/page.js" defer>'])
  expect(page).not.toMatch(/<[^>]* (style|on\w+)=/)
})

test('a category in the address filters the news, and one that does not exist is ignored', async () => {
  await using t = await village()
  await t.story('Bridge opens', { tags: TAGS })
  await t.story('Chip shortage ends', { tags: { ...TAGS, categories: ['Technology', 'Business'] } })
  const local = await t.read('/village?category=Local')
  expect(local).toContain('Bridge opens')
  expect(local).not.toContain('Chip shortage')
  expect(local).toMatch(/category=Local#today" aria-current="page">Local/)
  expect(local).toContain('data-block="/village/blocks/today?category=Local"')
  expect(await t.read('/village?category=Sports')).toContain('There is no news about Sports this week.')
  expect(await t.read('/village?category=<b>')).toContain('Chip shortage ends')
})

test('one feed does not fill the page', async () => {
  await using t = await village()
  for (let i = 0; i < 6; i++) await t.story(`Story ${i}`, { minutesAgo: i })
  expect((await t.read()).match(/Story \d/g)).toHaveLength(4)
})

test('a block has an ETag, which changes with what it shows', async () => {
  await using t = await village()
  const first = await t.send('GET /village/blocks/today')
  const etag = first.headers.get('etag') ?? ''
  const again = await t.send('GET /village/blocks/today', { headers: { 'if-none-match': etag } })
  expect([again.status, await again.text()]).toEqual([304, ''])
  await t.story('Bridge opens', { tags: TAGS })
  const fresh = async () => (await t.send('GET /village/blocks/today', { headers: { 'if-none-match': etag } })).status
  await expect.poll(fresh).toBe(200)
})

test('an alert is a banner until it ends or its time is over', async () => {
  await using t = await village()
  const [place] = await placesOf(t.parts.database, { provider: 'nws' })
  const storm = { ...stormUntil(new Date('2026-11-18T16:00:00Z')), expiresAt: '2026-11-18T16:00:00Z' }
  await keepAlerts(t.parts.database, place as never, { alerts: [storm], now: NOW })
  const page = await t.read()
  expect(page).toMatch(/role="status" aria-live="polite"><p class="alert">/)
  expect(page).toMatch(/<strong>Severe Thunderstorm Warning<\/strong> for Montpelier until 11:00: gusts/)
  const { Blocks } = await import('#src/page/blocks')
  const view = {
    parts: t.parts,
    millrace: t.millrace,
    basePath: '',
    category: undefined,
    showsJobs: false,
    onError() {},
  }
  const banner = async (now: string) => (await new Blocks().rendered('alerts', { ...view, now: new Date(now) })).html
  expect(await banner('2026-11-18T15:59:00Z')).toContain('alert')
  expect(await banner('2026-11-18T16:01:00Z')).toBe('')
  await keepAlerts(t.parts.database, place as never, { alerts: [], now: NOW })
  expect(await banner('2026-11-18T15:59:00Z')).toBe('')
})

test('a quote tells its direction by a sign and a word, when it was fetched, and whether it is stale', async () => {
  await using t = await village()
  await t.sql(`insert into village.stock_quotes
    (symbol, price, change, change_percent, previous_close, trading_day, source, fetched_at)
    values ('AAPL', 101, 1, 1, 100, '2026-11-18', 'alpha-vantage', '2026-11-18T14:35:00Z'),
      ('MSFT', 99, -1, -1, 100, '2026-11-18', 'alpha-vantage', '2026-11-18T09:00:00Z')`)
  const page = await t.read('/village/blocks/quotes')
  expect(page).toMatch(/AAPL<small>as of 09:35<\/small>/)
  expect(page).toMatch(/<span aria-hidden="true">▲<\/span> up 1\.00/)
  expect(page).toMatch(/MSFT<small>as of 04:00 · stale<\/small>/)
  expect(page).toMatch(/<span aria-hidden="true">▼<\/span> down 1\.00/)
})

test('visitors of a real village are not told of jobs and budgets', async () => {
  await using t = await village()
  t.parts.site.open({ mode: 'work', logger: silent })
  const page = await t.read()
  expect(page).not.toMatch(/_REFRESH|AI_TAGGING|budget|\/admin/i)
  expect(await t.read('/village/blocks/budget')).toBe('')
})

test('the budget says what is used and what follows', async () => {
  await using t = await village()
  const month = new Date().toISOString().slice(0, 7)
  await t.sql(
    `insert into ai_usage_tracking (month, provider, estimated_cost_cents, budget_limit_cents)
    values ($1, 'anthropic', 400, 500)`,
    [`${month}-01`],
  )
  const block = await t.read('/village/blocks/budget')
  expect(block).toContain('$4.00 of $5.00 used this month, 80 %. <strong>REDUCE: 10 stories at a time</strong>.')
  expect(block).toContain('0 of 0 stories')
})

test('a block that fails leaves the others standing', async () => {
  await using t = await village()
  await t.story('Bridge opens', { tags: TAGS })
  await t.sql('drop table village.stock_quotes')
  const page = await t.read()
  expect(page).toContain('This part of the page cannot be shown now.')
  expect(page).toContain('Bridge opens')
})

test('the page is read only, and what is not there says so', async () => {
  await using t = await village()
  const posted = await t.send('POST /village')
  expect([posted.status, posted.headers.get('allow')]).toEqual([405, 'GET, HEAD'])
  for (const path of ['/village/nothing', '/village/blocks/nothing', '/village/blocks/'])
    expect((await t.send(`GET ${path}`)).status).toBe(404)
  const style = await t.send('GET /village/style.css')
  expect(style.headers.get('content-type')).toBe('text/css; charset=utf-8')
  const script = await t.send('GET /village/page.js')
  expect((await script.text()).length).toBeLessThan(3_000)
})
