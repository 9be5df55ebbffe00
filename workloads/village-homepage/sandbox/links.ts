// What links of good sites lead to: pages that answer, have moved or gone, and servers that refuse, fail or take their time.
import { type Answer, type Call, type Service, text } from '@millrace/sandbox'

const SLOW_MS = 15_000

interface LinksOptions {
  /** Whether the slow one really takes its time. */
  readonly isSlow: boolean
}

export class Links implements Service {
  readonly #options: LinksOptions

  constructor(options: LinksOptions) {
    this.#options = options
  }

  async answer({ method, path, headers }: Call): Promise<Answer> {
    if (path === '/moved') return moved(301, `http://${headers.host}/links/choir`)
    if (path === '/away') return moved(302, `http://${headers.host}/links/choir`)
    if (path === '/gone') return text(404, 'This page is not here any more.')
    if (path === '/busy') return text(503, 'Come back later.')
    if (path === '/no-head' && method === 'HEAD') return text(405, '', { allow: 'GET' })
    if (path === '/slow' && this.#options.isSlow) await new Promise((resolve) => setTimeout(resolve, SLOW_MS))
    if (!PAGES.includes(path)) return text(404, 'There is no such page.')
    return { status: 200, headers: HTML, body: `<!doctype html><title>Sandbox</title><h1>A page of a neighbour</h1>` }
  }

  limited(): Answer {
    return text(429, 'too many requests', { 'retry-after': '60' })
  }
}

const PAGES = ['/choir', '/no-head', '/slow']
const HTML = { 'content-type': 'text/html; charset=utf-8' }
const moved = (status: number, location: string): Answer => text(status, 'It is elsewhere.', { location })
