import { gunzipSync } from 'node:zlib'
import { XMLValidator } from 'fast-xml-parser'
import { expect, test } from 'vitest'
import { listingPath } from '#src/page/addresses'
import { type SitemapFile, sitemapFiles } from '#src/sitemap/sitemap-files'
import { adminSetup } from '../support/admin.ts'
import { addListings, generate } from '../support/sitemap.ts'

test('a run that fails keeps what is served, and what it has left goes with the next one', async () => {
  await using t = await adminSetup()
  expect((await t.send('GET /sitemap.xml')).status).toBe(503)
  await addListings(t, 3)
  await generate(t)
  const before = await (await t.send('GET /sitemap.xml')).text()
  await t.sql('alter table village.good_sites rename to good_sites_elsewhere')
  expect(await generate(t)).toMatchObject({ outcome: 'retry' })
  expect(await (await t.send('GET /sitemap.xml')).text()).toBe(before)
  await t.sql('alter table village.good_sites_elsewhere rename to good_sites')
  await sellOne(t)
  expect(await generate(t)).toMatchObject({ outcome: 'completed', result: { urls: 13 + 2, files: 1 } })
  const states = await t.sql('select state from village.sitemap_generations order by id')
  expect(states).toEqual([{ state: 'previous' }, { state: 'current' }])
})

/** One of three is sold, and must leave the sitemap. */
const sellOne = (t: { sql(text: string): Promise<unknown> }) =>
  t.sql("update village.listings set status = 'sold' where id = (select id from village.listings limit 1)")

test('no file is larger than 45 MB before compression', async () => {
  const long = Array.from({ length: 500 }, (_, i) => ({ path: `/${i}?${'x'.repeat(100_000)}`, changedAt: new Date(0) }))
  const files = await allOf(long)
  expect(files.map(({ urls }) => urls)).toEqual([449, 51])
  for (const { bytes } of files) expect(gunzipSync(bytes).length).toBeLessThan(45_001_000)
})

test('addresses are escaped', async () => {
  const [file] = await allOf([{ path: `/a&b?c='<"&d=ü`, changedAt: new Date(0) }])
  const xml = gunzipSync(file?.bytes ?? '').toString()
  expect(XMLValidator.validate(xml)).toBe(true)
  expect(xml).toContain('<loc>https://v.example/a&#38;b?c=%27%3C%22&#38;d=%C3%BC</loc>')
})

test('no file has more than 50,000 addresses', async () => {
  const many = Array.from({ length: 50_001 }, (_, i) => ({ path: `/village/listings/${i}`, changedAt: new Date(0) }))
  expect((await allOf(many)).map(({ name, urls }) => [name, urls])).toEqual([
    ['1', 50_000],
    ['2', 1],
  ])
  expect(await allOf([])).toEqual([])
})

async function allOf(addresses: readonly { path: string; changedAt: Date }[]): Promise<SitemapFile[]> {
  const files: SitemapFile[] = []
  for await (const file of sitemapFiles(pages(addresses), 'https://v.example')) files.push(file)
  return files
}

async function* pages<Item>(items: readonly Item[]) {
  yield items
}

test('robots are told where the sitemap is, and not to follow counted links', async () => {
  await using t = await adminSetup()
  const response = await t.send('GET /robots.txt')
  expect(response.headers.get('content-type')).toBe('text/plain; charset=utf-8')
  const text = await response.text()
  expect(text).toContain('Sitemap: https://homepage.villagecompute.com/sitemap.xml\n')
  expect(text).toContain('Disallow: /village/go/\n')
  expect((await t.send('GET /sitemap.xml/other')).status).toBe(404)
  expect((await t.send('GET /sitemap.xml?part=9')).status).toBe(404)
  expect((await t.send('POST /robots.txt', { token: await t.token('admin') })).status).toBe(405)
})

test('programs that take no gzip get the part as it is', async () => {
  await using t = await adminSetup()
  await addListings(t, 1)
  await generate(t)
  const response = await t.send('GET /sitemap.xml?part=1')
  expect(response.headers.get('content-encoding')).toBeNull()
  const [row] = await t.sql<{ id: string }>('select id from village.listings')
  expect(await response.text()).toContain(`https://homepage.villagecompute.com${listingPath(row?.id ?? '')}</loc>`)
})

test('every address leads to a page, and a site has one while it is listed', async () => {
  await using t = await adminSetup()
  await addListings(t, 1)
  await t.sql(`insert into village.good_sites (url, title, category, status) values
    ('https://a.example/', 'Choir <b>', 'Culture', 'listed'), ('https://b.example/', 'Gone', 'Culture', 'unlisted')`)
  await generate(t)
  const xml = await (await t.send('GET /sitemap.xml?part=1')).text()
  const paths = [...xml.matchAll(/<loc>https:\/\/[^/]+(\/[^<]*)<\/loc>/g)].map(([, path]) => path)
  expect(paths).toHaveLength(13 + 2)
  for (const path of paths) expect((await t.send(`GET ${path}`)).status, path).toBe(200)
  const site = await (await t.send(`GET ${paths.find((path) => path?.includes('/sites/'))}`)).text()
  expect(site).toMatch(/<h1>Choir &lt;b&gt;<\/h1>\s*<p class="date">Culture · not looked at yet · score 0\.00/)
  expect(site).toMatch(/\/village\/go\/site\/[\da-f-]+"/)
  const [gone] = await t.sql<{ id: string }>("select id from village.good_sites where title = 'Gone'")
  expect((await t.send(`GET /village/sites/${gone?.id}`)).status).toBe(404)
})
