import { expect, test } from 'vitest'
import { adminSetup } from '../support/admin.ts'

const OWN = { 'sec-fetch-site': 'same-origin', 'content-type': 'application/x-www-form-urlencoded' }

async function village() {
  const t = await adminSetup()
  await t.sql("insert into village.rss_sources (name, url) values ('Gazette', 'https://g.example/')")
  const add = async (url: string): Promise<string> => {
    const [row] = await t.sql<{ id: string }>(
      `insert into village.feed_items (source_id, item_guid, title, url, published_at, content_hash)
      select id, $1, 'Bridge opens', $1, now(), md5($1) from village.rss_sources returning id`,
      [url],
    )
    return row?.id as string
  }
  return Object.assign(t, {
    add,
    story: await add('https://g.example/bridge?a=1&b=ü'),
    say: async (counting: string, cookie?: string) => {
      const headers = { ...OWN, ...(cookie !== undefined && { cookie }) }
      const response = await t.send('POST /village/consent', { headers, body: `counting=${counting}` })
      expect([response.status, response.headers.get('location')]).toEqual([303, '/village#counting'])
      return response.headers.get('set-cookie') ?? ''
    },
    go: (id: string, headers: Record<string, string> = {}, method = 'GET') =>
      t.send(`${method} /village/go/item/${id}`, { headers }),
    clicks: async () =>
      (await t.sql<{ count: number }>('select count(*)::int as count from village.link_clicks'))[0]?.count,
  })
}

const pairOf = (cookie: string): string => cookie.split(';')[0] ?? ''

test('a link leads to its story, and without consent nothing is written', async () => {
  await using t = await village()
  const no = pairOf(await t.say('no'))
  for (const headers of [{}, { cookie: no }, { cookie: 'village_counting=1.7c9e6679-7425-40de-944b-e07fc1f90ae7' }]) {
    const away = await t.go(t.story, headers)
    expect([away.status, away.headers.get('location')]).toEqual([302, 'https://g.example/bridge?a=1&b=%C3%BC'])
    expect(away.headers.get('referrer-policy')).toBe('same-origin') // the publisher is told nothing
  }
  expect(await t.clicks()).toBe(0)
  expect(await t.sql('select * from village.visitor_consents')).toEqual([])
})

test('a visitor who agrees is counted; looking ahead is no click; stopping deletes what was kept', async () => {
  await using t = await village()
  const set = await t.say('yes')
  expect(set).toMatch(/^village_counting=1\.[\da-f-]{36}; Path=\/village; Max-Age=\d+; HttpOnly; SameSite=Lax$/)
  const cookie = `other=1; ${pairOf(set)}`
  await t.go(t.story, { cookie })
  await t.go(t.story, { cookie, 'sec-purpose': 'prefetch;prerender' })
  await t.go(t.story, { cookie }, 'HEAD')
  expect(await t.clicks()).toBe(1)
  expect(await (await t.send('GET /village', { headers: { cookie } })).text()).toContain('You agreed')
  const stopped = pairOf(await t.say('no', cookie))
  expect(await t.clicks()).toBe(0)
  await t.go(t.story, { cookie }) // the old cookie of another tab
  await t.go(t.story, { cookie: stopped })
  expect(await t.clicks()).toBe(0)
  expect(await (await t.send('GET /village', { headers: { cookie: stopped } })).text()).toContain('are not counted')
})

test('a link leads nowhere but to what the village shows', async () => {
  await using t = await village()
  const odd = await t.add('javascript:alert(1)')
  const [hidden] = await t.sql<{ id: string }>(
    "insert into village.good_sites (url, title, status) values ('https://s.example/', 'Gone', 'unlisted') returning id",
  )
  const paths = [
    `/village/go/item/${odd}`,
    `/village/go/site/${hidden?.id}`,
    `/village/go/site/${t.story}`,
    `/village/go/mail/${t.story}`,
    '/village/go/item/7c9e6679-7425-40de-944b-e07fc1f90ae7',
    '/village/go/item/https://evil.example',
    '/village/go/?url=https://evil.example',
    '/village/go//evil.example/',
  ]
  for (const path of paths) {
    const response = await t.send(`GET ${path}`)
    expect([path, response.status, response.headers.get('location')]).toEqual([path, 404, null])
  }
})

test('the form is taken from our own page only, of its size, and not too often', async () => {
  await using t = await village()
  const post = async (headers: Record<string, string>, body = 'counting=yes') =>
    (await t.send('POST /village/consent', { headers: { ...OWN, ...headers }, body })).status
  expect(await post({ 'sec-fetch-site': 'cross-site' })).toBe(403)
  const bare = await t.send('POST /village/consent', { body: { counting: 'yes' } })
  expect(bare.status).toBe(403)
  expect(await post({}, 'x'.repeat(70_000))).toBe(413)
  expect(await post({ 'content-type': 'text/plain' })).toBe(400)
  expect((await t.send('GET /village/consent')).status).toBe(405)
  expect(await t.sql('select * from village.visitor_consents')).toEqual([])
  const statuses: number[] = []
  for (let i = 0; i < 25; i++) statuses.push(await post({}))
  expect(statuses.filter((status) => status === 303)).toHaveLength(18)
  expect(statuses.at(-1)).toBe(429)
})

test('the page asks those who have not decided, and offers the other choice to all others', async () => {
  await using t = await village()
  const buttons = async (cookie = '') =>
    [
      ...(await (await t.send('GET /village', { headers: { cookie } })).text()).matchAll(
        /name="counting" value="(\w+)"/g,
      ),
    ].map(([, value]) => value)
  expect(await buttons()).toEqual(['yes', 'no'])
  expect(await buttons(pairOf(await t.say('yes')))).toEqual(['no'])
  expect(await buttons(pairOf(await t.say('no')))).toEqual(['yes'])
  // Who agreed to an older text is asked again.
  expect(await buttons('village_counting=0.7c9e6679-7425-40de-944b-e07fc1f90ae7')).toEqual(['yes', 'no'])
})
