// A publisher on loopback: what it answers with is set by path, and what it was asked is kept.
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface FeedAnswer {
  readonly status?: number
  readonly headers?: Record<string, string>
  readonly body?: string | Buffer
}

type Answering = FeedAnswer | ((request: IncomingMessage, response: ServerResponse) => void)

export interface FeedServer extends AsyncDisposable {
  /** host:port, for the allow-list of the egress. */
  readonly address: string
  readonly asked: readonly { path: string; headers: IncomingHttpHeaders }[]
  url(path: string): string
  set(path: string, answer: Answering): void
}

export async function startFeedServer(): Promise<FeedServer> {
  const answers = new Map<string, Answering>()
  const asked: { path: string; headers: IncomingHttpHeaders }[] = []
  const server = createServer((request, response) => {
    const path = request.url ?? '/'
    asked.push({ path, headers: request.headers })
    const answer = answers.get(path) ?? { status: 404 }
    if (typeof answer === 'function') answer(request, response)
    else response.writeHead(answer.status ?? 200, answer.headers).end(answer.body ?? '')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = `127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    ...{ address, asked },
    url: (path) => `http://${address}${path}`,
    set: (path, answer) => void answers.set(path, answer),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

export interface Item {
  readonly guid?: string
  readonly title?: string
  readonly link?: string
  readonly description?: string
  readonly date?: string
}

/** RSS 2.0 of these items, escaped as it should be. */
export const rss = (items: readonly Item[]): string =>
  `<?xml version="1.0"?><rss version="2.0"><channel><title>A feed</title><link>https://news.example/</link>
${items.map(item).join('\n')}</channel></rss>`

function item({ guid, title, link, description, date }: Item): string {
  const element = (name: string, value: string | undefined) =>
    value === undefined ? '' : `<${name}>${value.replaceAll('&', '&amp;').replaceAll('<', '&lt;')}</${name}>`
  return `<item>${element('title', title)}${element('link', link)}${element('guid', guid)}${element('description', description)}${element('pubDate', date)}</item>`
}

export const items = (count: number, prefix = 'story'): Item[] =>
  Array.from({ length: count }, (_, i) => ({
    guid: `${prefix}-${i}`,
    title: `${prefix} number ${i}`,
    link: `https://news.example/${prefix}/${i}`,
    description: `<p>What happened in ${prefix} ${i}</p>`,
    date: new Date(Date.UTC(2026, 0, 1, 0, i)).toUTCString(),
  }))
