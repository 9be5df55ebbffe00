// Feeds to fetch: RSS 2.0 over HTTP on loopback, each with its own items, after a delay like that of a network.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface Publisher extends AsyncDisposable {
  /** host:port. */
  readonly address: string
  urls(delayMs: number): string[]
}

export async function startPublisher(feeds: number, itemsEach: number): Promise<Publisher> {
  const bodies = Array.from({ length: feeds }, (_, feed) => bodyOf(feed, itemsEach))
  const server = createServer((request, response) => {
    const [, delayMs, feed] = (request.url ?? '').split('/').map(Number)
    const body = bodies[feed ?? 0] ?? ''
    setTimeout(() => response.writeHead(200, { 'content-type': 'application/rss+xml' }).end(body), delayMs)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = `127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    address,
    urls: (delayMs) => bodies.map((_, feed) => `http://${address}/${delayMs}/${feed}`),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

const PARAGRAPH =
  '<p>The council heard forty speakers before the vote about a <em>later bus</em> &amp; street trees.</p>'

function bodyOf(feed: number, count: number): string {
  const items = Array.from({ length: count }, (_, i) => {
    const url = `https://news.example/${feed}/${i}`
    const date = new Date(Date.UTC(2026, 10, 1, 0, i)).toUTCString()
    const escaped = PARAGRAPH.replaceAll('&', '&amp;').replaceAll('<', '&lt;')
    return `<item><title>Story ${i} of feed ${feed}</title><link>${url}</link><guid>${url}</guid><pubDate>${date}</pubDate>
<description>${escaped}</description><content:encoded><![CDATA[${PARAGRAPH.repeat(6)}]]></content:encoded></item>`
  })
  return `<?xml version="1.0"?><rss version="2.0" xmlns:content="http://purl.org/rss/1.0/modules/content/"><channel>
<title>Feed ${feed}</title><link>https://news.example/${feed}</link><description>x</description>${items.join('\n')}</channel></rss>`
}
