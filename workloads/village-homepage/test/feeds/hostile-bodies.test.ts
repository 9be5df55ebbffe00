import { brotliCompressSync, gzipSync } from 'node:zlib'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { FeedAnswer } from '../support/feed-server.ts'
import { feedSetup } from '../support/feeds.ts'

const MB = 1024 * 1024
const HEAD = '<?xml version="1.0"?>'
const rss = (inner: string): string => `${HEAD}<rss version="2.0"><channel><title>x</title>${inner}</channel></rss>`
const item = (description: string): string =>
  `<item><title>t</title><link>https://news.example/t</link><description>${description}</description></item>`
const zeros = Buffer.alloc(60 * MB)

/** By what it is: the answer, and the error type, or how many entries survive. */
const BODIES: Record<string, readonly [answer: FeedAnswer, ends: string | number]> = {
  'an entity bomb': [
    { body: `${HEAD}<!DOCTYPE l [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;">]>${rss('&b;')}` },
    'InvalidXml',
  ],
  '10,000 DOCTYPEs': [{ body: HEAD + '<!DOCTYPE rss>'.repeat(10_000) + rss('') }, 'InvalidXml'],
  'depth 10,000': [{ body: rss('<a>'.repeat(10_000) + '</a>'.repeat(10_000)) }, 'InvalidXml'],
  'depth 10,000 that is never closed': [{ body: rss('<a>'.repeat(10_000)) }, 'InvalidXml'],
  'JSON of depth 100,000': [
    { body: `{"version":"https://jsonfeed.org/version/1.1","items":${'['.repeat(100_000)}` },
    'InvalidXml',
  ],
  'a body of 50 MB': [{ body: Buffer.alloc(50 * MB, 'x') }, 'BodyTooLarge'],
  'a zip bomb': [{ body: gzipSync(zeros), headers: { 'content-encoding': 'gzip' } }, 'BodyTooLarge'],
  'a brotli bomb': [{ body: brotliCompressSync(zeros), headers: { 'content-encoding': 'br' } }, 'BodyTooLarge'],
  'gzip that is none': [{ body: 'hello', headers: { 'content-encoding': 'gzip' } }, 'BadResponse'],
  '300,000 elements': [{ body: rss('<a/>'.repeat(300_000)) }, 'InvalidXml'],
  '9 MB of ampersands': [{ body: rss(item('&'.repeat(9 * MB))) }, 'InvalidXml'],
  '3 MB of brackets as author': [
    { body: rss(`<item><title>t</title><link>https://a.example/</link><author>${'('.repeat(3 * MB)}</author></item>`) },
    1,
  ],
  'an attribute of 1 MB': [{ body: rss(`<a b="${'c'.repeat(MB)}"/>`) }, 'InvalidXml'],
  'markup of depth 10,000 in a description': [{ body: rss(item(`<![CDATA[${'<div>'.repeat(10_000)}deep]]>`)) }, 1],
  'a list from a billion on in Roman numbers': [
    { body: rss(item(`<![CDATA[<ol type="I" start="999999999">${'<li>x</li>'.repeat(5_000)}</ol>]]>`)) },
    1,
  ],
  '60 entries of 50 kB markup': [
    { body: rss(item(`<![CDATA[${'<p>hello <b>x</b></p>'.repeat(2_700)}]]>`).repeat(60)) },
    60,
  ],
  '40,000 entries': [{ body: rss(item('hello').repeat(40_000)) }, 1_000],
}

let t: Awaited<ReturnType<typeof feedSetup>>
beforeAll(async () => {
  t = await feedSetup()
})
afterAll(() => t[Symbol.asyncDispose]())

test.each(Object.keys(BODIES))('%s ends typed, in bounded memory, and leaves the loop free', async (name) => {
  const [answer, ends] = BODIES[name] as (typeof BODIES)[string]
  const path = `/${encodeURIComponent(name)}`
  t.server.set(path, answer)
  const id = await t.follow(path)
  const cost = watchCost()
  const run = await t.refresh(id)
  const { mostBytes, longestMs } = cost.stop()
  if (typeof ends === 'number') expect(run).toMatchObject({ result: { fetched: ends } })
  else expect((await t.source(id)).last_error_type).toBe(ends)
  expect(mostBytes).toBeLessThan(100 * MB)
  expect(longestMs).toBeLessThan(1_000)
})

test('a byte a second ends at the timeout of a fetch', async () => {
  await using t = await feedSetup({ env: { VILLAGECOMPUTE_FEEDS_TIMEOUT: '2' } })
  t.server.set('/slowly', (_request, response) => {
    response.writeHead(200)
    const timer = setInterval(() => response.write('<'), 1_000)
    response.on('close', () => clearInterval(timer))
  })
  const id = await t.follow('/slowly')
  const startedAt = performance.now()
  await t.refresh(id)
  expect(performance.now() - startedAt).toBeGreaterThan(1_900)
  expect(await t.source(id)).toMatchObject({ last_error_type: 'HttpTimeoutException', error_count: 1 })
})

/** How far memory grows, and for how much time of the processor the loop was not free: others use this machine, too. */
function watchCost() {
  const used = () => process.memoryUsage().arrayBuffers + process.memoryUsage().heapUsed
  const before = used()
  let [mostBytes, longestMs, last] = [0, 0, process.cpuUsage()]
  const look = () => {
    const { user, system } = process.cpuUsage(last)
    last = process.cpuUsage()
    longestMs = Math.max(longestMs, (user + system) / 1_000)
    mostBytes = Math.max(mostBytes, used() - before)
  }
  const timer = setInterval(look, 5)
  return {
    stop: () => {
      clearInterval(timer)
      look()
      return { mostBytes, longestMs }
    },
  }
}
