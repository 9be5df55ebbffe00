// Entries as they are stored: text only, an absolute http(s) address, bounded in every direction.
import { createHash } from 'node:crypto'
import { setImmediate } from 'node:timers/promises'
import { plainLine, plainText } from './entry-text.ts'
import type { ParsedFeed, RawEntry } from './parse-feed.ts'

export interface FeedEntry {
  readonly guid: string
  readonly title: string
  readonly url: string
  readonly description: string | null
  readonly content: string | null
  readonly author: string | null
  readonly publishedAt: Date
  readonly contentHash: string
}

/** An entry without a title or an address. `guid` is whatever tells people which. */
export interface Skipped {
  readonly guid: string
  readonly missing: string
}

export interface Entries {
  readonly entries: readonly FeedEntry[]
  readonly skipped: readonly Skipped[]
  /** Beyond the source's limit. */
  readonly cutOff: number
}

interface EntryOptions {
  readonly feedUrl: string
  readonly limit: number
  readonly now: Date
}

const LONGEST = { guid: 500, title: 500, url: 2_000, description: 2_000, content: 20_000, author: 200 }
const DAY_MS = 86_400_000
/** Markup is slow to read: other jobs of this process get their turn in between. */
const WITHOUT_PAUSE_MS = 20

export async function entriesOf({ link, entries }: ParsedFeed, options: EntryOptions): Promise<Entries> {
  const base = absolute(link, options.feedUrl) ?? options.feedUrl
  const chosen = newest(entries, options.limit)
  const kept: FeedEntry[] = []
  const skipped: Skipped[] = []
  let turnBegan = performance.now()
  for (const entry of chosen) {
    if (performance.now() - turnBegan > WITHOUT_PAUSE_MS) {
      await setImmediate()
      turnBegan = performance.now()
    }
    const found = entryOf(entry, { base, now: options.now })
    if ('missing' in found) skipped.push(found)
    else kept.push(found)
  }
  return { entries: kept, skipped, cutOff: entries.length - chosen.length }
}

/** By date if all have one. Otherwise feeds are taken as written, newest first. */
function newest(entries: readonly RawEntry[], limit: number): readonly RawEntry[] {
  if (entries.length <= limit) return entries
  const isDated = entries.every(({ publishedAt }) => publishedAt !== undefined)
  const sorted = isDated ? entries.toSorted((a, b) => Number(b.publishedAt) - Number(a.publishedAt)) : entries
  return sorted.slice(0, limit)
}

function entryOf(entry: RawEntry, { base, now }: { base: string; now: Date }): FeedEntry | Skipped {
  const title = entry.title && plainLine(entry.title, LONGEST.title)
  const url = absolute(entry.link, base)
  if (title === undefined || url === undefined) {
    const missing = [title === undefined && 'title', url === undefined && 'url'].filter(Boolean).join(' and ')
    return { guid: (entry.guid ?? entry.link ?? title ?? '').slice(0, LONGEST.guid).toWellFormed(), missing }
  }
  const description = (entry.description && plainText(entry.description, LONGEST.description)) ?? null
  return {
    ...{ title, url, description },
    guid: guidOf(entry, url),
    content: (entry.content && plainText(entry.content, LONGEST.content)) ?? null,
    author: (entry.author && plainLine({ value: entry.author, kind: 'unknown' }, LONGEST.author)) || null,
    publishedAt: publishedAt(entry.publishedAt, now),
    contentHash: createHash('md5')
      .update(`${title}${description ?? ''}`)
      .digest('hex'),
  }
}

/** Without a guid: address and date, which stay the same from fetch to fetch. */
function guidOf({ guid, publishedAt }: RawEntry, url: string): string {
  const clean = guid?.replace(/\s+/g, ' ').replaceAll('\0', '').trim().toWellFormed()
  if (clean && clean.length <= LONGEST.guid) return clean
  return `hash:${createHash('sha256')
    .update(clean || `${url}${publishedAt?.toISOString() ?? ''}`)
    .digest('hex')}`
}

const publishedAt = (published: Date | undefined, now: Date): Date =>
  published === undefined || published.getTime() > now.getTime() + DAY_MS ? now : published

function absolute(link: string | undefined, base: string): string | undefined {
  if (!link || !URL.canParse(link.trim(), base)) return undefined
  const url = new URL(link.trim(), base)
  if (url.protocol !== 'http:' && url.protocol !== 'https:') return undefined
  // "https://bank.example@evil.example/" deceives readers.
  url.username = ''
  url.password = ''
  return url.href.length <= LONGEST.url ? url.href : undefined
}
