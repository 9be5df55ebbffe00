import { parseFeed } from 'feedsmith'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { FEEDS } from '#sandbox/feeds'
import { type Sandbox, startSandbox } from '#sandbox/server'

let sandbox: Sandbox
beforeAll(async () => {
  sandbox = await startSandbox({ misbehaves: false })
})
afterAll(() => sandbox.stop())

const post = (path: string, body: unknown, headers: Record<string, string> = {}) =>
  fetch(`${sandbox.url}${path}`, { method: 'POST', body: JSON.stringify(body), headers })

test('twelve feeds answer in six formats and three charsets', async () => {
  const formats = new Set<string>()
  for (const { path, quirk } of FEEDS) {
    if (quirk === 'gone' || quirk === 'torn' || quirk === 'busy') continue
    const response = await fetch(`${sandbox.urlOf('feeds')}/${path}`)
    const charset = /charset=([\w-]+)/.exec(response.headers.get('content-type') ?? '')?.[1]
    const text = new TextDecoder(charset, { fatal: true }).decode(await response.arrayBuffer())
    const parsed = parseFeed(text)
    formats.add(`${parsed.format} ${charset}`)
    const entries = parsed.format === 'atom' ? parsed.feed.entries : parsed.feed.items
    expect(entries, path).toHaveLength(12)
  }
  expect(FEEDS).toHaveLength(12)
  expect([...formats].sort()).toEqual([
    'atom utf-8',
    'json utf-8',
    'rdf utf-8',
    'rss iso-8859-1',
    'rss shift_jis',
    'rss utf-8',
  ])
})

test('a feed is not sent again while it is the same, and gets a story with time', async () => {
  let now = new Date('2026-11-18T10:00:00Z')
  const own = await startSandbox({ misbehaves: false, now: () => now })
  const url = `${own.urlOf('feeds')}/gazette`
  const first = await fetch(url)
  const etag = first.headers.get('etag') ?? ''
  expect((await fetch(url, { headers: { 'if-none-match': etag } })).status).toBe(304)
  now = new Date('2026-11-18T10:05:00Z')
  const second = await fetch(url, { headers: { 'if-none-match': etag } })
  expect(second.status).toBe(200)
  expect(second.headers.get('etag')).not.toBe(etag)
  await own.stop()
})

test('the feeds that misbehave do so, and those that can recover', async () => {
  const statuses = async (path: string, count: number) => {
    const found: number[] = []
    for (let i = 0; i < count; i++) found.push((await fetch(`${sandbox.urlOf('feeds')}/${path}`)).status)
    return found
  }
  expect(await statuses('old-mill', 2)).toEqual([404, 404])
  expect(await statuses('busy-bee', 2)).toEqual([429, 200])
  const torn = async () => (await fetch(`${sandbox.urlOf('feeds')}/torn-page`)).text()
  expect([await torn(), await torn(), await torn(), await torn()].map((text) => text.endsWith('</rss>'))).toEqual([
    ...[false, false, false, true],
  ])
})

test('its page shows what was received, as text', async () => {
  const hostile = '<script>alert(1)</script>'
  const sent = await post('/slack/ops-alerts', { text: hostile })
  expect(sent.status).toBe(200)
  const event = { routing_key: 'key', event_action: 'trigger', dedup_key: 'k' }
  await post('/pagerduty/v2/enqueue', { ...event, payload: { summary: hostile, source: 'HIGH', severity: 'error' } })
  const page = await (await fetch(sandbox.url)).text()
  expect(page).not.toContain(hostile)
  expect(page.match(/&#60;script&#62;alert\(1\)/g)).toHaveLength(2)
})

test('Alpha Vantage stops after 25 requests of a day; Stooq has the same prices', async () => {
  const now = new Date('2026-11-18T15:00:00Z')
  const own = await startSandbox({ misbehaves: false, now: () => now })
  const ask = async (): Promise<Record<string, Record<string, string>>> =>
    (await fetch(`${own.urlOf('alpha-vantage')}/query?function=GLOBAL_QUOTE&symbol=IBM&apikey=k`)).json() as never
  const price = (await ask())['Global Quote']?.['05. price']
  for (let i = 1; i < 25; i++) await ask()
  expect(await ask()).toEqual({ Information: expect.stringContaining('25 requests per day') })
  const csv = await (await fetch(`${own.urlOf('stooq')}/q/l/?s=ibm.us&f=sd2t2ohlcv&h&e=csv`)).text()
  expect(csv.split('\r\n')[1]?.split(',')[6]).toBe(Number(price).toFixed(2))
  await own.stop()
})
