// One GET of a feed by the guarded fetch, bounded in time, bytes and redirects.
import type { VillageConfig } from '../config/read.ts'
import type { Outside } from '../outside/outside.ts'
import { permanentAddress } from '../outside/permanent-address.ts'
import { decodedText } from './charset.ts'
import { FeedError, feedErrorFrom, statusError } from './source-errors.ts'
import type { RssSource } from './source-store.ts'

export interface FetchedFeed {
  readonly text: string
  /** Where it was found in the end: relative links start there. */
  readonly url: string
  readonly etag: string | null
  readonly lastModified: string | null
  /** Where it has moved for good. */
  readonly movedTo: string | null
}

interface FetchOptions {
  readonly outside: Pick<Outside, 'fetch'>
  readonly feeds: VillageConfig['feeds']
  readonly signal: AbortSignal
  /** Ask for the feed whether it has changed or not. */
  readonly isForced: boolean
  readonly now: Date
}

const MOST_REDIRECTS = 5
const MOST_HEADER = 1_000
const ACCEPT =
  'application/rss+xml, application/atom+xml, application/rdf+xml, application/feed+json, application/xml;q=0.9, text/xml;q=0.9, application/json;q=0.8, */*;q=0.5'

/** The feed, or 'not_modified'. Throws FeedError. */
export async function fetchFeed(source: RssSource, options: FetchOptions): Promise<FetchedFeed | 'not_modified'> {
  try {
    return await fetched(source, options)
  } catch (error) {
    // A run that was stopped says nothing about the source.
    if (options.signal.aborted) throw error
    throw feedErrorFrom(error) ?? error
  }
}

async function fetched(source: RssSource, options: FetchOptions): Promise<FetchedFeed | 'not_modified'> {
  const { outside, feeds, signal, isForced, now } = options
  const ms = feeds.timeout * 1_000
  const redirects: { status: number; url: string }[] = []
  const response = await outside.fetch(source.url, {
    headers: headersFor(source, { isForced, userAgent: feeds.userAgent }),
    signal,
    budget: { headersMs: ms, idleMs: ms, totalMs: ms, maxBytes: feeds.maxBytes, maxRedirects: MOST_REDIRECTS },
    onRedirect: (redirect) => redirects.push(redirect),
  })
  if (response.status !== 200) {
    await response.body?.cancel()
    if (response.status === 304 && !isForced) return 'not_modified'
    throw statusError(response, now)
  }
  const bytes = new Uint8Array(await response.arrayBuffer())
  if (bytes.length === 0) throw new FeedError('InvalidXml', 'The answer is empty.')
  return {
    text: decodedText(bytes, response.headers.get('content-type')),
    url: response.url,
    etag: kept(response.headers.get('etag')),
    lastModified: kept(response.headers.get('last-modified')),
    movedTo: permanentAddress(redirects),
  }
}

function headersFor(
  { etag, lastModified, userAgent }: RssSource,
  options: { isForced: boolean; userAgent: string },
): Record<string, string> {
  return {
    accept: ACCEPT,
    'user-agent': userAgent ?? options.userAgent,
    ...(!options.isForced && etag !== null && { 'if-none-match': etag }),
    ...(!options.isForced && lastModified !== null && { 'if-modified-since': lastModified }),
  }
}

/** A longer one is not worth storing, and the feed is simply fetched again. */
const kept = (header: string | null): string | null => (header !== null && header.length <= MOST_HEADER ? header : null)
