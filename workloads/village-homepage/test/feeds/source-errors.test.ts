import { expect, test } from 'vitest'
import { signal } from '../../../../packages/engine/test/support/setup.ts'
import type { FeedAnswer } from '../support/feed-server.ts'
import { items, rss } from '../support/feed-server.ts'
import { feedSetup } from '../support/feeds.ts'

const HOUR_MS = 3_600_000
const inAnHour = new Date(Math.ceil((Date.now() + HOUR_MS) / 1_000) * 1_000)

/** What a fetch does to a source, and what the run does then. */
const FAILURES: Record<
  string,
  { answer: FeedAnswer; errorType: string; outcome?: string; delayMs?: [number, number] }
> = {
  'not found': { answer: { status: 404 }, errorType: 'http_404' },
  gone: { answer: { status: 410 }, errorType: 'http_410' },
  'another refusal': { answer: { status: 451 }, errorType: 'http_451' },
  'a broken server': { answer: { status: 500 }, errorType: 'http_500' },
  'an unasked 304': { answer: { status: 304 }, errorType: 'http_304' },
  'broken XML': {
    answer: { body: '<?xml version="1.0"?><rss version="2.0"><channel><item>' },
    errorType: 'InvalidXml',
  },
  'a web page': { answer: { body: '<!doctype html><html><body>Hello</body></html>' }, errorType: 'InvalidXml' },
  'an empty answer': { answer: { body: '' }, errorType: 'InvalidXml' },
  'too often, without a header': { answer: { status: 429 }, errorType: 'http_429' },
  'too often, in seconds': {
    answer: { status: 429, headers: { 'retry-after': '120' } },
    ...{ errorType: 'http_429', outcome: 'snoozed', delayMs: [120_000, 120_000] },
  },
  'too often, with a date': {
    answer: { status: 429, headers: { 'retry-after': inAnHour.toUTCString() } },
    ...{ errorType: 'http_429', outcome: 'snoozed', delayMs: [HOUR_MS - 60_000, HOUR_MS + 1_000] },
  },
  'too often, for a year': {
    answer: { status: 429, headers: { 'retry-after': '31536000' } },
    ...{ errorType: 'http_429', outcome: 'snoozed', delayMs: [24 * HOUR_MS, 24 * HOUR_MS] },
  },
}

test('each failure has its type, is counted, and is tried again when it makes sense', async () => {
  await using t = await feedSetup()
  for (const [name, { answer, errorType, outcome = 'retry', delayMs = [22_500, 37_500] }] of Object.entries(FAILURES)) {
    const path = `/${encodeURIComponent(name)}`
    t.server.set(path, answer)
    const id = await t.follow(path)
    const run = await t.refresh(id)
    expect(run.outcome, name).toBe(outcome)
    const delay = 'delayMs' in run ? Number(run.delayMs) : 0
    expect(delay, name).toBeGreaterThanOrEqual(Number(delayMs[0]))
    expect(delay, name).toBeLessThanOrEqual(Number(delayMs[1]))
    const source = await t.source(id)
    expect(source, name).toMatchObject({
      last_error_type: errorType,
      error_count: 1,
      is_active: true,
      last_fetched_at: null,
    })
    expect(source.last_error_message, name).toMatch(/^[A-Z].*\.$/)
  }
})

test('a publisher that does not answer in time, cannot be reached or sends too much is told apart', async () => {
  await using t = await feedSetup({
    env: { VILLAGECOMPUTE_FEEDS_TIMEOUT: '1', VILLAGECOMPUTE_FEEDS_MAX_BYTES: '2000' },
    allow: ['127.0.0.1:1', 'no-such-host.invalid:80'],
  })
  t.server.set('/silent', () => {})
  t.server.set('/stalled', (_request, response) => void response.writeHead(200).write('<rss'))
  t.server.set('/large', { body: rss(items(50)) })
  t.server.set('/loop', { status: 302, headers: { location: '/loop' } })
  t.server.set('/inside', { status: 302, headers: { location: 'http://169.254.169.254/latest/meta-data' } })
  const expected = {
    '/silent': 'HttpTimeoutException',
    '/stalled': 'HttpTimeoutException',
    '/large': 'BodyTooLarge',
    '/loop': 'TooManyRedirects',
    '/inside': 'AddressRefused',
    'http://127.0.0.1:1/': 'ConnectionFailed',
    'http://no-such-host.invalid:80/': 'DnsFailure',
    [t.server.url('/').replace('http:', 'https:')]: 'TlsFailure',
  }
  const found: Record<string, string | null> = {}
  for (const path of Object.keys(expected)) {
    const id = await t.follow(path)
    expect(await t.refresh(id), path).toMatchObject({ outcome: 'retry' })
    found[path] = (await t.source(id)).last_error_type
  }
  expect(found).toEqual(expected)
})

test('five failures in a row disable a source, whatever jobs they belong to; a success between starts anew', async () => {
  await using t = await feedSetup()
  const id = await t.follow('/feed', { name: 'Gazette' })
  for (const _ of [1, 2, 3, 4]) expect(await t.refresh(id)).toMatchObject({ outcome: 'retry' })
  t.server.set('/feed', { body: rss(items(1)) })
  expect(await t.refresh(id)).toMatchObject({ outcome: 'completed' })
  expect(await t.source(id)).toMatchObject({ error_count: 0, last_error_type: null, last_error_message: null })
  t.server.set('/feed', { status: 503 })
  for (const _ of [1, 2, 3, 4]) expect(await t.refresh(id)).toMatchObject({ outcome: 'retry' })
  const fifth = await t.refresh(id)
  expect(fifth).toMatchObject({ outcome: 'dead', reason: 'discarded' })
  const state = await t.source(id)
  expect(state).toMatchObject({ is_active: false, error_count: 5, last_error_type: 'http_503' })
  expect(state.disabled_at).toBeInstanceOf(Date)
  const [letter] = await t.sql<{ last_error: string }>('select last_error from millrace.delayed_jobs_dlq')
  for (const part of ['Gazette', t.server.url('/feed'), '503', `PATCH /admin/api/rss-sources/${id}`])
    expect(letter?.last_error).toContain(part)
  expect(await t.refresh(id)).toMatchObject({ result: { status: 'inactive' } })
})

test('the recipe of operators enables a disabled source again', async () => {
  await using t = await feedSetup()
  t.server.set('/feed', { body: rss(items(1)) })
  const id = await t.follow('/feed', { is_active: false, error_count: 5, last_error_message: 'gone' })
  await t.sql(
    'UPDATE rss_sources SET error_count = 0, last_error_message = NULL, is_active = true, updated_at = NOW() WHERE id = $1',
    [id],
  )
  expect(await t.refresh(id, { isForced: false })).toMatchObject({ result: { new: 1 } })
})

test('a run that is stopped says nothing about its source', async () => {
  await using t = await feedSetup()
  const asked = signal()
  t.server.set('/silent', () => asked.resolve())
  const id = await t.follow('/silent')
  const worker = await t.work({ gracePeriod: '10ms' })
  await t.millrace.enqueue(t.parts.contracts.RSS_FEED_REFRESH, { source_id: id })
  await asked.promise
  await worker.stop()
  expect(await t.source(id)).toMatchObject({ error_count: 0, last_error_type: null })
})
