import { readdirSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { decodedText } from '#src/feeds/charset'
import { entriesOf } from '#src/feeds/entries'
import { parseFeed } from '#src/feeds/parse-feed'
import { FeedError } from '#src/feeds/source-errors'

interface Expectation {
  readonly contentType?: string
  readonly error?: string
  readonly skipped?: number
  /** What must be found; other fields are not looked at. "now": the time of the fetch. */
  readonly items?: readonly (Record<string, string | null> & { guidMatches?: string })[]
}

const CORPUS = new URL('../corpus/', import.meta.url)
const NOW = new Date('2026-11-18T10:30:00Z')
const expectations = JSON.parse(readFileSync(new URL('feeds.expected.json', CORPUS), 'utf8')) as Record<
  string,
  Expectation
>
const names = readdirSync(new URL('feeds/', CORPUS)).map((file) => file.replace(/\.feed$/, ''))

async function read(name: string, contentType: string | undefined) {
  const bytes = new Uint8Array(readFileSync(new URL(`feeds/${name}.feed`, CORPUS)))
  const options = { feedUrl: 'https://feeds.example/a/feed.xml', limit: 1_000, now: NOW }
  return entriesOf(parseFeed(decodedText(bytes, contentType ?? null)), options)
}

test('every feed of the corpus has an expectation', () => {
  expect(names.sort()).toEqual(Object.keys(expectations).sort())
  expect(names.length).toBeGreaterThanOrEqual(60)
})

test.each(names)('%s', async (name) => {
  const { contentType, error, skipped = 0, items = [] } = expectations[name] as Expectation
  const found = await read(name, contentType).catch((caught: unknown) => {
    if (caught instanceof FeedError) return caught
    throw caught
  })
  if (found instanceof FeedError) return expect([found.errorType, found.message]).toEqual([error, expect.any(String)])
  expect(error).toBeUndefined()
  expect(found.skipped).toHaveLength(skipped)
  expect(found.entries).toHaveLength(items.length)
  for (const [i, { guidMatches, ...item }] of items.entries()) {
    const entry = found.entries[i]
    const at = entry?.publishedAt.getTime() === NOW.getTime() ? 'now' : entry?.publishedAt.toISOString()
    expect({ ...entry, publishedAt: at }).toMatchObject(item)
    if (guidMatches !== undefined) expect(entry?.guid).toMatch(new RegExp(guidMatches))
  }
})
