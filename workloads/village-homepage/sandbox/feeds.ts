// Twelve feeds in many formats and charsets. Each gets a new story now and then; five misbehave on purpose.
import { createHash } from 'node:crypto'
import { brotliCompressSync, gzipSync } from 'node:zlib'
import { type Answer, type Call, type Service, text } from '@millrace/sandbox'
import { type Charset, encoded } from './charsets.ts'
import { CONTENT_TYPES, type Format, type Story, writers } from './feed-format.ts'
import { BEATS, type Beat, storyOf } from './stories.ts'

export interface SandboxFeed {
  readonly name: string
  /** Below the address of the feeds. */
  readonly path: string
  readonly category: 'Breaking News' | 'Tech News' | 'Analysis/Opinion' | 'Sports/Entertainment'
  readonly format: Format
  readonly beat: keyof typeof BEATS
  readonly everyMinutes: number
  readonly charset?: Charset
  readonly compression?: 'gzip' | 'br'
  /** What it does wrong. */
  readonly quirk?: 'gone' | 'busy' | 'torn' | 'untitled' | 'slow'
}

export const FEEDS: readonly SandboxFeed[] = [
  feed('Village Gazette', 'gazette', 'Breaking News', 'rss-2.0', { beat: 'local', everyMinutes: 4 }),
  feed('Harbour Wire', 'harbour-wire', 'Breaking News', 'atom', {
    beat: 'local',
    everyMinutes: 7,
    compression: 'gzip',
  }),
  feed('Mill & Motherboard', 'mill-tech', 'Tech News', 'json', { beat: 'tech', everyMinutes: 9 }),
  feed('Market Square Review', 'market-square', 'Analysis/Opinion', 'rss-1.0', { beat: 'opinion', everyMinutes: 31 }),
  feed('The Long View', 'long-view', 'Analysis/Opinion', 'rss-2.0', {
    beat: 'opinion',
    everyMinutes: 45,
    compression: 'br',
  }),
  feed('Café & Cricket', 'cafe-cricket', 'Sports/Entertainment', 'rss-0.91', {
    ...{ beat: 'leisure', everyMinutes: 17, charset: 'iso-8859-1' },
  }),
  feed('姉妹都市だより', 'sister-town', 'Breaking News', 'rss-2.0', {
    beat: 'sister',
    everyMinutes: 23,
    charset: 'shift_jis',
  }),
  feed('Notes from the Old Mill', 'old-mill', 'Analysis/Opinion', 'rss-2.0', {
    beat: 'local',
    everyMinutes: 60,
    quirk: 'gone',
  }),
  feed('Busy Bee', 'busy-bee', 'Tech News', 'rss-2.0', { beat: 'tech', everyMinutes: 13, quirk: 'busy' }),
  feed('The Torn Page', 'torn-page', 'Sports/Entertainment', 'rss-2.0', {
    beat: 'leisure',
    everyMinutes: 29,
    quirk: 'torn',
  }),
  feed('Untitled Post', 'untitled', 'Tech News', 'atom', { beat: 'tech', everyMinutes: 19, quirk: 'untitled' }),
  feed('Slow Boat', 'slow-boat', 'Sports/Entertainment', 'rss-2.0', {
    beat: 'leisure',
    everyMinutes: 37,
    quirk: 'slow',
  }),
]

function feed(
  name: string,
  path: string,
  category: SandboxFeed['category'],
  format: Format,
  rest: Omit<SandboxFeed, 'name' | 'path' | 'category' | 'format'>,
): SandboxFeed {
  return { name, path, category, format, ...rest }
}

const STORIES = 12
const SLOW_FEED_MS = 6_000
const BUSY_SECONDS = 25

interface FeedsOptions {
  readonly now: () => Date
  /** Whether the slow one really takes its time. */
  readonly isSlow: boolean
}

export class Feeds implements Service {
  readonly #options: FeedsOptions
  /** Requests of each feed that misbehaves now and then. */
  readonly #asked = new Map<string, number>()

  constructor(options: FeedsOptions) {
    this.#options = options
  }

  async answer({ path, headers, method }: Call): Promise<Answer> {
    const found = FEEDS.find((each) => `/${each.path}` === path)
    if (found === undefined || (method !== 'GET' && method !== 'HEAD')) return this.#page(path)
    const quirk = await this.#quirk(found)
    if (quirk !== undefined) return quirk
    const body = encoded(this.#document(found, headers.host ?? 'localhost'), found.charset ?? 'utf-8')
    const etag = `"${createHash('sha1').update(body).digest('hex').slice(0, 16)}"`
    if (headers['if-none-match'] === etag) return { status: 304, headers: { etag } }
    const accepted = String(headers['accept-encoding'] ?? '')
    const packed = found.compression !== undefined && accepted.includes(found.compression)
    return {
      status: 200,
      headers: {
        etag,
        'content-type': `${CONTENT_TYPES[found.format]}; charset=${found.charset ?? 'utf-8'}`,
        'last-modified': new Date(this.#newest(found) * found.everyMinutes * 60_000).toUTCString(),
        ...(packed && { 'content-encoding': String(found.compression) }),
      },
      body: packed ? (found.compression === 'br' ? brotliCompressSync(body) : gzipSync(body)) : body,
    }
  }

  limited(): Answer {
    return text(429, 'too many requests', { 'retry-after': String(BUSY_SECONDS) })
  }

  async #quirk({ path, quirk }: SandboxFeed): Promise<Answer | undefined> {
    if (quirk === 'gone') return text(404, 'This feed has moved away and left no address.')
    const asked = (this.#asked.get(path) ?? 0) + 1
    this.#asked.set(path, asked)
    // Every second request is turned away, so that its retry succeeds.
    if (quirk === 'busy' && asked % 2 === 1) return this.limited()
    // Torn three times, whole once: it fails, is retried, and recovers before it is disabled.
    if (quirk === 'torn' && asked % 4 !== 0)
      return text(200, '<?xml version="1.0"?><rss version="2.0"><channel><title>The Torn Pa', {
        'content-type': 'text/xml',
      })
    if (quirk === 'slow' && this.#options.isSlow) await new Promise((resolve) => setTimeout(resolve, SLOW_FEED_MS))
    return undefined
  }

  #document({ name, path, format, beat, everyMinutes, charset = 'utf-8', quirk }: SandboxFeed, host: string): string {
    const site = `http://${host}/feeds/${path}`
    const everyMs = everyMinutes * 60_000
    const newest = this.#newest({ everyMinutes })
    const stories = Array.from({ length: STORIES }, (_, i): Story => {
      const n = newest - i
      const story = storyOf(BEATS[beat] as Beat, { site, n, publishedAt: new Date(n * everyMs) })
      return quirk === 'untitled' && n % 4 === 0 ? { ...story, title: null } : story
    })
    const language = beat === 'sister' ? 'ja' : 'en'
    return writers[format](
      { title: name, url: site, description: `${name}, from the sandbox`, language },
      stories,
      charset,
    )
  }

  /** The number of the newest story. */
  #newest({ everyMinutes }: Pick<SandboxFeed, 'everyMinutes'>): number {
    return Math.floor(this.#options.now().getTime() / (everyMinutes * 60_000))
  }

  /** Links of stories lead somewhere. */
  #page(path: string): Answer {
    const story = /^\/([\w-]+)\/stories\/\d+$/.exec(path)
    const from = FEEDS.find((each) => each.path === story?.[1])
    if (from === undefined) return text(404, 'There is no such feed.')
    return text(200, `A story of "${from.name}". The sandbox keeps headlines only.`)
  }
}
