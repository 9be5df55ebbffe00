import { enqueued } from 'millrace/testing'
import sharp from 'sharp'
import { expect, test } from 'vitest'
import { addSite, captureSetup } from '../support/captures.ts'
import { startFeedServer } from '../support/feed-server.ts'

test('a site is shown as on a desk and as on a phone, is listed then, and its pictures are made smaller later', {
  timeout: 60_000,
}, async () => {
  await using t = await captureSetup()
  const url = `${t.sandbox.urlOf('sites')}/library`
  const site = await addSite(t, url, { title: t.sandbox.address })
  const job = await t.begin(url, site)
  await t.works()
  expect(await t.ended(job)).toMatchObject({
    status: 'completed',
    result: { title: 'The village library', final_url: url, media: [{ viewport: 'desktop' }, { viewport: 'phone' }] },
  })
  const rows = await t.sql<{ id: string; role: string; bytes: Buffer }>(
    'select * from village.media where owner_id = $1 order by role',
    [site],
  )
  const shots = await Promise.all(rows.map(async ({ role, bytes }) => ({ role, ...(await sharp(bytes).metadata()) })))
  expect(shots).toMatchObject([
    { role: 'desktop', format: 'webp', width: 1280, height: 800 },
    { role: 'phone', format: 'webp', width: 390, height: 844 },
  ])
  // Drawn: a picture of nothing has one colour.
  for (const { bytes } of rows) expect((await sharp(bytes).stats()).entropy).toBeGreaterThan(1)
  expect(await t.sql('select title, status from village.good_sites')).toEqual([
    { title: 'The village library', status: 'listed' },
  ])
  const later = await enqueued(t.millrace, t.parts.contracts.IMAGE_PROCESSING)
  expect(later.map(({ payload }) => payload.media_id).sort()).toEqual(rows.map(({ id }) => id).sort())
})

test('each failure names the address: an answer of no use, a page that never loads, a download, and no server at all', {
  timeout: 60_000,
}, async () => {
  await using server = await startFeedServer()
  await using t = await captureSetup({
    allow: [server.address, '127.0.0.1:9'],
    env: { VILLAGECOMPUTE_SCREENSHOTS_LOAD_TIMEOUT: '5' },
  })
  server.set('/download', { headers: { 'content-type': 'application/zip' }, body: 'PK' })
  server.set('/never', () => {})
  const expected: Record<string, string> = {
    [server.url('/gone')]: 'it answered 404.',
    [server.url('/never')]: 'it did not load within 5 s.',
    [server.url('/download')]: 'it is a download, and no web page.',
    [`${t.sandbox.urlOf('sites')}/down`]: 'it answered 503.',
  }
  const jobs = await Promise.all(Object.keys(expected).map((url) => t.begin(url)))
  await t.works()
  for (const [i, [url, why]] of Object.entries(expected).entries())
    expect(await t.ended(jobs[i] ?? ''), url).toEqual({
      status: 'dead',
      reason: 'exhausted',
      error: `No screenshot of ${url}: ${why}`,
    })
  expect(await t.sql('select from village.media')).toEqual([])
  expect(await t.sql("select from village.good_sites where status = 'listed'")).toEqual([])
})
