import { enqueued } from 'millrace/testing'
import sharp from 'sharp'
import { expect, test } from 'vitest'
import { screenshotsInUse } from '#src/telemetry/metrics'
import { followScreenshots } from '#src/telemetry/permits'
import { eventually } from '../../../../packages/engine/test/support/setup.ts'
import { hostileUrls, startCanary } from '../support/canary.ts'
import { addSite, captureSetup } from '../support/captures.ts'
import { startFeedServer } from '../support/feed-server.ts'

test('a site is shown as on a desk and as on a phone, is listed then, and its pictures are made smaller later', async () => {
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

test('each failure names the address: an answer of no use, a page that never loads, a download, and no server at all', async () => {
  await using server = await startFeedServer()
  await using t = await captureSetup({
    allow: [server.address, '127.0.0.1:9'],
    env: { VILLAGECOMPUTE_SCREENSHOTS_LOAD_TIMEOUT: '2' },
  })
  server.set('/download', { headers: { 'content-type': 'application/zip' }, body: 'PK' })
  server.set('/never', () => {})
  const expected: Record<string, string> = {
    [server.url('/gone')]: 'it answered 404.',
    [server.url('/never')]: 'it did not load within 2 s.',
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

/** Everything that a page can do to reach an address. */
const trap = (urls: readonly string[]): string => `<!doctype html><title>Trap</title><h1>Trap</h1><script>
for (const url of ${JSON.stringify(urls)}) {
  for (const [tag, name] of [['img', 'src'], ['script', 'src'], ['iframe', 'src'], ['link', 'href'], ['object', 'data'], ['video', 'src']]) {
    const element = document.createElement(tag)
    if (tag === 'link') element.rel = 'stylesheet'
    element[name] = url
    document.body.append(element)
  }
  try { fetch(url, { mode: 'no-cors' }).catch(() => {}) } catch {}
  try { new WebSocket(url.replace(/^http/, 'ws')) } catch {}
  try { new EventSource(url) } catch {}
  try { navigator.sendBeacon(url, 'x') } catch {}
  try { open(url) } catch {}
}
</script>`

test('no hostile address is touched: not as a site, by no redirect, and by nothing that a page does', async () => {
  await using canary = await startCanary('<title>inside</title>')
  await using server = await startFeedServer()
  await using t = await captureSetup({
    allow: [server.address],
    env: { VILLAGECOMPUTE_SCREENSHOTS_LOAD_TIMEOUT: '30' },
  })
  const hostile = hostileUrls(canary.port)
  const redirects = hostile.map((url, i) => {
    server.set(`/${i}`, { status: 302, headers: { location: url } })
    return server.url(`/${i}`)
  })
  server.set('/trap', { headers: { 'content-type': 'text/html' }, body: trap([...hostile, ...redirects]) })
  const direct = [`http://127.0.0.1:${canary.port}/`, `https://127.0.0.1:${canary.port}/`, redirects[1] ?? '']
  const refused = await Promise.all(direct.map((url) => t.begin(url)))
  const led = await t.begin(redirects[15] ?? '')
  const trapped = await t.begin(server.url('/trap'))
  const sandboxTrap = await t.begin(`${t.sandbox.urlOf('sites')}/trap?port=${canary.port}`)
  await t.works()
  for (const [i, job] of refused.entries())
    expect(await t.ended(job), direct[i]).toEqual({
      status: 'dead',
      reason: 'unrecoverable',
      error: `No screenshot of ${direct[i]}: its address, or one that it leads to, is not public.`,
    })
  // To a file.
  expect(await t.ended(led)).toMatchObject({ status: 'dead', error: expect.stringContaining('ERR_UNSAFE_REDIRECT') })
  expect(await t.ended(trapped)).toMatchObject({ status: 'completed', result: { title: 'Trap' } })
  expect(await t.ended(sandboxTrap)).toMatchObject({ status: 'completed', result: { title: 'A curious corner' } })
  // It did try.
  expect(new Set(server.asked.map(({ path }) => path)).size).toBeGreaterThan(hostile.length)
  expect(canary.touched()).toBe(0)
})

test('no more than the permitted captures run at once, whatever waits, and free places and gauge say so', async () => {
  await using server = await startFeedServer()
  await using t = await captureSetup({
    allow: [server.address],
    env: { VILLAGECOMPUTE_JOBS_SCREENSHOT_CONCURRENCY: '2' },
  })
  let [open, most] = [0, 0]
  const waiting: (() => void)[] = []
  server.set('/page', (_request, response) => {
    open += 1
    most = Math.max(most, open)
    waiting.push(() => {
      open -= 1
      response.writeHead(200, { 'content-type': 'text/html' }).end('<title>Page</title>')
    })
  })
  const jobs = await Promise.all(Array.from({ length: 4 }, () => t.begin(server.url('/page'))))
  const worker = await t.works()
  const stopFollowing = followScreenshots(worker, t.parts.contracts)
  const gauge = async () => (await screenshotsInUse.metric.get()).values[0]?.value
  await eventually(async () => open === 2)
  expect([worker.freePlaces('screenshots'), await gauge()]).toEqual([0, 2])
  const answering = setInterval(() => waiting.shift()?.(), 50)
  for (const job of jobs) expect(await t.ended(job)).toMatchObject({ status: 'completed' })
  clearInterval(answering)
  expect(most).toBe(2)
  await eventually(async () => worker.freePlaces('screenshots') === 2)
  expect(await gauge()).toBe(0)
  stopFollowing()
})
