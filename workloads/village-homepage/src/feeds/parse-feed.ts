// A feed in any of its formats, as entries that still hold what the publisher wrote.
import {
  type AtomFeed,
  type JsonFeed,
  parseAtomFeed,
  parseJsonFeed,
  parseRdfFeed,
  parseRssFeed,
  type RdfFeed,
  type RssFeed,
} from 'feedsmith'
import { parseDate } from './entry-date.ts'
import { FeedError, InvalidXml } from './source-errors.ts'
import { guardedJson, guardedXml } from './xml-guard.ts'

/** A text with its kind: 'text' stands for itself, 'html' has markup, and of 'unknown' the publisher said nothing. */
export interface RawText {
  readonly value: string
  readonly kind: 'text' | 'html' | 'unknown'
}

export interface RawEntry {
  readonly guid: string | undefined
  /** As written: it may be relative, or no URL at all. */
  readonly link: string | undefined
  readonly title: RawText | undefined
  readonly description: RawText | undefined
  readonly content: RawText | undefined
  readonly author: string | undefined
  readonly publishedAt: Date | undefined
}

export interface ParsedFeed {
  /** The site's address, if the feed names it. */
  readonly link: string | undefined
  readonly entries: readonly RawEntry[]
}

/** As many entries as a source can be allowed; feeds have the newest first. */
export const MOST_ENTRIES = 10_000
const parsing = { parseDateFn: parseDate, maxItems: MOST_ENTRIES }

/** Throws FeedError InvalidXml. */
export function parseFeed(text: string): ParsedFeed {
  const start = text.trimStart()
  try {
    if (start.startsWith('{')) return ofJson(parseJsonFeed(guardedJson(start), parsing))
    if (!start.startsWith('<')) throw new InvalidXml('it begins with neither "<" nor "{".')
    const { text: xml, root } = guardedXml(start)
    // By the root, and not by what occurs in the text: an article about feeds quotes other formats.
    if (root === 'rss') return ofRss(parseRssFeed(xml, parsing))
    if (root === 'feed') return ofAtom(parseAtomFeed(xml, parsing))
    if (root === 'rdf') return ofRdf(parseRdfFeed(xml, parsing))
    throw new InvalidXml(root === 'html' ? 'it is a web page.' : `its root is "${root.slice(0, 50)}".`)
  } catch (error) {
    if (error instanceof FeedError) throw error
    const { message, cause } = error as Error
    const detail = cause instanceof Error ? cause.message : message
    throw new InvalidXml(`${detail.slice(0, 300).replace(/\.$/, '')}.`, error)
  }
}

const raw = (value: string | undefined, kind: RawText['kind']): RawText | undefined =>
  value === undefined ? undefined : { value, kind }

const ofRss = ({ link, items = [] }: RssFeed.Feed<Date | undefined>): ParsedFeed => ({
  link,
  entries: items.map((item) => ({
    guid: item.guid?.value,
    link: item.link ?? linkOf(item.atom?.links) ?? permalink(item.guid),
    title: raw(item.title ?? item.dc?.titles?.[0], 'unknown'),
    description: raw(item.description ?? item.itunes?.summary ?? item.dc?.descriptions?.[0], 'html'),
    content: raw(item.content?.encoded, 'html'),
    author: item.dc?.creators?.[0] ?? item.authors?.[0]?.name ?? item.authors?.[0]?.email ?? item.itunes?.author,
    publishedAt: item.pubDate ?? item.dc?.dates?.[0] ?? item.atom?.published ?? item.atom?.updated,
  })),
})

const permalink = (guid: RssFeed.Guid | undefined): string | undefined =>
  guid?.isPermaLink !== false && /^https?:\/\//i.test(guid?.value ?? '') ? guid?.value : undefined

const ofRdf = ({ link, items = [] }: RdfFeed.Feed<Date | undefined>): ParsedFeed => ({
  link,
  entries: items.map((item) => ({
    guid: item.rdf?.about ?? item.dc?.identifiers?.[0],
    link: item.link ?? item.rdf?.about,
    title: raw(item.title ?? item.dc?.titles?.[0], 'unknown'),
    description: raw(item.description ?? item.dc?.descriptions?.[0], 'html'),
    content: raw(item.content?.encoded, 'html'),
    author: item.dc?.creators?.[0],
    publishedAt: item.dc?.dates?.[0],
  })),
})

const ofAtom = ({ links, authors, entries = [] }: AtomFeed.Feed<Date | undefined>): ParsedFeed => ({
  link: linkOf(links),
  entries: entries.map((entry) => ({
    guid: entry.id,
    link: linkOf(entry.links) ?? entry.content?.src,
    title: ofAtomText(entry.title),
    description: ofAtomText(entry.summary),
    content: ofAtomText(entry.content),
    author:
      entry.authors?.[0]?.name ?? entry.source?.authors?.[0]?.name ?? entry.dc?.creators?.[0] ?? authors?.[0]?.name,
    publishedAt: entry.published ?? entry.updated ?? entry.dc?.dates?.[0],
  })),
})

/** Text constructs are plain unless they say otherwise. */
function ofAtomText(text: AtomFeed.Text | AtomFeed.Content | undefined): RawText | undefined {
  const isPlain = text?.type === undefined || text.type === 'text' || text.type === 'text/plain'
  return raw(text?.value, isPlain ? 'text' : 'html')
}

function linkOf(links: readonly { href?: string; rel?: string }[] = []): string | undefined {
  const alternate = links.find(({ rel }) => rel === undefined || rel === 'alternate')
  return (alternate ?? links.find(({ rel }) => rel !== 'self' && rel !== 'enclosure'))?.href
}

const ofJson = ({ home_page_url: link, authors, items = [] }: JsonFeed.Feed<Date | undefined>): ParsedFeed => ({
  link,
  entries: items.map((item) => ({
    guid: item.id,
    link: item.url ?? item.external_url,
    title: raw(item.title, 'text'),
    description: raw(item.summary, 'text'),
    content: item.content_html === undefined ? raw(item.content_text, 'text') : raw(item.content_html, 'html'),
    author: (item.authors ?? authors)?.[0]?.name,
    publishedAt: item.date_published ?? item.date_modified,
  })),
})
