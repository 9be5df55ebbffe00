import { gunzipSync } from 'node:zlib'
import { XMLParser, XMLValidator } from 'fast-xml-parser'
import { expect, test } from 'vitest'
import { adminSetup } from '../support/admin.ts'
import { addListings, generate } from '../support/sitemap.ts'

type Village = Awaited<ReturnType<typeof adminSetup>>

const read = async (t: Village, path: string) => {
  const response = await t.send(`GET ${path}`, { headers: { 'accept-encoding': 'gzip, br' } })
  expect(response.status).toBe(200)
  expect(response.headers.get('content-type')).toBe('application/xml; charset=utf-8')
  const bytes = Buffer.from(await response.arrayBuffer())
  return parsed((response.headers.get('content-encoding') === 'gzip' ? gunzipSync(bytes) : bytes).toString())
}

function parsed(xml: string) {
  expect(XMLValidator.validate(xml)).toBe(true)
  return new XMLParser({ isArray: (name) => name === 'url' || name === 'sitemap' }).parse(xml)
}

test('120,000 addresses are three files and an index, which a parser reads, and each address is there once', async () => {
  await using t = await adminSetup()
  await addListings(t, 120_000 - 13) // the page of the village and its twelve categories
  expect(await generate(t)).toMatchObject({ outcome: 'completed', result: { urls: 120_000, files: 3 } })
  const index = await read(t, '/sitemap.xml')
  const parts: { loc: string; lastmod: string }[] = index.sitemapindex.sitemap
  expect(parts.map(({ loc }) => loc)).toEqual(
    ['1', '2', '3'].map((part) => `https://homepage.villagecompute.com/sitemap.xml?part=${part}`),
  )
  const seen = new Set<string>()
  const counts: number[] = []
  for (const { loc } of parts) {
    const { pathname, search } = new URL(loc)
    const urls: { loc: string; lastmod: string }[] = (await read(t, pathname + search)).urlset.url
    counts.push(urls.length)
    for (const url of urls) seen.add(url.loc)
    expect(Date.parse(urls[0]?.lastmod ?? '')).not.toBeNaN()
  }
  expect(counts).toEqual([50_000, 50_000, 20_000])
  expect(seen.size).toBe(120_000)
  expect(seen).toContain('https://homepage.villagecompute.com/village?category=Technology')
}, 60_000)
